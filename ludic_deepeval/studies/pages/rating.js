const COLUMNS = ["form", "rater", "item", "q1", "q2", "q3", "q4", "comment"];
const QUESTIONS = ["q1", "q2", "q3", "q4"];
const items = [...document.querySelectorAll(".item")];
const codes = items.map((item) => item.dataset.item);
let answers = {};
let at = 0;

function clean(kept) {
  const found = {};
  for (const code of codes) {
    const one = kept && typeof kept[code] === "object" && kept[code] ? kept[code] : {};
    found[code] = { comment: typeof one.comment === "string" ? one.comment.slice(0, 1000) : "" };
    for (const q of QUESTIONS) if (/^[1-7]$/.test(one[q])) found[code][q] = String(one[q]);
  }
  return found;
}

const isDone = (code) => QUESTIONS.every((q) => answers[code][q]);
const done = () => codes.filter(isDone).length;

function draw() {
  items.forEach((item, number) => {
    item.hidden = number !== at;
    for (const q of QUESTIONS)
      for (const input of item.querySelectorAll(`input[data-q="${q}"]`)) input.checked = answers[codes[number]][q] === input.value;
    item.querySelector("textarea").value = answers[codes[number]].comment;
  });
  mark();
}

function mark() {
  document.querySelectorAll(".list button").forEach((button, number) => {
    button.classList.toggle("done", isDone(codes[number]));
    if (number === at) button.setAttribute("aria-current", "true");
    else button.removeAttribute("aria-current");
  });
  document.querySelector("progress").value = done();
  document.querySelector("#count").textContent = fill(words.rated, { done: done(), count: codes.length });
}

function keep() {
  unsaved = true;
  keeper.write(answers);
  mark();
  if (done() === codes.length) say(words.all);
  else say(keeper.works ? "" : words.memory, true);
}

function go(number) {
  if (number < 0 || number >= items.length) return;
  at = number;
  draw();
  const heading = items[at].querySelector("h2");
  heading.focus({ preventScroll: true });
  document.querySelector(".bar").scrollIntoView();
}

function answer(q, value) {
  answers[codes[at]][q] = value;
  keep();
}

for (const [number, item] of items.entries()) {
  item.addEventListener("change", (event) => {
    if (event.target.dataset.q) {
      at = number;
      answer(event.target.dataset.q, event.target.value);
    }
  });
  item.querySelector("textarea").addEventListener("input", (event) => {
    answers[codes[number]].comment = event.target.value;
    keep();
  });
  item.querySelector(".back").addEventListener("click", () => go(number - 1));
  item.querySelector(".next").addEventListener("click", () => go(number + 1));
}
document.querySelectorAll(".list button").forEach((button, number) => button.addEventListener("click", () => go(number)));

// The question that a digit answers: the one that has the focus, else the first without an answer.
function question() {
  const focused = document.activeElement?.closest?.("fieldset[data-q]")?.dataset.q;
  return focused || QUESTIONS.find((q) => !answers[codes[at]][q]);
}

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest?.("textarea, input[type=file]")) return;
  if (/^[1-7]$/.test(event.key)) {
    const q = question();
    if (!q) return;
    answer(q, event.key);
    draw();
    const following = QUESTIONS[QUESTIONS.indexOf(q) + 1];
    const stop = following ? items[at].querySelector(`input[data-q="${following}"]`) : items[at].querySelector(".next:not(:disabled)") || document.querySelector("#save");
    stop?.focus();
  } else if (event.key === "n") go(at + 1);
  else if (event.key === "p") go(at - 1);
  else return;
  event.preventDefault();
});

document.querySelector("#save").addEventListener("click", () => {
  const rows = codes.map((code) => [words.form, words.who, code, ...QUESTIONS.map((q) => answers[code][q] || ""), answers[code].comment]);
  save(`ratings-${words.form}-${words.who}.csv`, [COLUMNS, ...rows]);
  unsaved = false;
});

document.querySelector("#load").addEventListener("change", async (event) => {
  const file = event.target.files[0];
  event.target.value = "";
  if (!file || file.size > 4194304) return;
  const mine = fromCsv(await file.text()).filter((row) => row.form === words.form && row.rater === words.who && codes.includes(row.item));
  if (!mine.length) return say(words.foreign, true);
  answers = clean({ ...answers, ...Object.fromEntries(mine.map((row) => [row.item, row])) });
  keeper.write(answers);
  draw();
  say(fill(words.loaded, { done: done(), count: codes.length }));
});

answers = clean(keeper.read());
keeper.write(answers);
at = Math.max(0, codes.findIndex((code) => !isDone(code)));
draw();
if (!keeper.works) say(words.memory, true);
body.dataset.ready = "true";
