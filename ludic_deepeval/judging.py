"""Is a reading of a story what is expected of it: by its front matter, else by the policy?"""

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from ludic_deepeval.consistency import ConsistencyReport
from ludic_deepeval.findings import Finding, Placer, of_consistency, of_play
from ludic_deepeval.ledger import FactLedger
from ludic_deepeval.outcome import Unscored
from ludic_deepeval.scoring import ScoreCard
from ludic_deepeval.sources import Story
from ludic_deepeval.sources.markdown import meets

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
    story: Story, reading: Reading, placer: Placer, bible: "Bible | None"
) -> tuple[list[Finding], bool]:
    """Return what there is to tell of a reading, and whether it is what is expected.

    What the front matter expects replaces the default for its figure: no contradiction, and nothing of the policy's
    `fail_on`. An expected fault or miss is told as a note.
    """
    card, report, expect = reading.card, reading.consistency, story.front.expect
    faults = list(of_consistency(report, placer, reading.ledger))
    play = list(of_play(card, placer, reading.ledger, bible))
    own_faults = expect is not None and (expect.consistency is not None or expect.faults is not None)
    own_gate = expect is not None and (expect.gate is not None or expect.quadrant is not None)
    failed = bool(faults) and not own_faults
    if own_faults:
        faults = [_softened(finding) for finding in faults]
    if own_gate:
        play = [_softened(finding) for finding in play]
    elif "gate" in card.policy.fail_on and not isinstance(card.gate, Unscored) and not card.gate.passed:
        failed = True
    if "mysteries" in card.policy.fail_on and any(row.hole is False for row in card.mysteries):
        failed = failed or expect is None or expect.rejected_mysteries is None
    broken = [
        placer.at(0, "expectation", "error", message) for message in (unmet(story, reading) if expect else ())
    ]
    return [*broken, *faults, *play], not (failed or broken)


def _softened(finding: Finding) -> Finding:
    return replace(finding, severity="note", message=f"{finding.message} (expected)")


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
