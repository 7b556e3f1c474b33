// Building the page. Text only ever becomes a text node: nothing here, or elsewhere, reads HTML from a string.

export const byId = (id) => document.getElementById(id);

/** Make an element. Functions become listeners, true and false switch an attribute; children are nodes or text. */
export function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") node.addEventListener(name, value);
    else if (value === true) node.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) node.setAttribute(name, value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined && child !== ""));
  return node;
}

/** Ask a question with a few answers; Escape is the last of them. Resolves to the value of the one that was chosen. */
export function ask(text, answers) {
  const dialog = byId("ask");
  dialog.querySelector("p").textContent = text;
  return new Promise((resolve) => {
    const choose = (value) => {
      dialog.close();
      resolve(value);
    };
    const buttons = answers.map(([value, words], at) =>
      el("button", { type: "button", class: at ? "" : "main", click: () => choose(value) }, words));
    dialog.querySelector(".row").replaceChildren(...buttons);
    dialog.oncancel = (event) => {
      event.preventDefault();
      choose(answers.at(-1)[0]);
    };
    dialog.showModal();
  });
}

export const clipped = (text, most = 90) => (text.length > most ? `${Array.from(text).slice(0, most).join("")}…` : text);
