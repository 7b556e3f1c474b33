"""Hand-labelled reuse pairs: how often a labeller is right about them, and what its errors do to E_a.

A pair is a person or thread as a plan might word it, the story whose ledger it is held against, and the label that a person
gave it. The pairs are full of traps on purpose, so a rate here is a rate on traps and no estimate for real plans.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Literal, Self, TypeAlias

from pydantic import Field, model_validator

from ludic_deepeval.effort import Verdict
from ludic_deepeval.errors import InputError, ModelError, shown
from ludic_deepeval.files import MAX_YAML_BYTES, decode, load_yaml, read_bytes
from ludic_deepeval.ledger import Frozen, Id, Text, load_model
from ludic_deepeval.llm.client import unscored
from ludic_deepeval.lockfile import load_lockfile
from ludic_deepeval.outcome import Unscored
from ludic_deepeval.reuse import closest_item, lexical_labels
from ludic_deepeval.session import MOST, Emitted, Known, Told, known_items

if TYPE_CHECKING:
    from ludic_deepeval.llm.budget import Meter
    from ludic_deepeval.llm.client import ChatModel

Part: TypeAlias = Literal["development", "held-out"]
Trap: TypeAlias = Literal[
    "same-name",  # a name or alias of the ledger, letter for letter
    "title",  # a known person under a title, a description, a longer or a shorter name
    "spoken-of",  # somebody who has no line of their own, but whom a line speaks of
    "close-wording",  # a thread in nearly the ledger's words
    "paraphrase",  # a thread in other words
    "translation",  # in another language than the ledger
    "works-for-known",  # a new person who works for a known one
    "namesake",  # a new person who shares a known one's name
    "same-place",  # a new person of a known place, house or faction
    "not-in-ledger",  # in the prose, but not in the ledger, which decides
    "negation",  # a known thread turned round
    "shared-words",  # another thread in a known one's words
    "unrelated",  # new, and like nothing
    "undecided",  # two careful readers would disagree
]
LABELS: Final[tuple[Verdict, ...]] = ("reused", "invented", "ambiguous")
Labeller: TypeAlias = Callable[[Sequence[Emitted], Sequence[Known]], Sequence[Told]]


class _Line(Frozen):
    npc: Text | None = None
    hook: Text | None = None
    role: Text | None = None
    label: Verdict
    item: Text | None = None
    trap: Trap

    @model_validator(mode="after")
    def _is_one_thing(self) -> Self:
        if (self.npc is None) == (self.hook is None):
            raise ValueError("@npc@not one of npc and hook; allowed: one of them")
        if (self.label == "reused") != (self.item is not None):
            raise ValueError(f"@item@found {shown(self.item)}; allowed: an id when the label is reused")
        return self


class _Story(Frozen):
    story: Id
    part: Part
    pairs: Annotated[tuple[_Line, ...], Field(max_length=1000)]


class _File(Frozen):
    version: Annotated[int, Field(strict=True, ge=1)]
    stories: Annotated[tuple[_Story, ...], Field(max_length=200)]


@dataclass(frozen=True)
class Pair:
    """One hand-labelled pair.

    Attributes:
        story: Whose ledger it is held against.
        part: development, on which the threshold was chosen, or held-out.
        emitted: The person or thread.
        label: What a person said of it.
        item: What it rests on, when it is reused.
        trap: What is hard about it.
    """

    story: str
    part: Part
    emitted: Emitted
    label: Verdict
    item: str | None
    trap: Trap


@dataclass(frozen=True)
class Pairs:
    """Pairs, and what each story's ledger holds."""

    pairs: tuple[Pair, ...]
    known: Mapping[str, tuple[Known, ...]]


def load_pairs(path: Path, stories: Path) -> Pairs:
    """Read pairs, and the lockfiles of their stories.

    Args:
        path: The YAML file.
        stories: The folder of the lockfiles.

    Raises:
        InputError: It is no file of pairs, a story has no lockfile, or a pair rests on an item that there is not.
    """
    data = load_yaml(decode(read_bytes(path, limit=MAX_YAML_BYTES), path), path)
    if not isinstance(data, dict):
        raise InputError(path, f"found {shown(data)}", allowed="version and stories")
    known: dict[str, tuple[Known, ...]] = {}
    pairs: list[Pair] = []
    for story in load_model(_File, data, path).stories:
        ledger = load_lockfile(stories / f"{story.story}.ledger.json").ledger
        known[story.story] = known_items(ledger)
        ids = {item.id for item in known[story.story]}
        for line in story.pairs:
            if line.item is not None and line.item not in ids:
                raise InputError(path, f"{shown(line.item)} is no item of the ledger", where=story.story)
            emitted = (
                Emitted("npc", line.npc, line.role or "") if line.npc else Emitted("hook", line.hook or "")
            )
            pairs.append(Pair(story.story, story.part, emitted, line.label, line.item, line.trap))
    return Pairs(tuple(pairs), known)


@dataclass(frozen=True)
class Result:
    """How a labeller did.

    Attributes:
        pairs: What it was asked about.
        told: Its labels, in the same order.
    """

    pairs: tuple[Pair, ...]
    told: tuple[Told, ...]

    @property
    def confusion(self) -> dict[tuple[Verdict, Verdict], int]:
        """How often a hand label (first) met a label of the labeller (second)."""
        counts = Counter((pair.label, told.label) for pair, told in zip(self.pairs, self.told, strict=True))
        return {(hand, said): counts[hand, said] for hand in LABELS for said in LABELS}

    @property
    def right(self) -> int:
        """How many labels are the hand's."""
        return sum(pair.label == told.label for pair, told in zip(self.pairs, self.told, strict=True))

    @property
    def right_item(self) -> tuple[int, int]:
        """Of what both call reused: how many rest on the same item, of how many."""
        both = [
            pair.item == told.item
            for pair, told in zip(self.pairs, self.told, strict=True)
            if pair.label == told.label == "reused"
        ]
        return sum(both), len(both)

    @property
    def efforts(self) -> tuple[Fraction | None, Fraction | None]:
        """E_a by hand, and by the labeller: each over what it told reused or invented, in [0, 1]."""
        return _effort([pair.label for pair in self.pairs]), _effort([told.label for told in self.told])

    @property
    def bias(self) -> Fraction | None:
        """How much the labeller's errors add to E_a, in [-1, 1], over the pairs that the hand told apart."""
        told_apart = self.only(lambda pair: pair.label != "ambiguous")
        hand, said = told_apart.efforts
        return None if hand is None or said is None else said - hand

    def only(self, wanted: Callable[[Pair], bool]) -> "Result":
        """The part of it that is about some pairs."""
        kept = [both for both in zip(self.pairs, self.told, strict=True) if wanted(both[0])]
        return Result(tuple(pair for pair, _ in kept), tuple(told for _, told in kept))

    def by_trap(self) -> dict[Trap, tuple[int, int]]:
        """For each kind of trap: how many labels are right, of how many; in the order in which they first stand."""
        found: dict[Trap, tuple[int, int]] = {}
        for pair, told in zip(self.pairs, self.told, strict=True):
            right, of = found.get(pair.trap, (0, 0))
            found[pair.trap] = (right + (pair.label == told.label), of + 1)
        return found


def _effort(labels: Sequence[Verdict]) -> Fraction | None:
    counts = Counter(labels)
    told = counts["reused"] + counts["invented"]
    return Fraction(counts["invented"], told) if told else None


def evaluate(pairs: Pairs, labeller: Labeller = lexical_labels) -> Result:
    """Have every pair labelled, story by story, and keep the labels beside the hand's."""
    told: dict[int, Told] = {}
    for story, known in pairs.known.items():
        at = [number for number, pair in enumerate(pairs.pairs) if pair.story == story]
        told |= zip(at, labeller([pairs.pairs[number].emitted for number in at], known), strict=True)
    return Result(pairs.pairs, tuple(told[number] for number in range(len(pairs.pairs))))


def judged(pairs: Pairs, judge: "ChatModel", *, meter: "Meter | None" = None) -> tuple[Result, list[str]]:
    """Have a model label the pairs, a call for at most twenty-four of one story, as it labels an outline.

    Returns:
        Its labels, and why those are missing that it did not give; they are left out of the result.

    Raises:
        ModelError: Nothing can be asked at all: no server, no such model, no key, no recording.
    """
    from ludic_deepeval.llm.loop import run  # noqa: PLC0415  # the baseline needs no model
    from ludic_deepeval.stress import label  # noqa: PLC0415

    told: dict[int, Told] = {}
    missing: list[str] = []
    for story, known in pairs.known.items():
        mine = [number for number, pair in enumerate(pairs.pairs) if pair.story == story]
        for first in range(0, len(mine), 2 * MOST):
            at = mine[first : first + 2 * MOST]
            emitted = [pairs.pairs[number].emitted for number in at]
            try:
                found = run(label(emitted, known, judge, meter=meter))
            except ModelError as error:
                if error.for_all or error.kind == "unrecorded":
                    raise
                found = unscored(error)
            if isinstance(found, Unscored):
                missing.append(f"{story}: {len(at)} pairs without a label: {found.reason}")
            else:
                told |= zip(at, found, strict=True)
    kept = sorted(told)
    return Result(
        tuple(pairs.pairs[number] for number in kept), tuple(told[number] for number in kept)
    ), missing


def best_threshold(pairs: Pairs, part: Part = "development") -> int:
    """Return the threshold for threads that tells a part's reused and invented ones apart best.

    Best is the highest mean of the two rates of right labels (so that it does not matter which label is more frequent); of
    several thresholds that do equally well the middle one is taken.
    """
    scores = [
        (closest_item(pair.emitted.text, pairs.known[pair.story])[0], pair.label)
        for pair in pairs.pairs
        if pair.part == part and pair.emitted.kind == "hook" and pair.label != "ambiguous"
    ]
    reused = [score for score, label in scores if label == "reused"]
    invented = [score for score, label in scores if label == "invented"]

    def quality(threshold: int) -> Fraction:
        kept = Fraction(sum(score >= threshold for score in reused), len(reused))
        left = Fraction(sum(score < threshold for score in invented), len(invented))
        return kept + left

    best = max(map(quality, range(101)))
    equal = [threshold for threshold in range(101) if quality(threshold) == best]
    return equal[len(equal) // 2]
