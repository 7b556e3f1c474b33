"""Scripted drafts for the study of orthogonality: a life, what was retrieved for it, and what a rule writes from that.

Contradictions of the right version and unresolved mysteries are planted in known numbers, each independent of the other. The
life and its mysteries are the same in every condition; facts and contradictions are the condition's.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Final, Literal, TypeAlias, get_args

from ludic_deepeval.bible import open_bible
from ludic_deepeval.ledger import PHASES, FactLedger, Phase, load_ledger
from ludic_deepeval.outcome import Outcome, Scored, Unscored
from ludic_deepeval.policy import Policy
from ludic_deepeval.scoring import score_ledger
from ludic_deepeval.vagueness import Names, Vagueness, measure
from trulens_feedback import edits
from trulens_feedback.contradiction import Kind
from trulens_feedback.lexical import LexicalJudge
from trulens_feedback.lore import lore_faults
from trulens_feedback.retrieval import (
    Bm25Retriever,
    Chunk,
    NoRetriever,
    Retriever,
    chunks_of,
    phase_queries,
    retrieve_phases,
)
from trulens_feedback.setting import Setting
from trulens_feedback.statements import Background
from trulens_feedback.triad import groundedness, phase_relevance

Condition: TypeAlias = Literal["right", "none", "wrong", "stale"]
CONDITIONS: Final[tuple[Condition, ...]] = get_args(Condition)
_PEOPLE: Final = ("Hanne Voss", "Old Tibb", "Marit Sand", "Joss Kell", "the widow Ames")
OPENNESS: Final = (0, 1, 2, 3, 4)
FACTS: Final = 6
_NAME_FIRST: Final = Fraction(1, 6)  # mysteries so short that one known name decides over Eq 11
# How likely each of the writer's slots for a fact becomes a contradiction of the right version, and of what kind.
_RATES: Final[dict[Condition, float]] = {"right": 0.1, "none": 0.5, "wrong": 0.1, "stale": 0.35}
_KINDS: Final[dict[Condition, tuple[Kind, ...]]] = {
    "right": ("denied", "swapped"),
    "none": ("denied", "swapped", "allegiance", "law"),
    "wrong": ("allegiance", "law"),
    "stale": ("retired",),
}
_LIVES: Final = (
    "I was born in the back of a cart and weaned on the smell of lamp oil.",
    "My mother mended harness and never told me what she had been before.",
    "At fifteen I broke my wrist and learnt to write with the other hand.",
    "I have owed the same man eleven coins for as long as I can remember.",
    "My brother went out for bread and came home a soldier.",
    "I keep my father's boots by the door, and they do not fit me.",
)


@dataclass(frozen=True, slots=True)
class Draft:
    """A scripted draft, and what was planted in it.

    Attributes:
        prose: Its text.
        bare: The same without its mysteries.
        ledger: Its ledger, written with it.
        faults: How many contradictions of the right version were planted.
        mysteries: How many unresolved mysteries were planted.
    """

    prose: str
    bare: str
    ledger: FactLedger
    faults: int
    mysteries: int


@dataclass(frozen=True, slots=True)
class Row:
    """One cell of the design, planted and measured.

    Attributes:
        condition: What the writer was given.
        openness: Mysteries planted.
        seed: The draft's seed; the same in all conditions.
        planted: Contradictions planted.
        faults: Contradictions of the right version that the lore check found.
        in_world: Groundedness against the right version; None when unscored.
        bare: The same of the draft without its mysteries.
        closed: Planted mysteries that name too much to pass Eq 11.
        in_retrieved: Groundedness against what the writer was given; None when unscored.
        relevance: Mean context relevance over the phases; None when nothing was retrieved.
        open_found: Statements set apart as open.
        lpi: LPI of the ledger, with the names of the bible that the writer was given.
    """

    condition: Condition
    openness: int
    seed: int
    planted: int
    faults: int
    in_world: float | None
    bare: float | None
    closed: int
    in_retrieved: float | None
    relevance: float | None
    open_found: int
    lpi: float | None


class Design:
    """The bibles of the four conditions.

    Args:
        folder: The folder `bible` of this repository.
        right: The version of the world that holds.
        stale: An earlier one.
        wrong: Another setting.
    """

    def __init__(
        self,
        folder: Path,
        right: str = "ember-road@v2",
        stale: str = "ember-road@v1",
        wrong: str = "faerun@v1",
    ) -> None:
        self.world = Setting(open_bible(str(folder / right)))
        self._all = chunks_of(self.world.bible)
        self.given: dict[Condition, Setting | None] = {
            "right": self.world,
            "none": None,
            "wrong": Setting(open_bible(str(folder / wrong))),
            "stale": Setting(open_bible(str(folder / stale))),
        }
        self._retrievers: dict[Condition, Retriever] = {
            condition: Bm25Retriever(given.bible) if given else NoRetriever()
            for condition, given in self.given.items()
        }
        self._judge = LexicalJudge()
        self._policy = Policy()

    def ledger(self, openness: int, seed: int) -> FactLedger:
        """The life that a draft tells, with its mysteries: the same in every condition."""
        rng = random.Random(f"{seed}/{openness}")  # noqa: S311  # a design, no secret
        return _ledger(rng, self.world, [self._mystery(rng) for _ in range(openness)])

    def _mystery(self, rng: random.Random) -> str:
        if rng.random() < _NAME_FIRST:
            people = [node.name for node in self.world.bible.people if node.retired is None]
            return f"{rng.choice(people)} never said {rng.choice(('why', 'who', 'how'))}."
        return edits.opening(self.world, rng).text

    def retrieved(self, condition: Condition, ledger: FactLedger) -> Mapping[Phase, tuple[Chunk, ...]]:
        """What a condition's writer is given for each phase of the life."""
        found = retrieve_phases(self._retrievers[condition], phase_queries(ledger))
        return {phase: tuple(hit.chunk for hit in hits) for phase, hits in found.items()}

    def draft(self, condition: Condition, seed: int, ledger: FactLedger, chunks: Sequence[Chunk]) -> Draft:
        """Write one draft from what was retrieved, with contradictions of the right version at the condition's rate."""
        rng = random.Random(f"{seed}/{len(ledger.mysteries)}/{condition}")  # noqa: S311
        given = self.given[condition]
        known = _facts(given, chunks, self.world, stale=condition == "stale") if given else []
        sentences, faults = rng.sample(_LIVES, 4), 0
        for _ in range(FACTS):
            if rng.random() < _RATES[condition]:
                sentences.append(edits.contradiction(self.world, rng, rng.choice(_KINDS[condition])).text)
                faults += 1
            elif known:
                sentences.append(rng.choice(known))
        planted = [edits.Edit("open", mystery.text) for mystery in ledger.mysteries]
        bare = " ".join(sentences)
        return Draft(edits.inserted(bare, planted, rng), bare, ledger, faults, len(planted))

    def measure(self, condition: Condition, openness: int, seed: int) -> Row:
        """Write one draft and measure it."""
        ledger = self.ledger(openness, seed)
        found = self.retrieved(condition, ledger)
        read = tuple({chunk.id: chunk for chunks in found.values() for chunk in chunks}.values())
        draft = self.draft(condition, seed, ledger, read)
        own = self.given[condition] or self.world
        background = Background(ledger, world=(*self.world.bible.names, *own.bible.names))
        in_world = groundedness(draft.prose, self._all, self.world, self._judge, background=background)
        in_read = groundedness(draft.prose, read, own, self._judge, background=background)
        rated = phase_relevance(phase_queries(ledger), found, own, self._judge).values()
        scores = [one.score.value for one in rated if isinstance(one.score, Scored)]
        return Row(
            condition=condition,
            openness=openness,
            seed=seed,
            planted=draft.faults,
            faults=len({one.statement for one in lore_faults(draft.prose, self.world, ledger=ledger)}),
            in_world=_number(in_world.score),
            bare=_number(
                groundedness(draft.bare, self._all, self.world, self._judge, background=background).score
            ),
            closed=sum(self._is_closed(mystery.text, ledger) for mystery in ledger.mysteries),
            in_retrieved=_number(in_read.score),
            relevance=float(sum(scores, Fraction(0)) / len(scores)) if scores else None,
            open_found=in_world.counts["open"],
            lpi=_lpi(ledger, self._policy, self.given[condition]),
        )

    def _is_closed(self, text: str, ledger: FactLedger) -> bool:
        found = measure(text, Names(ledger, self.world.bible.names))
        return isinstance(found, Vagueness) and not found.is_hole(self._policy.density)


def _facts(given: Setting, chunks: Sequence[Chunk], world: Setting, *, stale: bool) -> list[str]:
    """The facts of the nodes that were retrieved. Of a stale bible only what still holds: its faults are planted, and counted."""
    nodes = {chunk.node for chunk in chunks}
    return [
        text
        for node, text in edits.facts(given)
        if node.id in nodes and (not stale or ((now := world.bible.find(node.id)) and now[1] == node))
    ]


def _ledger(rng: random.Random, world: Setting, mysteries: Sequence[str]) -> FactLedger:
    """A life that passes through the world: what is open in it is drawn, and does not depend on any condition."""
    places = [node.name for node in world.bible.locations if node.retired is None]
    factions = [node.name for node in world.bible.factions if node.retired is None]
    events = [
        {
            "id": f"e{at}",
            "phase": phase,
            "summary": f"a debt to {rng.choice(factions)} is left open in {(place := rng.choice(places))}",
            "location": place,
            **{name: rng.randint(3, 9) for name in ("immediacy", "gravity", "linkage", "divergence")},
        }
        for at, phase in enumerate(PHASES)
    ]
    hooks = [
        {"id": f"h{at}", "text": "somebody is owed", "tier": rng.randint(1, 3), "open": rng.random() < 0.8}
        for at in range(rng.randint(1, 5))
    ]
    npcs = [
        {"id": f"n{at}", "name": name, "status": "alive", "tie": "debtor", "unresolved": rng.random() < 0.7}
        for at, name in enumerate(rng.sample(_PEOPLE, rng.randint(1, 4)))
    ]
    goals = [{"id": f"g{at}", "text": "to pay", "proactive": True} for at in range(rng.randint(0, 2))]
    return load_ledger(
        {
            "schema_version": 1,
            "protagonist": "the carter",
            "npcs": npcs,
            "events": events,
            "hooks": hooks,
            "goals": goals,
            "mysteries": [{"id": f"m{at}", "text": text} for at, text in enumerate(mysteries)],
        }
    )


def _number(outcome: Outcome[Fraction]) -> float | None:
    return float(outcome.value) if isinstance(outcome, Scored) else None


def _lpi(ledger: FactLedger, policy: Policy, given: Setting | None) -> float | None:
    """LPI with the names that a condition's bible has: by Eq 11 they decide over what begins a sentence."""
    found = score_ledger(ledger, policy, names=given.bible.names if given else ()).lpi
    return None if isinstance(found, Unscored) else float(found)
