"""What changed between two verdicts on one story. Two results in, lines for people out."""

import re
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from ludic_deepeval.check import StoryResult
from ludic_deepeval.errors import InputError
from ludic_deepeval.findings import Finding
from ludic_deepeval.outcome import Scored, Unscored
from ludic_deepeval.scoring import ScoreCard, decimal
from ludic_deepeval.text import folded

# Said of the story as a whole, with figures in the message that change while the finding stays the same.
_WITH_FIGURES: Final = frozenset({"few-hooks", "flat-events", "few-people", "too-many-mysteries", "unscored"})
# The state of the reading: told as a change of state, not as a finding that came or went.
_STATE: Final = frozenset({"unread", "stale", "unscored"})


@dataclass(frozen=True, slots=True)
class Difference:
    """What a writer wants to know after an edit.

    Attributes:
        figures: "LPI 0.62 → 0.71", and changes of the verdict as a whole.
        mended: Findings that are gone, as their messages.
        new: Findings that have come.
    """

    figures: tuple[str, ...] = ()
    mended: tuple[str, ...] = ()
    new: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        """Whether anything changed."""
        return bool(self.figures or self.mended or self.new)


def difference(
    before: StoryResult | InputError | None,
    after: StoryResult | InputError,
    *,
    last: StoryResult | None = None,
) -> Difference:
    """Compare a story's verdict with the one before.

    Args:
        before: The verdict before, or the error that kept the story from one; None when there was no look before.
        after: The verdict now.
        last: The last verdict before an error, to compare with once it is mended.
    """
    if isinstance(after, InputError):
        changed = before is not None and not isinstance(before, InputError)
        return Difference(figures=("it cannot be used any more",) if changed else ())
    if isinstance(before, InputError):
        since = difference(last, after)
        return Difference(("it can be used again", *since.figures), since.mended, since.new)
    if before is None:
        return Difference()
    if before.state != after.state and not (_reading(before) and _reading(after)):
        return Difference(figures=(f"{_state(before)} → {_state(after)}",))
    gone, come = _findings(before, after)
    return Difference(tuple(_figures(before, after)), gone, come)


def _reading(result: StoryResult) -> ScoreCard | None:
    return result.outcome.value.card if isinstance(result.outcome, Scored) else None


def _state(result: StoryResult) -> str:
    if result.state == "read":
        return "as it should be" if result.holds else "not as it should be"
    return "not read" if result.state == "unread" else "not scored"


def _figures(before: StoryResult, after: StoryResult) -> list[str]:
    old, new = _reading(before), _reading(after)
    said = []
    if old and new:
        lpi_gate, pcv_gate = new.policy.lpi_gate, new.policy.pcv_threshold
        said.append(_moved("LPI", old.lpi, new.lpi, lpi_gate, places=2))
        said.append(_moved("PCV", old.pcv, new.pcv, pcv_gate, places=0))
        if before.plays is not None and after.plays is not None and before.plays != after.plays:
            said.append("now ready to play" if after.plays else "no longer ready to play")
    if before.holds != after.holds:
        said.append(f"{_state(before)} → {_state(after)}")
    return [part for part in said if part]


def _moved(
    name: str, old: Fraction | Unscored, new: Fraction | Unscored, gate: Fraction, *, places: int
) -> str:
    one, two = (
        "unscored" if isinstance(value, Unscored) else decimal(value, gate, places=places)
        for value in (old, new)
    )
    return f"{name} {one} → {two}" if one != two else ""


def _findings(before: StoryResult, after: StoryResult) -> tuple[tuple[str, ...], tuple[str, ...]]:
    old, new = _keyed(before.findings), _keyed(after.findings)
    gone = tuple(message for key, message in old.items() if key not in new)
    return gone, tuple(message for key, message in new.items() if key not in old)


def _keyed(findings: tuple[Finding, ...]) -> dict[tuple[str, str, int], str]:
    """Findings by what stays the same of them while lines move and figures change."""
    seen: Counter[tuple[str, str]] = Counter()
    keyed = {}
    for finding in findings:
        if finding.code in _STATE:
            continue
        message = finding.message.removesuffix(" (expected)")
        if finding.code in _WITH_FIGURES:
            about = ""
        elif finding.against is not None or finding.quote is None:
            about = message  # a contradiction names both its sides
        else:
            about = folded(finding.quote)
        key = (finding.code, about)
        keyed[(*key, seen[key])] = message
        seen[key] += 1
    return keyed


def told(change: Difference) -> tuple[str, ...]:
    """The difference in a few lines: figures, what is mended, what is new; or one line that says that nothing is."""
    lines = [f"mended: {message}" for message in change.mended]
    lines += [f"new: {message}" for message in change.new]
    if change.figures:
        lines.insert(0, ", ".join(change.figures))
    return tuple(re.sub(r"\s+", " ", line) for line in lines) or ("the verdict is the same",)
