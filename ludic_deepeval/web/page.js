// The page: what is marked, what is selected, and the talk with the program. Everything is computed there.

import { ask, byId, clipped, el } from "./dom.js";
import { field } from "./form.js";
import { lines, listOf, nameOf } from "./marks.js";
import { Prose } from "./prose.js";
import { call, inTurn, state, tell } from "./talk.js";
import { drawVerdict } from "./verdict.js";

let prose = null;
let picked = null; // what is selected, in characters of the body

function take(result) {
  state.result = result;
  for (const { key } of state.sections) {
    result.ids[key].forEach((id, at) => { if (id) state.sheet[key][at] = { ...state.sheet[key][at], id }; });
  }
  draw();
}

/** Make a change: the program says what it comes to. */
function change(sheet) {
  return inTurn(async () => {
    const before = state.sheet;
    const result = await call("marks", { sheet, revision: state.result.revision });
    state.history.push(before);
    state.sheet = sheet;
    take(result);
  });
}

const copy = () => structuredClone(state.sheet);

// Drawing

function draw() {
  drawProse();
  byId("live").textContent = drawVerdict(state.result.verdict, ([start, end]) => showWords(start, end));
  byId("undo").disabled = !state.history.length;
  byId("state").textContent = state.result.dirty ? "not saved" : state.result.saved ? "saved" : "";
  byId("state").className = state.result.dirty ? "dirty" : "";
  const who = byId("protagonist");
  if (document.activeElement !== who) who.value = state.sheet.protagonist;
  byId("protagonist-trouble").textContent = state.result.verdict.empty ? "" : lines("protagonist", 0).join(" ");
  byId("lists").replaceChildren(...state.sections.map((section) => listOf(section, { edit, show, drop, swap, light })));
  drawAside();
  document.title = `${state.result.dirty ? "● " : ""}${byId("title").textContent}`;
}

function drawProse() {
  const marks = state.sections.flatMap(({ key, letter }) =>
    state.result.spans[key].flatMap((spans, index) => spans.map(([start, end]) => ({ start, end, kind: key, letter, index }))));
  const draft = (state.draft?.quotes ?? []).filter(({ span }) => span).map(({ span: [start, end] }) => ({ start, end, draft: true, letter: "" }));
  const drawn = JSON.stringify([marks, draft]);
  if (drawn === state.drawn) return; // somebody may be selecting right now
  state.drawn = drawn;
  prose.draw([...marks, ...draft]);
}

function light(key, index, on) {
  for (const piece of document.querySelectorAll(".piece")) {
    if (piece.marks.some((mark) => mark.kind === key && mark.index === index)) piece.classList.toggle("lit", on);
  }
}

function showWords(start, end) {
  prose.settle(start);
  prose.select(start, end);
  byId("prose").focus({ preventScroll: true });
}

function show(section, index) {
  const span = state.result.spans[section.key][index][0];
  if (span) showWords(...span);
  else tell("Its words were not found in the story.", true);
}

function swap(one, other) {
  const sheet = copy();
  [sheet.events[one], sheet.events[other]] = [sheet.events[other], sheet.events[one]];
  change(sheet).then(() => byId(`events-${other}`).focus());
}

async function drop(section, index) {
  const sheet = copy();
  const [gone] = sheet[section.key].splice(index, 1);
  // Nobody's thread, rather than the thread of somebody who is not there.
  if (section.key === "people") {
    const refs = [gone.id, gone.name, ...(gone.aliases ?? [])];
    sheet.hooks.forEach((hook) => { if (refs.includes(hook.npc)) delete hook.npc; });
    sheet.events.forEach((event) => { if (event.relations) event.relations = event.relations.filter(({ npc }) => !refs.includes(npc)); });
  }
  if (state.draft) close();
  await change(sheet);
  tell(`Deleted: ${clipped(nameOf(section, gone), 60)}. Undo brings it back.`);
  byId("side").focus({ preventScroll: true });
}

// The form

const people = () => state.sheet.people.filter(({ name }) => name).map((person) => ({ ref: person.id ?? person.name, name: person.name, all: [person.id, person.name, ...(Array.isArray(person.aliases) ? person.aliases : [])] }));

function refOf(value) {
  const folded = (text) => String(text).toLowerCase();
  return people().find(({ all }) => all.some((one) => one && folded(one) === folded(value)))?.ref;
}

async function begin(section) {
  if (!picked || picked.start === picked.end) return tell("Select some words of the story first.", true);
  const words = prose.text(picked.start, picked.end).trim();
  const asked = picked;
  picked = null; // a second key, pressed at once, begins nothing
  const found = await call("quote", asked);
  if (found.line) {
    picked = asked;
    return tell(found.line, true);
  }
  const item = {};
  for (const { key, start } of section.questions) if (start !== undefined) item[key] = start;
  if (section.key === "people") item.name = offered(words) ?? "";
  open(section, { item, quotes: [found], index: null });
  if (found.quote !== words) tell("A few words were added, so that these can be found again.");
}

/** A name for a person: the words selected if they are few, else a name that the words hold. */
function offered(words) {
  const known = state.names.find((name) => words.includes(name));
  return words.split(/\s+/).length <= 3 && words.length <= 40 ? words.replace(/[\s,.;:!?'’]+$/, "") : known;
}

function edit(section, index) {
  const item = structuredClone(state.sheet[section.key][index]);
  const quotes = (item.quote ?? []).map((quote) => {
    const at = state.result.spans[section.key][index].find(([start, end]) => prose.text(start, end) === quote);
    return { quote, span: at };
  });
  open(section, { item, quotes, index });
}

function open(section, draft) {
  state.draft = { section, ...draft };
  const context = { people: people(), refOf, known: state.known };
  state.draft.fields = section.questions.map((question) => ({ question, ...field(question, draft.item[question.key] ?? question.unsaid, context) }));
  unpick();
  drawForm();
  drawProse();
  byId("side").scrollTop = 0;
  const first = state.draft.fields[0].node.querySelector("input, select, textarea");
  first?.focus();
}

function drawForm() {
  const { section, index, fields } = state.draft;
  const shown = fields.filter(({ question }) => !question.more && question.kind !== "scale");
  const scales = fields.filter(({ question }) => question.kind === "scale");
  const more = fields.filter(({ question }) => question.more);
  const nodes = shown.map(({ node }) => node);
  if (scales.length) {
    const clear = el("button", { type: "button", class: "small", click: () => scales.forEach((one) => one.clear()) }, "Leave all four out");
    nodes.push(el("div", { class: "four" }, el("p", { class: "help" }, "Four questions, from 1 to 10. Answer all four or none; without them there is no verdict on what presses."), ...scales.map(({ node }) => node), clear));
  }
  if (more.length) {
    const filled = more.some(({ question }) => state.draft.item[question.key] !== undefined);
    nodes.push(el("details", { open: filled }, el("summary", {}, "More"), ...more.map(({ node }) => node)));
  }
  const form = el("form", { novalidate: true, submit: keep },
    el("h2", {}, el("span", { class: `tag is-${section.key}`, "aria-hidden": "true" }, section.letter.toUpperCase()), `${index === null ? "New " : ""}${index === null ? section.one.toLowerCase() : section.one}`, el("span", { class: "help" }, ` ${section.means}`)),
    el("div", { id: "quotes" }), el("div", { id: "wrong", role: "alert" }), ...nodes,
    el("p", { class: "row" }, el("button", { class: "main" }, "Keep this mark"), el("button", { type: "button", click: () => close(true) }, "Cancel")));
  byId("form").replaceChildren(form);
  byId("form").hidden = false;
  drawQuotes();
}

function drawQuotes() {
  const { quotes } = state.draft;
  byId("quotes").replaceChildren(
    ...quotes.map(({ quote }, at) => el("blockquote", { dir: "auto" }, `“${quote}”`,
      el("button", { type: "button", class: "small", "aria-label": `Remove these words: ${clipped(quote, 40)}`, click: () => { quotes.splice(at, 1); drawQuotes(); drawProse(); } }, "Remove"))),
    el("p", { class: "help" }, quotes.length ? "Select more words in the story to add them." : "Select the words in the story that say this."));
}

async function addWords() {
  const found = await call("quote", picked);
  if (found.line) return tell(found.line, true);
  if (!state.draft.quotes.some(({ quote }) => quote === found.quote)) state.draft.quotes.push(found);
  unpick();
  byId("wrong").replaceChildren();
  drawQuotes();
  drawProse();
  tell("The words are added to the mark.");
}

function close(back = false) {
  const { quotes } = state.draft;
  state.draft = null;
  byId("form").hidden = true;
  byId("form").replaceChildren();
  drawProse();
  if (back) {
    const span = quotes.find((one) => one.span)?.span;
    if (span) prose.settle(span[0]);
    byId("prose").focus({ preventScroll: true });
  }
}

async function keep(event) {
  event.preventDefault();
  const { section, fields, quotes } = state.draft;
  const item = { ...state.draft.item, quote: quotes.map(({ quote }) => quote) };
  for (const { question, read } of fields) {
    const answer = read();
    if (answer === undefined) delete item[question.key];
    else item[question.key] = answer;
  }
  const wrong = fields.filter(({ question }) => question.need && item[question.key] === undefined).map(({ question }) => `${question.ask} This needs an answer.`);
  const scales = fields.filter(({ question }) => question.kind === "scale");
  const answered = scales.filter(({ question }) => item[question.key] !== undefined).length;
  if (answered && answered < scales.length) wrong.push("Answer all four of the questions from 1 to 10, or none.");
  if (!quotes.length) wrong.push("Select the words in the story that say this.");
  if (wrong.length) return complain(wrong);
  const sheet = copy();
  const index = state.draft.index ?? sheet[section.key].length;
  sheet[section.key][index] = item;
  await change(sheet);
  const still = lines(section.key, index);
  if (still.length) {
    state.draft.index = index;
    state.draft.item = item;
    return complain(still);
  }
  close(true);
  tell(`${section.one} kept: ${clipped(nameOf(section, item), 60)}`);
}

function complain(wrong) {
  byId("wrong").replaceChildren(...wrong.map((line) => el("p", { class: "trouble", dir: "auto" }, line)));
  byId("wrong").scrollIntoView({ block: "nearest" });
}

// Selecting

function unpick() {
  picked = null;
  getSelection().removeAllRanges();
  byId("bar").hidden = true;
}

function pick() {
  const selection = prose.selection();
  if (!selection) return;
  picked = selection.start < selection.end ? selection : null;
  drawBar();
}

function drawBar() {
  const bar = byId("bar");
  bar.hidden = !picked;
  if (!picked) return;
  const hold = (event) => event.preventDefault(); // keep the selection
  const buttons = state.draft
    ? [el("button", { type: "button", class: "main", mousedown: hold, click: addWords }, "Add to the mark you are making")]
    : state.sections.map((section) => el("button", { type: "button", class: `is-${section.key}`, title: section.means, mousedown: hold, click: () => begin(section) }, el("kbd", {}, section.letter.toUpperCase()), section.one));
  bar.replaceChildren(...buttons);
  const range = getSelection().rangeCount ? getSelection().getRangeAt(0).getBoundingClientRect() : null;
  if (!range) return;
  const box = bar.getBoundingClientRect();
  const below = range.bottom + 8 + box.height < innerHeight;
  bar.style.top = `${Math.max(4, below ? range.bottom + 8 : range.top - box.height - 8)}px`;
  bar.style.left = `${Math.max(4, Math.min(range.left, innerWidth - box.width - 4))}px`;
}

function pressed(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const sideways = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  const upright = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const section = state.sections.find(({ letter }) => letter === event.key.toLowerCase());
  if (sideways) prose.move(prose.isRightToLeft() ? -sideways : sideways, { stretch: event.shiftKey });
  else if (upright) prose.move(upright, { stretch: event.shiftKey, paragraph: true });
  else if (event.key === "Escape") unpick();
  else if (event.key === "Enter" && picked) byId("bar").querySelector("button")?.focus();
  else if (section && picked) state.draft ? addWords() : begin(section);
  else return;
  event.preventDefault();
}

/** A click on marked words leads to their mark: to the one with the fewest words, where marks overlap. */
function clicked(event) {
  const piece = event.target.closest(".piece");
  if (!getSelection().isCollapsed) return;
  if (piece) prose.settle(prose.point(Number(piece.dataset.at)));
  if (!piece?.marks.length) return;
  const mark = [...piece.marks].sort((a, b) => a.end - a.start - (b.end - b.start))[0];
  const node = byId(`${mark.kind}-${mark.index}`);
  node.scrollIntoView({ block: "nearest" });
  node.focus({ preventScroll: true });
}

function find(event) {
  event.preventDefault();
  const place = prose.find(byId("words").value);
  if (!place) return tell("These words do not stand in the story.", true);
  showWords(place.start, place.end);
  tell(`Selected: “${clipped(prose.text(place.start, place.end), 60)}”. ${state.draft ? "Add it to the mark you are making." : "Press P, H, G, M or E to say what it is."}`);
}

// Saving and leaving

function save(overwrite = false) {
  return inTurn(async () => {
    const result = await call("save", { sheet: state.sheet, revision: state.result.revision, overwrite });
    take(result);
    tell(result.line, !result.done);
    if (result.done) {
      byId("notices").replaceChildren();
      return true;
    }
    if (result.conflict) return (await ask(result.line, [[true, "Write over it"], [false, "Leave it"]])) && "again";
    document.querySelector(".card.wrong")?.focus();
    if (!state.sheet.protagonist) byId("protagonist").focus();
    return false;
  }).then((done) => (done === "again" ? save(true) : done));
}

async function leave() {
  let discard = false;
  if (state.draft) {
    const answer = await ask("The mark you are making is not kept yet.", [["drop", "Go on without it"], ["stay", "Stay"]]);
    if (answer === "stay") return;
    close();
  }
  if (state.result.dirty) {
    const answer = await ask("Some marks are not saved.", [["save", "Save and finish"], ["discard", "Finish without saving"], ["stay", "Stay"]]);
    if (answer === "stay" || (answer === "save" && !(await save()))) return;
    discard = answer === "discard";
  }
  await call("done", { discard });
  state.over = true;
  document.body.replaceChildren(el("main", { class: "over" }, el("h1", {}, "Done"), el("p", {}, discard ? "Nothing more was saved." : `Your marks are in ${state.target}.`), el("p", {}, "You can close this tab. The terminal says what to do next.")));
}

// Beginning

function offers(view) {
  const items = view.candidates.map(({ kind, about, quote, span }) =>
    el("li", {}, el("span", { class: "help" }, { name: "name", death: "a death", question: "a question" }[kind], ": "), el("strong", { dir: "auto" }, about), " ",
      el("span", { dir: "auto" }, `“${clipped(quote, 60)}” `), el("button", { type: "button", class: "small", "aria-label": `Show: ${clipped(quote, 40)}`, click: () => showWords(...span) }, "Show")));
  byId("offers").hidden = !items.length;
  byId("offers").querySelector("ul").replaceChildren(...items);
}

function drawAside() {
  const items = state.result.aside.map(({ section: key, item, reason }) => {
    const section = state.sections.find((one) => one.key === key);
    const mark = el("button", { type: "button", class: "small", click: () => open(section, { item: structuredClone(item), quotes: [], index: null }) }, "Find its words");
    return el("li", { dir: "auto" }, `${section.one}: ${item.name ?? item.text ?? item.summary ?? item.id ?? ""} `, el("span", { class: "help" }, reason), " ", mark);
  });
  byId("aside").hidden = !items.length;
  byId("aside").querySelector("ul").replaceChildren(...items);
}

async function start() {
  const view = await call("session");
  Object.assign(state, { sheet: view.sheet, sections: view.sections, known: view.known, target: view.target });
  state.names = view.candidates.filter(({ kind }) => kind === "name").map(({ about }) => about.replace(/ \(\d+×\)$/, ""));
  byId("title").textContent = view.title;
  byId("file").textContent = view.second ? `${view.file} · second reading, saved to ${view.target}` : `${view.file} · saved to ${view.target}`;
  byId("names").replaceChildren(...state.names.map((name) => el("option", { value: name })));
  byId("notices").replaceChildren(...view.notices.map((line) => el("p", { dir: "auto" }, line)));
  prose = new Prose(view.body, view.paragraphs, view.unread);
  offers(view);
  take(view);

  document.addEventListener("selectionchange", pick);
  byId("prose").addEventListener("keydown", pressed);
  byId("prose").addEventListener("click", clicked);
  byId("prose").addEventListener("mouseup", () => { if (picked) prose.settle(picked.start); });
  byId("bar").addEventListener("keydown", (event) => { if (event.key === "Escape") { unpick(); byId("prose").focus(); } });
  addEventListener("scroll", () => { if (picked) drawBar(); }, { passive: true });
  addEventListener("resize", () => { if (picked) drawBar(); });
  byId("find").addEventListener("submit", find);
  byId("protagonist").addEventListener("change", (event) => change({ ...copy(), protagonist: event.target.value.trim() }));
  byId("undo").addEventListener("click", () => {
    const before = state.history.pop();
    change(before).then(() => { state.history.pop(); byId("undo").disabled = !state.history.length; tell("Undone."); });
  });
  byId("save").addEventListener("click", () => save());
  byId("done").addEventListener("click", leave);
  addEventListener("keydown", (event) => {
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "s") {
      event.preventDefault();
      save();
    } else if (event.key === "Escape" && state.draft && byId("form").contains(document.activeElement)) close(true);
  });
  addEventListener("beforeunload", (event) => { if (!state.over && (state.draft || state.result.dirty)) event.preventDefault(); });
  setInterval(() => { if (!state.over) call("alive", {}).catch(() => {}); }, 30_000);
  document.body.dataset.ready = "yes";
}

start().catch(() => {});
