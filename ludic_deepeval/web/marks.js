// The list of marks: a card for each, with what is wrong with it and what can be done with it.

import { clipped, el } from "./dom.js";
import { state } from "./talk.js";

export const lines = (section, index) => state.result.troubles.filter((one) => one.section === section && one.index === index).map((one) => one.line);

export const nameOf = (section, item) => (section.key === "mysteries" ? item.text ?? item.quote?.[0] : item.name ?? item.text ?? item.summary) ?? "(no words yet)";

/** One kind of marks. `acts` has what can be done: edit, show, drop, swap, light. */
export function listOf(section, acts) {
  const items = state.sheet[section.key];
  const cards = items.map((item, index) => card(section, item, index, acts));
  const head = el("h3", {}, el("span", { class: `tag is-${section.key}`, "aria-hidden": "true" }, section.letter.toUpperCase()), `${section.many} (${items.length})`, el("span", { class: "help" }, ` ${section.means}`));
  return el("section", { class: "list" }, head, el("ul", {}, ...cards));
}

function card(section, item, index, acts) {
  const wrong = lines(section.key, index);
  const name = nameOf(section, item);
  const about = clipped(name, 40);
  const act = (words, work) => el("button", { type: "button", class: "small", "aria-label": `${words}: ${about}`, click: work }, words);
  const later = section.key === "events" && index + 1 < state.sheet.events.length;
  const earlier = section.key === "events" && index > 0;
  const quotes = (item.quote ?? []).filter((quote) => quote !== name);
  return el("li", { class: `card${wrong.length ? " wrong" : ""}`, id: `${section.key}-${index}`, tabindex: "-1", mouseenter: () => acts.light(section.key, index, true), mouseleave: () => acts.light(section.key, index, false) },
    el("p", { class: "what", dir: "auto" }, clipped(name)),
    el("p", { class: "brief" }, brief(section, item)),
    ...quotes.map((quote) => el("p", { class: "words", dir: "auto" }, `“${clipped(quote)}”`)),
    ...wrong.map((line) => el("p", { class: "trouble", dir: "auto" }, line)),
    el("p", { class: "row" },
      act("Edit", () => acts.edit(section, index)), act("Show", () => acts.show(section, index)),
      earlier ? act("Earlier", () => acts.swap(index, index - 1)) : null, later ? act("Later", () => acts.swap(index, index + 1)) : null,
      act("Delete", () => acts.drop(section, index))));
}

/** The answers that matter most, in a few words. */
function brief(section, item) {
  const parts = section.questions.filter(({ kind, more }) => ["choice", "yesno"].includes(kind) && !more).map((question) => {
    const value = item[question.key] ?? question.unsaid;
    if (question.kind === "choice") return question.options.find(([option]) => option === value)?.[1];
    const words = { unresolved: ["unfinished business", "nothing open"], open: ["open", "settled"], proactive: ["pursued now", "not pursued"], thematic_hole: ["left unclear", "explained"] }[question.key];
    return value === undefined ? null : words[value ? 0 : 1];
  });
  if (section.key === "events") parts.push(item.immediacy ? "four questions answered" : "the four questions are open");
  return parts.filter(Boolean).join(" · ");
}
