"""A study's report in Markdown: verdicts, tables, the log; every text of others escaped."""

import re
from collections.abc import Iterator
from typing import Final

from ludic_deepeval.errors import clean
from ludic_deepeval.studies.findings import Findings
from ludic_deepeval.studies.numbers import Number
from ludic_deepeval.studies.tables import Entry, Table

_SPECIAL: Final = re.compile(r"([\\`*_{}\[\]<>#|~&])")
_NOTHING: Final = "–"


def study_markdown(found: Findings) -> str:
    """Return the report."""
    return "\n".join(_lines(found)) + "\n"


def _lines(found: Findings) -> Iterator[str]:
    environment = found.sidecar.environment
    yield f"# {_said(found.title)}"
    yield ""
    changed = " (changed)" if environment.changed else ""
    commit = f", code {environment.commit[:12]}{changed}" if environment.commit else ""
    yield f"{len(found.data.rows)} of {found.data.trials} trials; frozen {_said(found.sidecar.created)}{commit}."
    for caution in found.cautions:
        yield ""
        yield f"**{_said(caution)}**"
    if found.verdicts:
        yield from ("", "## Hypotheses")
        for one in found.verdicts:
            yield ""
            yield f"**{_said(one.hypothesis.id)}: {one.outcome}.** {_said(one.hypothesis.text)}"
            yield ""
            yield f"{_said(one.why)}." + (
                f" {one.missing} of its trials were not measured." if one.missing else ""
            )
            if one.numbers:
                yield ""
                yield ", ".join(f"{_said(name)} {number.text}" for name, number in one.numbers)
    for table in found.tables:
        yield ""
        yield from _table(table)
    yield from ("", "## Amendments and deviations", "")
    if not found.log:
        yield "None."
    for entry in found.log:
        yield f"- {entry.kind} of {_said(entry.date)}, at {entry.trials} trials: {_said(entry.reason)}"
        yield from (f"  - {_said(change)}" for change in entry.changes)
    yield from (
        "",
        "Every number stands in report.json with its recipe and the lines of trials.jsonl that it comes from.",
    )


def _table(table: Table) -> Iterator[str]:
    yield f"## {_said(table.title)}{f' ({table.like})' if table.like else ''}"
    yield ""
    if table.rows:
        yield f"| {' | '.join(map(_said, table.columns))} |"
        yield f"|{'|'.join('---' for _ in table.columns)}|"
    for row in table.rows:
        yield f"| {' | '.join(map(_entry, row))} |"
    for name, number in table.extra:
        yield ""
        yield f"{_said(name)}: {number.text}"
    for note in table.notes:
        yield ""
        yield _said(note)


def _entry(entry: Entry) -> str:
    if entry is None:
        return _NOTHING
    return entry.text if isinstance(entry, Number) else _said(entry)


def _said(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", clean(text, limit=2000))
