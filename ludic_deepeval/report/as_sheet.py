"""A sheet for the table as text or Markdown. Both print the same layout and differ only in their marks."""

import re
from collections.abc import Iterator
from typing import Final

from ludic_deepeval.party import Sheet
from ludic_deepeval.report.as_text import Paint, plain
from ludic_deepeval.report.columns import columns, shorten, wrap
from ludic_deepeval.report.sheet_layout import (
    PAGE_LINES,
    PARTY_LINES,
    TITLE,
    Entry,
    Section,
    fitted,
    page_sections,
    party_sections,
    safe,
)
from ludic_deepeval.table import NoPage, Page

_MD_WIDTH: Final = 100
_MD_QUOTE: Final = 140
_LEAST_BESIDE: Final = 30
_BEGINS_LIST: Final = re.compile(r"^(\d*)([-+.)])")
_SPECIAL: Final = re.compile(r"([\\`*_\[\]<>#|~$^=%&])")


def _title(section: Section) -> str:
    """A heading with how many more there are, and who they are if they have names."""
    if not section.left:
        return section.title
    names = ", ".join(entry.name for entry in section.left if entry.name)
    return f"{section.title} ({len(section.left)} more{f': {names}' if names else ''})"


# Text


def sheet_text(sheet: Sheet, *, width: int = 88, paint: Paint = plain) -> Iterator[str]:
    """Yield the lines of `ludic hooks`, wrapped at `width` columns."""
    who = ", ".join(safe(page.protagonist, 200) for page in sheet.pages if isinstance(page, Page))
    for line in wrap(f"{TITLE}: {who or 'nobody yet'}", width):
        yield paint(line, "bold")

    def lines(section: Section) -> list[str]:
        return list(_section_text(section, width, plain))

    def block(sections: tuple[Section, ...], room: int) -> Iterator[str]:
        for section in fitted(sections, lines, room):
            yield from _section_text(section, width, paint)

    if sheet.party:
        yield ""
        yield paint("The party", "bold")
        yield from block(party_sections(sheet.party), PARTY_LINES)
    for page in sheet.pages:
        yield ""
        yield from _page_head(page, width, paint)
        if isinstance(page, Page):
            yield from block(page_sections(page), PAGE_LINES)


def _page_head(page: Page | NoPage, width: int, paint: Paint) -> Iterator[str]:
    path = safe(page.path.as_posix(), 400)
    if isinstance(page, NoPage):
        yield paint(safe(page.title, 200), "bold") + (f"  {path}" if page.title != path else "")
        for line in wrap(safe(page.reason, 1000), width - 2):
            yield f"  {paint(line, 'yellow')}"
        return
    name = safe(page.protagonist, 200)
    title = f"{safe(page.title, 200)} ({path})" if page.title != page.id else path
    yield paint(name, "bold") + paint(shorten(f"  {title}", max(width - columns(name), 20)), "dim")


def _section_text(section: Section, width: int, paint: Paint) -> Iterator[str]:
    if section.run_on or not section.entries:
        said = "; ".join(entry.text for entry in section.entries) or section.nothing
        if said:
            more = f"; {len(section.left)} more" if section.left else ""
            first, *rest = wrap(f"{section.title}: {said}{more}", width - 4)
            yield f"  {paint(section.title, 'cyan')}{first[len(section.title) :]}"
            yield from (f"    {line}" for line in rest)
        return
    yield f"  {paint(shorten(_title(section), width - 2), 'cyan')}"
    for entry in section.entries:
        yield from _entry_text(entry, width, paint)


def _entry_text(entry: Entry, width: int, paint: Paint) -> Iterator[str]:
    indent = " " * (4 + len(entry.lead))
    room = width - len(indent)
    lines = wrap(entry.text, room)
    under = entry.under
    if beside := _beside(entry, room - columns(lines[-1]) - 2):
        lines[-1] += f"  {paint(beside, 'dim')}"
        under = ()
    yield f"   {entry.lead} {lines[0]}"
    yield from (f"{indent}{line}" for line in lines[1:])
    for part in under:
        if len(entry.under) == 1:
            yield indent + paint(_cut(part, room), "dim")
            continue
        first, *rest = wrap(part, room)
        yield indent + first
        yield from (f"{indent}  {line}" for line in (wrap(" ".join(rest), room - 2) if rest else ()))


def _beside(entry: Entry, room: int) -> str:
    """What of the line below an entry goes beside it; "" if it stays below."""
    if len(entry.under) != 1 or entry.lead != "-":
        return ""
    below = entry.under[0]
    if columns(below) <= room:
        return below
    if not entry.tight:
        return ""
    short = _cut(below, room) if room >= _LEAST_BESIDE else below.partition(":")[0]
    return short if columns(short) <= room else ""


def _cut(line: str, width: int) -> str:
    """Shorten a line that may end in a quotation mark, which it keeps."""
    if columns(line) <= width:
        return line
    return f"{shorten(line[:-1], width - 1)}”" if line.endswith("”") else shorten(line, width)


# Markdown


def sheet_markdown(sheet: Sheet) -> Iterator[str]:
    """Yield the lines of `ludic hooks --markdown`: headings and lists, fit for a vault of notes or a printer."""
    who = ", ".join(_md(safe(page.protagonist, 200)) for page in sheet.pages if isinstance(page, Page))
    yield f"# {TITLE}: {who or 'nobody yet'}"

    def lines(section: Section) -> list[str]:
        return list(_section_text(section, _MD_WIDTH, plain))

    if sheet.party:
        yield from ("", "## The party")
        for section in fitted(party_sections(sheet.party), lines, PARTY_LINES):
            yield from _section_markdown(section)
    for page in sheet.pages:
        name = page.protagonist if isinstance(page, Page) else page.title
        yield from ("", f"## {_md(safe(name, 200))}", "")
        title = f"{_md(safe(page.title, 200))}, " if page.title not in {page.id, name} else ""
        yield f"*{title}{_md(safe(page.path.as_posix(), 400))}*"
        if isinstance(page, NoPage):
            yield from ("", _md(safe(page.reason, 1000)))
            continue
        for section in fitted(page_sections(page), lines, PAGE_LINES):
            yield from _section_markdown(section)


def _section_markdown(section: Section) -> Iterator[str]:
    if section.run_on or not section.entries:
        said = "; ".join(_md(entry.text) for entry in section.entries) or section.nothing
        if said:
            yield from (
                "",
                f"**{section.title}**: {said}{f'; {len(section.left)} more' if section.left else ''}",
            )
        return
    yield from ("", f"**{_md(_title(section))}**", "")
    for entry in section.entries:
        indent = " " * (len(entry.lead) + 1)
        if len(entry.under) == 1:
            yield f"{entry.lead} {_md(entry.text)}  "
            yield f"{indent}*{_md(_cut(entry.under[0], _MD_QUOTE))}*"
            continue
        yield f"{entry.lead} {_md(entry.text)}"
        yield from (f"{indent}- {_md(part)}" for part in entry.under)


def _md(text: str) -> str:
    """Text that Markdown, and Obsidian with its tags, links and comments, takes as it stands."""
    return _BEGINS_LIST.sub(r"\1\\\2", _SPECIAL.sub(r"\\\1", text))
