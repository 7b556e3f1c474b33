"""Is a reading of a story what is expected of it: by its front matter, else by the policy?"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from ludic_deepeval.codes import LORE_CODES
from ludic_deepeval.consistency import ConsistencyReport
from ludic_deepeval.errors import clean
from ludic_deepeval.findings import Finding, Placer, of_consistency, of_play
from ludic_deepeval.ledger import FactLedger
from ludic_deepeval.outcome import Unscored
from ludic_deepeval.policy import Policy
from ludic_deepeval.scoring import ScoreCard
from ludic_deepeval.sources import Story
from ludic_deepeval.sources.markdown import Intentional, meets

if TYPE_CHECKING:  # a story without a bible does not pay for its models
    from ludic_deepeval.bible import Bible


@dataclass(frozen=True)
class Reading:
    """A story with its ledger, ready to be judged.

    Attributes:
        ledger: The recorded ledger with the front matter's background log in it.
        card: Its scores.
        consistency: Its contradictions.
        names: The bible's names, which the scores were computed with.
    """

    ledger: FactLedger
    card: ScoreCard
    consistency: ConsistencyReport
    names: tuple[str, ...]


def figures(reading: Reading) -> dict[str, Any]:
    """The figures of one reading as plain values, None where unmeasured."""
    card = reading.card

    def edge(value: object) -> Any:
        return None if isinstance(value, Unscored) else float(value) if isinstance(value, Fraction) else value

    return {
        "lpi": edge(card.lpi),
        **{name: edge(value) for name, value in card.components.items()},
        "pcv": edge(card.pcv),
        "tier": edge(card.tier),
        "quadrant": edge(card.quadrant),
        "gate": None if isinstance(card.gate, Unscored) else card.gate.passed,
        "consistency": reading.consistency.score,
        "faults": len(reading.consistency.faults),
    }


def judge(
    story: Story,
    reading: Reading,
    placer: Placer,
    bible: "Bible | None",
    lore: Sequence[Finding] | None = None,
) -> list[Finding]:
    """Return what there is to tell of a reading; `lore` is what the prose itself gets wrong about a bible, if it was held against one.

    What the front matter expects replaces the default for its figure: no contradiction, and nothing of the policy's
    `fail_on`. An expected fault or miss is told as a note, and so is what is marked intentional.
    """
    card, report, expect = reading.card, reading.consistency, story.front.expect
    faults = list(of_consistency(report, placer, reading.ledger))
    play = list(of_play(card, placer, reading.ledger, bible))
    if expect is not None and (expect.consistency is not None or expect.faults is not None):
        faults = [_softened(finding) for finding in faults]
    if expect is not None and (expect.gate is not None or expect.quadrant is not None):
        play = [_softened(finding) for finding in play]
    elif expect is not None and expect.rejected_mysteries is not None:
        play = [_softened(one) if one.code == "told-mystery" else one for one in play]
    broken = [placer.at(0, "expectation", message) for message in (unmet(story, reading) if expect else ())]
    return [
        *broken,
        *without_the_meant([*faults, *play, *(lore or ())], marks_for(story, lore=lore is not None)),
    ]


def marks_for(story: Story, *, lore: bool) -> tuple[Intentional, ...]:
    """The front matter's marks; those of lore are looked at only where lore is."""
    return tuple(mark for mark in story.front.intentional if lore or mark.code not in LORE_CODES)


def _softened(finding: Finding) -> Finding:
    return replace(finding, severity="note", status="expected", message=f"{finding.message} (expected)")


def graded(findings: list[Finding], policy: Policy) -> list[Finding]:
    """Give each open finding the policy's severity, and drop those that it turns off."""
    found = []
    for finding in findings:
        severity = policy.severity_of(finding.code)
        if severity != "off":
            found.append(replace(finding, severity=severity) if finding.status == "open" else finding)
    return found


def without_the_meant(findings: list[Finding], marks: tuple[Intentional, ...]) -> list[Finding]:
    """Excuse what the front matter marks as intentional, and tell of marks that excuse nothing."""
    unused = list(marks)
    told = []
    for finding in findings:
        of_this = [mark for mark in marks if mark.means(finding.code, finding.quote)]
        unused = [mark for mark in unused if mark not in of_this]
        told.append(_meant(finding, of_this[0]) if of_this and finding.status == "open" else finding)
    for mark in unused:
        what = f"{mark.code} “{clean(mark.quote)}”" if mark.quote else mark.code
        message = f"marked intentional, but not found: {what}; take the mark out of the front matter"
        told.append(Finding("unused-mark", "error", message, 1, 1))
    return told


def _meant(finding: Finding, mark: Intentional) -> Finding:
    message = f"{finding.message} (intentional: {clean(mark.reason)})"
    return replace(finding, severity="note", status="intentional", reason=mark.reason, message=message)


def unmet(story: Story, reading: Reading) -> list[str]:
    """Each expectation of the front matter that does not hold, as "expected X, got Y"."""
    expect, card, report = story.front.expect, reading.card, reading.consistency
    if expect is None:
        return []
    gate = card.gate
    low: tuple[str, ...] = ()
    if not isinstance(gate, Unscored):
        low = tuple(reason.partition(" ")[0].lower() for reason in gate.reasons)
    rejected = tuple(sorted(row.id for row in card.mysteries if row.hole is False))
    compared: list[tuple[str, object, object]] = [
        ("gate", expect.gate, None if isinstance(gate, Unscored) else ("pass" if gate.passed else "fail")),
        ("reasons", expect.reasons and tuple(sorted(expect.reasons)), tuple(sorted(low))),
        ("quadrant", expect.quadrant, card.quadrant),
        ("tier", expect.tier, card.tier),
        ("consistency", expect.consistency, report.score),
        (
            "faults",
            expect.faults and tuple(sorted(expect.faults)),
            tuple(sorted(fault.code for fault in report.faults)),
        ),
        (
            "rejected_mysteries",
            expect.rejected_mysteries and tuple(sorted(expect.rejected_mysteries)),
            rejected,
        ),
    ]
    broken = [
        f"{name}: expected {_said(want)}, got {_said(got)}"
        for name, want, got in compared
        if want is not None and want != got
    ]
    for name, text, value in (("lpi", expect.lpi, card.lpi), ("pcv", expect.pcv, card.pcv)):
        if text is not None and (isinstance(value, Unscored) or not meets(text, value)):
            got = "nothing" if isinstance(value, Unscored) else f"{float(value):.6g}"
            broken.append(f"{name}: expected {text}, got {got}")
    return broken


def _said(value: object) -> str:
    if isinstance(value, tuple):
        return ", ".join(map(str, value)) or "none"
    return "nothing" if value is None or isinstance(value, Unscored) else str(value)
