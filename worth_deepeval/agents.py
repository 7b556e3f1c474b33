"""Scripted readers with known faults: what a diagnosis must be able to tell apart, without any model.

Each writes a whole reply as a model would. They know the key, as no model may; they serve to test the report, and their
figures say nothing about any model.
"""

import json
import random
from collections.abc import Callable
from typing import Final, TypeAlias

from worth_deepeval.episode import Sheet

Choice: TypeAlias = tuple[list[str], list[str]]
Agent: TypeAlias = Callable[[Sheet, random.Random], Choice]

# How loudly a sentence speaks. What decides the case is told in passing (§4.2), so that the decisive ones are quiet.
_LOUD: Final = {"weak": 2.0, "strong": 6.0, "decisive": 0.3, None: 1.0}


def at_random(sheet: Sheet, rng: random.Random) -> Choice:
    """Any sentences, up to the quota, and any candidates, each at evens."""
    return _sentences(sheet, rng, lambda _: 1.0), [
        one.id for one in sheet.episode.candidates if rng.random() < 0.5
    ]


def salience_greedy(sheet: Sheet, rng: random.Random) -> Choice:
    """What throws suspicion, loudest first, and whoever is most suspected; blind to what clears them."""
    loud = {note.sentence: _LOUD[note.force] for note in sheet.key.annotations if note.role != "exoneration"}
    suspects = sorted(
        (sum(8.0 for _ in one.incriminating) * rng.uniform(0.6, 1.4), one.role)
        for one in sheet.key.distractors
    )
    for note in sheet.key.annotations:
        if note.role == "suspicion":
            loud[note.sentence] = loud.get(note.sentence, 1.0) * 3
    for note in sheet.key.annotations:
        if note.role == "exoneration":
            loud[note.sentence] = 0.02
    return _sentences(sheet, rng, lambda one: loud.get(one, 0.3)), [role for _, role in suspects[-2:]]


def attractor_bound(sheet: Sheet, rng: random.Random) -> Choice:
    """Any sentences; nine times in ten the same people, all of them wrong."""
    wrong = [one.role for one in sheet.key.distractors]
    if rng.random() < 0.1:
        wrong = wrong[:-1]
    return _sentences(sheet, rng, lambda _: 1.0), wrong


def finds_but_misconcludes(sheet: Sheet, rng: random.Random) -> Choice:
    """Most of K, and people drawn by lot."""
    key = set(sheet.key.sentences)
    return (
        _sentences(sheet, rng, lambda one: 25.0 if one in key else 1.0),
        rng.sample([one.id for one in sheet.episode.candidates], len(sheet.key.guilty)),
    )


def over_cautious(sheet: Sheet, rng: random.Random) -> Choice:
    """Few sentences; nobody, or one participant: never wrong, and never done."""
    named = [rng.choice(sorted(sheet.key.guilty))] if rng.random() < 0.6 else []
    return _sentences(sheet, rng, lambda _: 1.0, share=0.3), named


def evidence_responsive(sheet: Sheet, rng: random.Random) -> Choice:
    """Most of K, and the participants, now and then short of one."""
    key = set(sheet.key.sentences)
    return (
        _sentences(sheet, rng, lambda one: 25.0 if one in key else 1.0),
        [role for role in sorted(sheet.key.guilty) if rng.random() < 0.85],
    )


AGENTS: Final[dict[str, Agent]] = {
    "random": at_random,
    "salience-greedy": salience_greedy,
    "attractor-bound": attractor_bound,
    "finds-but-misconcludes": finds_but_misconcludes,
    "over-cautious": over_cautious,
    "evidence-responsive": evidence_responsive,
}


def reply(name: str, sheet: Sheet, seed: int) -> str:
    """Return the reply of one scripted reader: all seven fields, valid selections; the same seed, the same reply.

    Raises:
        KeyError: There is no reader of that name.
    """
    rng = random.Random(f"{name} {sheet.episode.id} {seed}")  # noqa: S311  # a script's choices, no secret
    clues, named = AGENTS[name](sheet, rng)
    body = {
        "episode_id": sheet.episode.id,
        "clue_sentence_ids": clues,
        "selected_role_ids": named,
        "clue_interpretations": [{"sentence_id": one, "interpretation": "scripted"} for one in clues],
        "evidence_combination": "scripted",
        "final_conclusion": "scripted",
        "confidence": 50,
    }
    return json.dumps(body)


def _sentences(
    sheet: Sheet, rng: random.Random, weight: Callable[[str], float], *, share: float = 1.0
) -> list[str]:
    """Draw sentences without replacement, in proportion to their weight (Efraimidis and Spirakis), in story order."""
    wanted = max(1, round(sheet.episode.quota.sentences * share))
    drawn = sorted(
        (one.id for one in sheet.episode.sentences), key=lambda one: -(rng.random() ** (1 / weight(one)))
    )
    return sorted(drawn[:wanted])
