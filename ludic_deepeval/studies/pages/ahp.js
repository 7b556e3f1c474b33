const COLUMNS = ["form", "expert", "left", "right", "prefer", "strength"];
const pairs = [...document.querySelectorAll(".pair")];
const strengths = JSON.parse(words.strengths);
const RANDOM_INDEX = 0.9;
let answers = {};

const nameOf = (pair) => pair.dataset.left + "/" + pair.dataset.right;
const done = () => pairs.filter((pair) => nameOf(pair) in answers).length;

function clean(kept) {
  const found = {};
  for (const pair of pairs) {
    const step = kept ? kept[nameOf(pair)] : undefined;
    if (Number.isInteger(step) && Math.abs(step) <= 8) found[nameOf(pair)] = step;
  }
  return found;
}

function inWords(pair, step) {
  if (step === 0) return words.equal;
  const number = Math.abs(step) + 1;
  const how = strengths[number] || fill(words.between, { low: strengths[number - 1], high: strengths[number + 1] });
  return fill(words.said, { name: step < 0 ? pair.dataset.leftName : pair.dataset.rightName, how, number });
}

// Weights by row geometric means, the consistency ratio, and the pair that fits the others least.
function consistency() {
  const names = [...new Set(pairs.flatMap((pair) => [pair.dataset.left, pair.dataset.right]))];
  const a = names.map(() => names.map(() => 1));
  pairs.forEach((pair) => {
    const step = answers[nameOf(pair)];
    const i = names.indexOf(pair.dataset.left);
    const j = names.indexOf(pair.dataset.right);
    a[i][j] = step <= 0 ? 1 - step : 1 / (1 + step);
    a[j][i] = 1 / a[i][j];
  });
  const n = names.length;
  const raw = a.map((row) => Math.exp(row.reduce((sum, value) => sum + Math.log(value), 0) / n));
  const total = raw.reduce((sum, value) => sum + value, 0);
  const w = raw.map((value) => value / total);
  const lambda = a.reduce((sum, row, i) => sum + row.reduce((part, value, j) => part + value * w[j], 0) / w[i], 0) / n;
  const off = pairs.map((pair) => {
    const i = names.indexOf(pair.dataset.left);
    const j = names.indexOf(pair.dataset.right);
    return Math.abs(Math.log((a[i][j] * w[j]) / w[i]));
  });
  return { ratio: (lambda - n) / (n - 1) / RANDOM_INDEX, worst: off.indexOf(Math.max(...off)) };
}

function draw() {
  for (const pair of pairs) {
    const step = answers[nameOf(pair)];
    for (const input of pair.querySelectorAll("input")) input.checked = Number(input.value) === step;
    pair.querySelector(".said").textContent = step === undefined ? "" : inWords(pair, step);
  }
  document.querySelector("progress").value = done();
  document.querySelector("#count").textContent = fill(words.answered, { done: done(), count: pairs.length });
  if (done() < pairs.length) return say(keeper.works ? "" : words.memory, true);
  const found = consistency();
  if (found.ratio <= 0.1) say(words.fit);
  else say(fill(words.unfit, { pair: found.worst + 1 }), true);
}

for (const pair of pairs)
  pair.addEventListener("change", (event) => {
    answers[nameOf(pair)] = Number(event.target.value);
    unsaved = true;
    keeper.write(answers);
    draw();
  });

document.querySelector("#save").addEventListener("click", () => {
  const rows = pairs.map((pair) => {
    const step = answers[nameOf(pair)];
    const given = step === undefined ? ["", ""] : [step === 0 ? "equal" : step < 0 ? "left" : "right", Math.abs(step) + 1];
    return [words.form, words.who, pair.dataset.left, pair.dataset.right, ...given];
  });
  save(`ahp-${words.form}-${words.who}.csv`, [COLUMNS, ...rows]);
  unsaved = false;
});

document.querySelector("#load").addEventListener("change", async (event) => {
  const file = event.target.files[0];
  event.target.value = "";
  if (!file || file.size > 1048576) return;
  const found = {};
  for (const row of fromCsv(await file.text())) {
    if (row.form !== words.form || row.expert !== words.who) continue;
    if (row.prefer === "equal") found[row.left + "/" + row.right] = 0;
    else if (/^[2-9]$/.test(row.strength) && /^(left|right)$/.test(row.prefer)) found[row.left + "/" + row.right] = (row.prefer === "left" ? -1 : 1) * (Number(row.strength) - 1);
  }
  const mine = clean(found);
  if (!Object.keys(mine).length) return say(words.foreign, true);
  answers = { ...answers, ...mine };
  keeper.write(answers);
  draw();
  say(fill(words.loaded, { done: done(), count: pairs.length }));
});

answers = clean(keeper.read());
keeper.write(answers);
draw();
if (!keeper.works) say(words.memory, true);
body.dataset.ready = "true";
