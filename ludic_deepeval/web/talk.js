// Talking with the program, and with whoever reads the page.

import { byId } from "./dom.js";

export const state = { sheet: null, result: null, sections: [], history: [], draft: null, busy: Promise.resolve(), over: false };

export async function call(path, body) {
  let response;
  try {
    response = await fetch(path, body === undefined ? {} : { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
  } catch {
    if (!state.over) tell("The program is not running any more. Your marks are still on this page; start it again in the terminal to save them, and copy what you need.", true);
    throw new Error("gone");
  }
  const data = await response.json();
  if (!response.ok) {
    tell(data.line, true);
    throw new Error(data.line);
  }
  return data;
}

/** One after the other, so that each set of marks is made on top of the last. */
export function inTurn(work) {
  state.busy = state.busy.catch(() => {}).then(work);
  return state.busy;
}

export function tell(line, bad = false) {
  const told = byId("told");
  told.textContent = line;
  told.className = bad ? "bad" : "";
  clearTimeout(state.hush);
  if (!bad) state.hush = setTimeout(() => { told.textContent = ""; }, 8000);
}
