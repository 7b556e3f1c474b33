"""What a model's readings are worth beside the marks that people made: figures, and no verdict.

Written before any model was asked. There are no thresholds, for nobody knows yet which would be right.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from ludic_deepeval.agreement import compare
from ludic_deepeval.check import Checker
from ludic_deepeval.errors import ModelError
from ludic_deepeval.lockfile import Lockfile, load_lockfile
from ludic_deepeval.notary import Extraction
from ludic_deepeval.outcome import Unscored
from ludic_deepeval.scoring import Gate, ScoreCard
from ludic_deepeval.sources import Story
from ludic_deepeval.sources.markdown import find_stories, read_story

Row = dict[str, Any]


def gold_stories(folder: Path) -> list[Story]:
    """The stories of a folder that people have marked, shortest first; of those that share their prose, one."""
    found: dict[str, Story] = {}
    for path in find_stories([folder]):
        story = read_story(path)
        if story.lockfile.is_file() and load_lockfile(story.lockfile).notary.kind == "hand":
            found.setdefault(story.prose.sha256, story)
    return sorted(found.values(), key=lambda story: (len(story.prose.body), story.id))


def measured(story: Story, outcome: Extraction | ModelError) -> Row:
    """Lay a reading beside the marks.

    F1 is given for every reading, of the items that rest on the prose. The errors of LPI and PCV (the reading's less the
    marks') and the gate are null, with the reason, where the reading is not scored.
    """
    if isinstance(outcome, ModelError):
        return {"story": story.id, "failed": outcome.kind, "reason": str(outcome)}
    checker = Checker()
    gold = checker.read(story, load_lockfile(story.lockfile))
    lock = outcome.lock
    found = compare(gold.ledger, lock.ledger, checker.policy_for(story), names=gold.names)
    why = lock.too_little_grounded
    return {
        "story": story.id,
        "unscored": why.reason if isinstance(why, Unscored) else None,
        "kinds": {
            row.kind: {
                "marked": row.first,
                "read": row.second,
                "matched": row.matched,
                "same_answers": row.same,
                "f1": number(row.f1),
            }
            for row in found.kinds
        },
        "ungrounded": len(lock.ungrounded),
        "asked_again": outcome.asked_again,
        "lpi": beside(found.first.lpi, found.second.lpi, why),
        "pcv": beside(found.first.pcv, found.second.pcv, why),
        "gate": {"marked": passed(found.first), "read": None if why else passed(found.second)},
    }


def second_readings(stories: Sequence[Story]) -> list[Row]:
    """The same for those stories that a second reader has marked: how far two careful readers are apart."""
    rows = []
    for story in stories:
        second = story.lockfile.with_name(story.lockfile.name.replace(".ledger.json", ".second.ledger.json"))
        if second.is_file():
            rows.append(measured(story, Extraction(load_lockfile(second))))
    return rows


def beside(marked: Fraction | Unscored, read: Fraction | Unscored, why: Unscored | None) -> Row:
    """A figure by the marks, by the reading, and the second less the first."""
    one = None if isinstance(marked, Unscored) else marked
    other = None if why or isinstance(read, Unscored) else read
    error = None if one is None or other is None else other - one
    return {"marked": number(one), "read": number(other), "error": number(error)}


def passed(card: ScoreCard) -> bool | None:
    """Whether the gate is passed; None where it was not measured."""
    return card.gate.passed if isinstance(card.gate, Gate) else None


def number(value: Fraction | None) -> float | None:
    return None if value is None else round(float(value), 4)


def pooled(rows: Sequence[Row]) -> Row:
    """All stories together: F1 over all items of a kind, mean errors with their denominators, the gate's agreement."""
    read = [row for row in rows if "kinds" in row]
    kinds: Row = {}
    for kind in read[0]["kinds"] if read else ():
        count = {
            name: sum(row["kinds"][kind][name] for row in read)
            for name in ("marked", "read", "matched", "same_answers")
        }
        total = count["marked"] + count["read"]
        kinds[kind] = count | {"f1": number(Fraction(2 * count["matched"], total) if total else None)}
    gates = [row["gate"] for row in read if None not in row["gate"].values()]
    return {
        "stories": len(rows),
        "failed": len(rows) - len(read),
        "unscored": sum(row["unscored"] is not None for row in read),
        "kinds": kinds,
        "lpi": mean_errors([row["lpi"]["error"] for row in read]),
        "pcv": mean_errors([row["pcv"]["error"] for row in read]),
        "gate": {"of": len(gates), "agree": sum(gate["marked"] == gate["read"] for gate in gates)},
    }


def mean_errors(errors: Sequence[float | None]) -> Row:
    """The mean of errors and of their sizes, over those that there are."""
    known = [error for error in errors if error is not None]
    of = len(known)
    return {
        "of": of,
        "mean": round(sum(known) / of, 4) if of else None,
        "mean_absolute": round(sum(map(abs, known)) / of, 4) if of else None,
    }


def repeated(story: Story, outcomes: Mapping[int, Extraction | ModelError]) -> Row:
    """How far readings of one story are alike: in all that was read, by F1 with the first, and in the figures."""
    locks = [one.lock for one in outcomes.values() if isinstance(one, Extraction)]
    rows = [measured(story, one) for one in outcomes.values()]
    if not locks:
        return {"story": story.id, "readings": len(outcomes), "failed": len(outcomes)}
    scored = [row for row in rows if "kinds" in row]
    return {
        "story": story.id,
        "readings": len(outcomes),
        "failed": len(outcomes) - len(locks),
        "identical_to_the_first": sum(all_read(lock) == all_read(locks[0]) for lock in locks[1:]),
        "f1_with_the_first": [f1_of_all(locks[0], lock) for lock in locks[1:]],
        "lpi": [row["lpi"]["read"] for row in scored],
        "pcv": [row["pcv"]["read"] for row in scored],
        "gate": [row["gate"]["read"] for row in scored],
    }


def all_read(lock: Lockfile) -> tuple[object, ...]:
    """What a reading says, with what was set apart: two that kept nothing are not alike for that."""
    return lock.ledger, lock.ungrounded


def f1_of_all(first: Lockfile, second: Lockfile) -> float | None:
    """F1 over the items of all kinds."""
    kinds = compare(first.ledger, second.ledger).kinds
    total = sum(row.first + row.second for row in kinds)
    return number(Fraction(2 * sum(row.matched for row in kinds), total) if total else None)
