// The form of one mark: draws the questions that the program asks, and reads the answers.

import { el } from "./dom.js";

let made = 0;
const fresh = () => `field-${(made += 1)}`;

/** One question as {node, read}: what to show, and how to get the answer (undefined: none). */
export function field(question, value, context) {
  return FIELDS[question.kind](question, value ?? undefined, context);
}

function labelled(question, control, id) {
  const help = question.help ? el("span", { class: "help", id: `${id}-help` }, question.help) : null;
  if (help) control.setAttribute("aria-describedby", help.id);
  const label = el("label", { for: id }, question.ask);
  if (question.need) label.append(el("span", { class: "need" }, " needed"));
  return el("p", { class: "field" }, label, control, help);
}

function grouped(question, ...children) {
  const legend = el("legend", {}, question.ask);
  if (question.need) legend.append(el("span", { class: "need" }, " needed"));
  return el("fieldset", { class: `field ${question.kind}` }, legend, ...children,
    question.help ? el("span", { class: "help" }, question.help) : null);
}

const text = (question, value, context) => {
  const id = fresh();
  const known = context.known?.[question.known] ?? [];
  const list = known.length ? el("datalist", { id: `${id}-known` }, ...known.map((name) => el("option", { value: name }))) : null;
  const input = el("input", { id, type: "text", dir: "auto", autocomplete: "off", required: Boolean(question.need), list: list?.id ?? null });
  input.value = value ?? "";
  const node = labelled(question, input, id);
  if (list) node.append(list);
  return { node, read: () => input.value.trim() || undefined };
};

const list = (question, value, context) => {
  const inner = text(question, (value ?? []).join(", "), context);
  const read = () => {
    const parts = (inner.read() ?? "").split(/[,，、]/).map((part) => part.trim()).filter(Boolean);
    return parts.length ? parts : undefined;
  };
  return { node: inner.node, read };
};

function radios(question, options, value) {
  const name = fresh();
  const inputs = options.map(([option, words]) => {
    const input = el("input", { type: "radio", name, required: Boolean(question.need) });
    input.checked = value === option;
    return { option, input, label: el("label", {}, input, el("span", {}, words)) };
  });
  const read = () => inputs.find(({ input }) => input.checked)?.option;
  return { inputs, read, row: el("span", { class: "options" }, ...inputs.map(({ label }) => label)) };
}

const choice = (question, value) => {
  if (question.options.length > 5) {
    const id = fresh();
    const select = el("select", { id }, ...question.options.map(([option, words], at) => el("option", { value: String(at) }, words)));
    select.selectedIndex = question.options.findIndex(([option]) => option === value);
    return { node: labelled(question, select, id), read: () => question.options[select.selectedIndex]?.[0] };
  }
  const { row, read } = radios(question, question.options, value);
  return { node: grouped(question, row), read };
};

const yesno = (question, value) => {
  const { row, read } = radios(question, [[true, "yes"], [false, "no"]], value);
  return { node: grouped(question, row), read };
};

const scale = (question, value) => {
  const numbers = Array.from({ length: 10 }, (_, at) => [at + 1, String(at + 1)]);
  const { row, read, inputs } = radios(question, numbers, value);
  const words = Object.entries(question.words).map(([number, said]) => `${number}: ${said}`).join(" · ");
  const clear = () => inputs.forEach(({ input }) => { input.checked = false; });
  return { node: grouped(question, row, el("span", { class: "help" }, words)), read, clear };
};

const person = (question, value, context) => {
  const id = fresh();
  const options = [["", "nobody's in particular"], ...context.people.map(({ ref, name }) => [ref, name])];
  const select = el("select", { id }, ...options.map(([ref, name]) => el("option", { value: ref }, name)));
  select.value = context.refOf(value) ?? "";
  return { node: labelled(question, select, id), read: () => select.value || undefined };
};

const people = (question, value, context) => {
  const before = value ?? [];
  if (!context.people.length) {
    return { node: grouped(question, el("span", { class: "help" }, "Nobody is marked yet. Mark people first, then say here who takes part.")), read: () => (before.length ? before : undefined) };
  }
  const options = [["", "not in it"], ["here", "takes part"], ["alive", "is alive in it"], ["dead", "dies, or is dead"], ["missing", "goes missing"], ["undead", "is undead"], ["unknown", "nobody knows"]];
  const rows = context.people.map(({ ref, name }) => {
    const id = fresh();
    const relation = before.find(({ npc }) => context.refOf(npc) === ref);
    const select = el("select", { id }, ...options.map(([option, words]) => el("option", { value: option }, words)));
    select.value = relation ? relation.status ?? "here" : "";
    const read = () => {
      if (!select.value) return null;
      const { status, ...rest } = relation ?? { npc: ref };
      return select.value === "here" ? rest : { ...rest, status: select.value };
    };
    return { read, node: el("span", { class: "pair" }, el("label", { for: id, dir: "auto" }, name), select) };
  });
  const read = () => {
    const answers = rows.map((row) => row.read()).filter(Boolean);
    return answers.length ? answers : undefined;
  };
  return { node: grouped(question, ...rows.map(({ node }) => node)), read };
};

const rows = (question, value) => {
  const holder = el("div", { class: "rows" });
  const lines = [];
  const add = (record = {}) => {
    const cells = question.columns.map((column) => cell(column, record[column.key] ?? column.start));
    const line = {};
    const fits = (at) => !question.columns[at].only || question.columns[at].only.includes(cells[0].read());
    const fit = () => cells.forEach(({ node: one }, at) => { one.hidden = !fits(at); });
    line.read = () => Object.fromEntries(cells.map((one, at) => [question.columns[at].key, fits(at) ? one.read() : record[question.columns[at].key]]).filter(([, answer]) => answer !== undefined));
    cells[0].node.addEventListener("change", fit);
    fit();
    const remove = el("button", { type: "button", class: "small", "aria-label": `Remove: ${question.ask}`, click: () => {
      lines.splice(lines.indexOf(line), 1);
      node.remove();
    } }, "Remove");
    const node = el("div", { class: "record" }, ...cells.map((one) => one.node), remove);
    lines.push(line);
    holder.append(node);
  };
  (value ?? []).forEach(add);
  const more = el("button", { type: "button", class: "small", click: () => { add(); holder.lastChild.querySelector("input, select").focus(); } }, "Add one");
  const read = () => {
    const records = lines.map((line) => line.read());
    return records.length ? records : undefined;
  };
  return { node: grouped(question, holder, more), read };
};

function cell(column, value) {
  if (column.kind === "choice") {
    const select = el("select", { "aria-label": column.ask }, ...column.options.map(([option, words]) => el("option", { value: option }, words)));
    select.value = value ?? column.options[0][0];
    return { node: select, read: () => select.value };
  }
  if (column.kind === "check") {
    const input = el("input", { type: "checkbox" });
    input.checked = Boolean(value);
    return { node: el("label", { class: "check" }, input, column.ask), read: () => input.checked };
  }
  const number = column.kind === "number";
  const input = el("input", { type: number ? "number" : "text", min: number ? "0" : null, dir: "auto", "aria-label": column.ask, placeholder: column.ask });
  input.value = value ?? "";
  const read = () => (input.value.trim() === "" ? undefined : number ? Number(input.value) : input.value.trim());
  return { node: input, read };
}

const FIELDS = { text, list, choice, yesno, scale, person, people, rows };
