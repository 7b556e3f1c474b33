// What the marks come to, as the program worked it out: this only draws it.

import { byId, el } from "./dom.js";

export function drawVerdict(verdict, show) {
  const body = byId("verdict-body");
  if (verdict.empty) {
    byId("strip").textContent = "";
    body.replaceChildren(el("p", {}, "Nothing is marked yet. What counts is what a game master could pick up: people with unfinished business, threads, goals, things unexplained."));
    return "";
  }
  const tone = verdict.passed === null ? "none" : verdict.passed ? "good" : "low";
  body.replaceChildren(
    el("p", { class: `headline ${tone}` }, verdict.headline),
    meter("Left open to play", verdict.left_open),
    meter("Presses on next session", verdict.presses),
    el("p", { class: verdict.contradictions ? "bad" : "" }, contradictions(verdict.contradictions)),
    ...list("What stands out", verdict.findings.map((finding) => said(finding, show))),
    ...list("Loose threads", verdict.threads.map((thread) => el("li", { dir: "auto" }, thread.text, thread.urgent ? el("strong", {}, " urgent") : ""))),
    ...list("Smallest fix, once all is marked", fix(verdict)),
    el("details", {}, el("summary", {}, "Figures"), el("p", {}, verdict.inventory), el("p", { class: "figures" }, verdict.details)),
  );
  const line = `Left open ${amount(verdict.left_open)}, presses ${amount(verdict.presses)}, ${contradictions(verdict.contradictions)}`;
  byId("strip").textContent = `${verdict.headline.split(":")[0]} · open ${amount(verdict.left_open)} · presses ${amount(verdict.presses)}`;
  return `${verdict.headline}. ${line}.`;
}

const contradictions = (count) => (count ? `${count} ${count === 1 ? "contradiction" : "contradictions"}` : "no contradiction");

const amount = (figure) => (figure.value === null ? "not measured" : `${figure.value} of ${figure.needed}`);

function meter(name, figure) {
  const bar = el("span", { class: `bar ${figure.enough ? "good" : "low"}`, "aria-hidden": "true" }, el("span", {}));
  bar.firstChild.style.inlineSize = `${Math.round((figure.share ?? 0) * 100)}%`;
  const words = figure.value === null ? figure.why : `${figure.value} (${figure.needed} needed)`;
  return el("p", { class: "meter" }, el("span", {}, name), el("strong", {}, words), bar);
}

function list(title, items) {
  return items.length ? [el("h3", {}, title), el("ul", {}, ...items)] : [];
}

function fix(verdict) {
  if (!verdict.fix) return [];
  return [...verdict.fix.todo.map((todo) => el("li", { dir: "auto" }, todo)), el("li", { class: "effect" }, `then ${verdict.fix.effect}`)];
}

function said(finding, show) {
  const node = el("li", { class: finding.severity, dir: "auto" }, finding.message);
  if (finding.against) node.append(el("span", { class: "help" }, `against ${finding.against}`));
  if (finding.span) node.append(" ", el("button", { type: "button", class: "small", click: () => show(finding.span) }, "Show"));
  return node;
}
