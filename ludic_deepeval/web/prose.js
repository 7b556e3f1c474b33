// The story: drawing it with its marks, and telling which of its characters are selected.
// The program counts characters (code points), the browser UTF-16 units: an emoji is one of those and two of these.

import { byId, el } from "./dom.js";

const prose = byId("prose");

export class Prose {
  constructor(body, paragraphs, unread) {
    this.body = body;
    this.units = [0]; // units[n]: where character n begins
    for (const character of body) this.units.push(this.units.at(-1) + character.length);
    this.unread = new Set(unread.map(([start]) => start));
    this.paragraphs = paragraphs.map(([start, end]) => ({ start: this.units[start], end: this.units[end], fresh: this.unread.has(start) }));
    this.words = wordsOf(body);
    this.at = 0; // the word that the keyboard is at
    this.anchor = null; // the word where stretching began
    this.fresh = true; // whether the keyboard has not been used here yet
  }

  text(start, end) {
    return this.body.slice(this.units[start], this.units[end]);
  }

  /** From a UTF-16 index to a count of characters. */
  point(unit) {
    let low = 0;
    let high = this.units.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.units[middle] <= unit) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /** Draw the story. Each mark is {start, end (characters), kind, letter, key, draft}; marks may overlap. */
  draw(marks) {
    const spans = marks.map((mark) => ({ ...mark, from: this.units[mark.start], to: this.units[mark.end] }));
    const cuts = [...new Set(spans.flatMap((span) => [span.from, span.to]))].sort((a, b) => a - b);
    prose.replaceChildren(...this.paragraphs.map((paragraph) => {
      const inside = [paragraph.start, ...cuts.filter((cut) => cut > paragraph.start && cut < paragraph.end), paragraph.end];
      const node = el("p", { dir: "auto", class: paragraph.fresh ? "fresh" : "" });
      if (paragraph.fresh) node.append(el("span", { class: "hidden noselect" }, ""));
      for (let n = 0; n + 1 < inside.length; n += 1) node.append(this.piece(inside[n], inside[n + 1], spans));
      return node;
    }));
  }

  piece(from, to, spans) {
    const over = spans.filter((span) => span.from < to && span.to > from);
    const begins = over.filter((span) => span.from >= from && !span.draft);
    const kinds = [...new Set(over.map((span) => (span.draft ? "draft" : `is-${span.kind}`)))];
    const tags = [...new Set(begins.map((span) => span.letter.toUpperCase()))].join("");
    const node = el("span", { class: ["piece", ...kinds].join(" "), "data-at": String(from) }, this.body.slice(from, to));
    if (tags) node.dataset.tags = tags;
    node.marks = over.filter((span) => !span.draft);
    return node;
  }

  /** The selection in characters of the body: null when it is not in the story, {start, end} equal when it is empty. */
  selection() {
    const selection = getSelection();
    if (!selection.rangeCount) return null;
    const range = selection.getRangeAt(0);
    if (!range.intersectsNode(prose) || (!prose.contains(range.startContainer) && !prose.contains(range.endContainer))) return null;
    const start = this.unitOf(range.startContainer, range.startOffset);
    const end = this.unitOf(range.endContainer, range.endOffset);
    return { start: this.point(start), end: this.point(end) };
  }

  unitOf(node, offset) {
    if (node.nodeType === Node.TEXT_NODE && node.parentElement.dataset.at !== undefined) {
      return Number(node.parentElement.dataset.at) + offset;
    }
    const spot = document.createRange(); // between nodes: what begins next
    spot.setStart(node, offset);
    const next = [...prose.querySelectorAll(".piece")].find((piece) => spot.comparePoint(piece.firstChild, 0) >= 0);
    return next ? Number(next.dataset.at) : this.body.length;
  }

  /** Select characters of the body, as if with the mouse. */
  select(start, end, backward = false) {
    const [from, to] = [this.spot(this.units[start], false), this.spot(this.units[end], true)];
    if (!from || !to) return;
    if (backward) getSelection().setBaseAndExtent(to.node, to.offset, from.node, from.offset);
    else getSelection().setBaseAndExtent(from.node, from.offset, to.node, to.offset);
    (backward ? from : to).node.parentElement.scrollIntoView({ block: "nearest" });
  }

  spot(unit, isEnd) {
    let best = null;
    for (const piece of prose.querySelectorAll(".piece")) {
      const at = Number(piece.dataset.at);
      if (at > unit || (isEnd && at === unit && best)) break;
      best = { node: piece.firstChild, offset: Math.min(unit - at, piece.firstChild.length) };
    }
    return best;
  }

  /** Move the keyboard's selection: by words, or by paragraphs; with `stretch` it grows. Returns the words it holds. */
  move(step, { stretch = false, paragraph = false } = {}) {
    if (!this.words.length) return;
    if (!stretch) this.anchor = null;
    if (!stretch && this.fresh) step = 0; // the first press shows where one is
    this.fresh = false;
    if (stretch && this.anchor === null) this.anchor = this.at;
    this.at = paragraph ? this.beyond(step) : Math.max(0, Math.min(this.words.length - 1, this.at + step));
    const other = this.anchor ?? this.at;
    const [first, last] = [Math.min(other, this.at), Math.max(other, this.at)];
    this.select(this.point(this.words[first][0]), this.point(this.words[last][1]), this.at < other);
  }

  beyond(step) {
    const here = this.paragraphs.findLastIndex((one) => one.start <= this.words[this.at][0]);
    const there = this.paragraphs[Math.max(0, Math.min(this.paragraphs.length - 1, here + step))];
    const found = this.words.findIndex(([start]) => start >= there.start);
    return found < 0 ? this.words.length - 1 : found;
  }

  /** Let the keyboard go on from where the mouse was. */
  settle(point) {
    const found = this.words.findLastIndex(([start]) => start <= this.units[point]);
    this.at = Math.max(0, found);
    this.anchor = null;
    this.fresh = false;
  }

  /** Whether the word that the keyboard is at is written from right to left. */
  isRightToLeft() {
    const spot = this.words.length && this.spot(this.words[this.at][0], false);
    return Boolean(spot) && getComputedStyle(spot.node.parentElement.parentElement).direction === "rtl";
  }

  /** Where typed words stand, white space and the shape of quotation marks aside; null when nowhere. */
  find(words) {
    const exact = words.trim().replace(/[.*+?^${}()|[\]\\]/g, "\\$&").replace(/\s+/g, "\\s+")
      .replace(/['‘’]/g, "['‘’]").replace(/["“”„«»]/g, '["“”„«»]').replace(/[-–—]/g, "[-–—]");
    const match = exact && new RegExp(exact, "iu").exec(this.body);
    return match ? { start: this.point(match.index), end: this.point(match.index + match[0].length) } : null;
  }
}

/** The words of a text as pairs of UTF-16 indexes; the browser knows where Chinese words end. */
function wordsOf(body) {
  if (!Intl.Segmenter) return [...body.matchAll(/[\p{L}\p{N}\p{M}'’]+/gu)].map((match) => [match.index, match.index + match[0].length]);
  const parts = new Intl.Segmenter(undefined, { granularity: "word" }).segment(body);
  return Array.from(parts).filter((part) => part.isWordLike).map((part) => [part.index, part.index + part.segment.length]);
}
