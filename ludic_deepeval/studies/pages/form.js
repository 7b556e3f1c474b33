// What both forms share: keeping answers in the browser where it can, CSV in and out. Nothing leaves this page but a file that its reader saves.
"use strict";
const body = document.body;
const words = body.dataset;
const status_ = document.querySelector("[role=status]");

function fill(text, values) {
  return text.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? String(values[name]) : whole));
}

function say(text, warn) {
  status_.textContent = text;
  status_.classList.toggle("warn", Boolean(warn));
}

// Some browsers keep nothing for a file, and some throw when asked.
const keeper = {
  name: "ludic:" + words.form + ":" + words.who,
  works: true,
  read() {
    try {
      return JSON.parse(localStorage.getItem(this.name) || "{}");
    } catch {
      this.works = false;
      return {};
    }
  },
  write(value) {
    try {
      localStorage.setItem(this.name, JSON.stringify(value));
    } catch {
      this.works = false;
    }
  },
};

// A cell that begins like a formula is not to run as one in a spreadsheet.
function cell(value) {
  const text = String(value).replace(/\r\n?/g, "\n");
  const safe = /^[=+\-@\t]/.test(text) ? "'" + text : text;
  return /[",\n;]/.test(safe) ? '"' + safe.replace(/"/g, '""') + '"' : safe;
}

function toCsv(rows) {
  return rows.map((row) => row.map(cell).join(",")).join("\n") + "\n";
}

function fromCsv(text) {
  const rows = [[""]];
  let quoted = false;
  const source = text.replace(/^\ufeff/, "").replace(/\r\n?/g, "\n");
  for (let at = 0; at < source.length; at += 1) {
    const row = rows[rows.length - 1];
    const char = source[at];
    if (quoted) {
      if (char === '"' && source[at + 1] === '"') {
        row[row.length - 1] += '"';
        at += 1;
      } else if (char === '"') quoted = false;
      else row[row.length - 1] += char;
    } else if (char === '"') quoted = true;
    else if (char === ",") row.push("");
    else if (char === "\n") rows.push([""]);
    else row[row.length - 1] += char;
  }
  const [head, ...rest] = rows.filter((row) => row.length > 1);
  return (rest || []).map((row) => Object.fromEntries((head || []).map((name, at) => [name, row[at] ?? ""])));
}

function save(name, rows) {
  const address = URL.createObjectURL(new Blob([toCsv(rows)], { type: "text/csv;charset=utf-8" }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
  say(fill(words.saved, { name }));
}

let unsaved = false;
addEventListener("beforeunload", (event) => {
  if (unsaved && !keeper.works) event.preventDefault();
});
