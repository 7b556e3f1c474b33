"use strict";
// The page works without this. It opens what a link leads to, lights all words of one item, sorts and filters the table.
(function () {
  const all = (selector, root) => Array.from((root || document).querySelectorAll(selector));
  const byId = (id) => document.getElementById(id);

  // Links

  function open(element) {
    for (let part = element; part; part = part.parentElement) {
      if (part.tagName === "DETAILS") part.open = true;
    }
  }

  function light(target) {
    all("mark.lit").forEach((mark) => mark.classList.remove("lit"));
    const found = /^(s\d+)-([a-z]\d+)(w\d+)?$/.exec(target.id);
    if (!found) return;
    const story = byId(found[1]);
    all("mark", story).forEach((mark) => {
      if (mark.dataset.i && mark.dataset.i.split(" ").includes(found[2])) mark.classList.add("lit");
    });
  }

  function arrive() {
    const target = byId(location.hash.slice(1));
    if (!target) return;
    open(target);
    light(target);
    target.scrollIntoView();
  }
  addEventListener("hashchange", arrive);
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[href^='#']");
    if (link && link.getAttribute("href") === location.hash) arrive(); // the second click on the same link
  });
  arrive();

  // What marked words are, under the pointer

  document.addEventListener("mouseover", (event) => {
    const mark = event.target.closest(".prose mark");
    if (!mark || mark.title) return;
    const story = mark.closest(".inside").id;
    const titles = (mark.dataset.i || "").split(" ").map((key) => {
      const tag = byId(story + "-" + key + "w1");
      return tag ? tag.title : "";
    });
    mark.title = titles.filter(Boolean).join("\n");
  });

  // Paper has no hidden parts

  let closed = [];
  addEventListener("beforeprint", () => {
    closed = all("details:not([open]):not(.more)");
    closed.forEach((part) => { part.open = true; });
  });
  addEventListener("afterprint", () => closed.forEach((part) => { part.open = false; }));

  // The table

  const table = byId("table");
  if (!table) return;
  const body = table.tBodies[0];
  const rows = Array.from(body.rows);

  function key(row, column) {
    const cell = row.cells[column];
    const given = cell.dataset.s;
    if (given === undefined) return cell.textContent.trim();
    return given === "" ? null : Number(given);
  }

  function compare(a, b) {
    if (a === null || b === null) return (a === null) - (b === null);
    return typeof a === "number" ? a - b : a.localeCompare(b);
  }

  all("thead th", table).forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    head.replaceChildren(button);
    button.addEventListener("click", () => {
      const up = head.getAttribute("aria-sort") !== "ascending";
      all("thead th", table).forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      const sorted = rows.slice().sort((one, two) => {
        const a = key(one, column), b = key(two, column);
        return a === null || b === null ? compare(a, b) : (up ? 1 : -1) * compare(a, b);
      });
      body.append(...sorted);
    });
  });

  const find = byId("find"), verdict = byId("verdict"), work = byId("work"), shown = byId("shown");
  function filter() {
    const wanted = find.value.trim().toLowerCase();
    let count = 0;
    rows.forEach((row) => {
      const fits = row.textContent.toLowerCase().includes(wanted)
        && (!verdict.value || row.dataset.v === verdict.value)
        && (!work.checked || row.dataset.w === "1");
      row.hidden = !fits;
      count += fits ? 1 : 0;
    });
    shown.textContent = count === rows.length ? "" : count + " of " + rows.length + " shown";
  }
  [find, verdict, work].forEach((control) => control.addEventListener("input", filter));
  byId("filters").hidden = false;
  filter();
})();
