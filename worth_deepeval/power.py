"""How often each diagnosis speaks, by how strong what it looks for is: power, and at strength 0 false alarms.

Runs are made by a script in which one thing is true with a known strength e from 0 to 1 and all else is by lot. They are no
model's. A diagnosis speaks when the report would say so: a test at its level, or a trait that a model gets.
"""

import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final, TypeAlias

from ludic_deepeval.stats.exact import sign_test
from ludic_deepeval.stats.intervals import Rate, wilson
from worth_deepeval.compare import sign_flip
from worth_deepeval.diagnosis.confidence import confidence
from worth_deepeval.diagnosis.models import dissociation
from worth_deepeval.diagnosis.neighbours import nearness
from worth_deepeval.diagnosis.profiles import profiles
from worth_deepeval.diagnosis.roles import across, together
from worth_deepeval.diagnosis.sample import Sample
from worth_deepeval.diagnosis.sentences import covariations, pairs
from worth_deepeval.episode import Sheet
from worth_deepeval.response import Response
from worth_deepeval.runs import Run
from worth_deepeval.scoring import score

DRAWS: Final = 99
BOTH: Final = ("full-story", "evidence-cueing")


@dataclass(frozen=True)
class World:
    """Where scripted runs are made.

    Attributes:
        sheet: The episode.
        strength: How strong the thing is, from 0 to 1.
        model: Which model, from 0.
        condition: Which condition.
        rng: What draws.
        shared: A seed that all models of a sample have in common.
    """

    sheet: Sheet
    strength: float
    model: int
    condition: str
    rng: random.Random
    shared: int

    def lot(self, taken: Iterable[str] = (), without: Iterable[str] = ()) -> list[str]:
        """Fill a selection by lot up to the quota."""
        first, barred = list(taken), set(without)
        rest = [
            one.id for one in self.sheet.episode.sentences if one.id not in barred and one.id not in first
        ]
        self.rng.shuffle(rest)
        return (first + rest)[: self.sheet.episode.quota.sentences]

    def people(self, right: float = 0.5) -> list[str]:
        """Name people, each judged rightly with a probability."""
        guilty = self.sheet.key.guilty
        return [
            one.id
            for one in self.sheet.episode.candidates
            if (one.id in guilty) == (self.rng.random() < right)
        ]

    def happens(self) -> bool:
        """Whether the thing happens this time."""
        return self.rng.random() < self.strength


Made: TypeAlias = tuple[list[str], list[str], float]
Maker: TypeAlias = Callable[[World], Made]
Speaks: TypeAlias = Callable[[list[Sample], int], bool]


@dataclass(frozen=True)
class Scenario:
    """One diagnosis and what it looks for.

    Attributes:
        name: The diagnosis.
        strength: What the strength is.
        make: Makes a run.
        speaks: Whether the report speaks.
        level: How often it may speak at strength 0.
        models: How many models a sample has.
        conditions: Under which conditions runs are made.
    """

    name: str
    strength: str
    make: Maker
    speaks: Speaks
    level: float = 0.05
    models: int = 8
    conditions: tuple[str, ...] = ("full-story",)


def rate(
    scenario: Scenario, sheet: Sheet, strength: float, *, runs: int, samples: int, seed: int = 0
) -> Rate:
    """Return how often a diagnosis speaks, of so many samples.

    Args:
        scenario: The diagnosis.
        sheet: The episode.
        strength: From 0 to 1; 0 gives false alarms.
        runs: Runs of each model.
        samples: How many samples are made.
        seed: The same seed, the same rate.
    """
    spoke = 0
    for at in range(samples):
        rng = random.Random(f"{scenario.name} {sheet.episode.id} {strength} {runs} {seed} {at}")  # noqa: S311  # a script's draw
        shared = rng.getrandbits(32)
        made = [
            Sample(
                sheet,
                tuple(
                    _run(scenario, World(sheet, strength, model, condition, rng, shared), number)
                    for model in range(scenario.models)
                    for number in range(runs)
                ),
            )
            for condition in scenario.conditions
        ]
        spoke += scenario.speaks(made, at)
    return wilson(spoke, samples)


def _run(scenario: Scenario, world: World, number: int) -> Run:
    clues, named, said = scenario.make(world)
    response = Response("direct", tuple(clues), tuple(named), "valid", (), {"confidence": said})
    return Run(f"m{world.model}", number + 1, world.condition, response, score(clues, named, world.sheet))


# What runs do


def _finding(world: World) -> Made:
    key = [one for one in world.sheet.key.sentences if world.happens()]
    return world.lot(key), world.people(), 50


def _naming(world: World) -> Made:
    return world.lot(), world.people(0.5 + world.strength / 2), 50


def _suspecting(world: World) -> Made:
    taken, barred = [], []
    for pair in world.sheet.key.pairs:
        if world.happens():
            taken.append(pair.suspicion)
            barred.append(pair.exoneration)
    return world.lot(taken, barred), world.people(), 50


def _insisting(world: World) -> Made:
    wrong = [one.role for one in world.sheet.key.distractors]
    return world.lot(), wrong if world.happens() else world.people(), 50


def _agreeing(world: World) -> Made:
    """With the strength all models name one set; else each its own favourite, nine times in ten."""
    roles = [one.id for one in world.sheet.episode.candidates]
    common = random.Random(world.shared).sample(roles, 3)  # noqa: S311
    own = random.Random(f"{world.shared} {world.model}").sample(roles, 3)  # noqa: S311
    if world.happens():
        return world.lot(), common, 50
    return world.lot(), own if world.rng.random() < 0.9 else world.people(), 50


def _together(world: World) -> Made:
    """With the strength one of two sets of half the candidates is named, by a coin; else all by lot."""
    roles = [one.id for one in world.sheet.episode.candidates]
    half = len(roles) // 2
    two = roles[:half] if world.rng.random() < 0.5 else roles[half:]
    return world.lot(), two if world.happens() else world.people(), 50


def _joined(world: World) -> Made:
    """With the strength a run is good or bad at both; else at each by a coin of its own."""
    first = world.rng.random() < 0.5
    second = first if world.happens() else world.rng.random() < 0.5
    key = world.sheet.key
    clues = world.lot(one for one in key.sentences if first and world.rng.random() < 0.6)
    return clues, sorted(key.guilty) if second else [one.role for one in key.distractors], 50


def _beside(world: World) -> Made:
    """With the strength a neighbour stands for a key sentence that is missed."""
    ids = [one.id for one in world.sheet.episode.sentences]
    key = set(world.sheet.key.sentences)
    near = [
        ids[at + world.rng.choice((-1, 1))]
        for at in range(1, len(ids) - 1)
        if ids[at] in key and world.happens()
    ]
    return world.lot(dict.fromkeys(near), key if world.strength else ()), world.people(), 50


def _leading(world: World) -> Made:
    """One sentence half the time; with the strength a candidate is named exactly with it."""
    roles = world.people()
    role, sentence = world.sheet.episode.candidates[0].id, world.sheet.key.sentences[0]
    chosen = world.rng.random() < 0.5
    if world.happens():
        roles = [one for one in roles if one != role] + ([role] if chosen else [])
    return world.lot([sentence] if chosen else (), () if chosen else [sentence]), roles, 50


def _knowing(world: World) -> Made:
    """Confidence is the total, mixed with noise."""
    clues, named, _ = _joined(World(world.sheet, 0.5, world.model, world.condition, world.rng, world.shared))
    good = len(set(named) & world.sheet.key.guilty) / 3
    said = world.strength * good + (1 - world.strength) * world.rng.random()
    return clues, named, round(100 * said)


def _shifting(world: World) -> Made:
    """Under the other condition people are judged rightly more often."""
    return world.lot(), world.people(0.5 + world.strength / 2 * (world.condition == BOTH[1])), 50


# What the report says


def _trait(code: str) -> Speaks:
    return lambda made, at: any(
        trait.code == code for each in profiles(made[0], seed=at, draws=DRAWS) for trait in each.traits
    )


def _across(made: list[Sample], at: int) -> bool:
    found = across(made[0], seed=at, draws=DRAWS)
    return found is not None and found.p_value <= 0.05


def _together_found(made: list[Sample], at: int) -> bool:
    found = together(made[0], seed=at, draws=DRAWS)
    return found is not None and found.p_value <= 0.05


def _apart(made: list[Sample], at: int) -> bool:
    found = dissociation(made[0], seed=at, draws=DRAWS)
    return found is not None and found.test is not None and found.test.p_value <= 0.05


def _near(made: list[Sample], at: int) -> bool:
    found = nearness(made[0], seed=at, draws=DRAWS).test
    return found is not None and found.p_value <= 0.05


def _sure(made: list[Sample], at: int) -> bool:
    found = confidence(made[0], seed=at, draws=DRAWS).test
    return found is not None and found.p_value <= 0.05


def _shift(made: list[Sample], *, over_models: bool) -> bool:
    """As `contrasts` does it, of this one figure."""
    groups = list(made[0].positions.values())  # both conditions have the same runs in the same order
    points = [[one.participant for one in each.scores] for each in made]
    differences = [b - a for a, b in zip(*points, strict=True)]
    if not over_models:
        return sign_flip(differences) <= 0.05
    leaning = [sum(differences[i] for i in each) for each in groups]
    return sign_test(sum(one > 0 for one in leaning), sum(one < 0 for one in leaning)).p_value <= 0.05


SCENARIOS: Final = (
    Scenario("finds the evidence", "each key sentence is selected, beside the lot", _finding, _trait("finds"), 0.01, 1),
    Scenario("names the right people", "beyond evens that each is judged rightly", _naming, _trait("concludes"), 0.01, 1),
    Scenario("takes suspicion and passes over what clears", "a pair is parted that way", _suspecting, _trait("drawn-to-suspicion"), 0.01, 1),
    Scenario("one wrong answer", "the same wrong people are named", _insisting, _trait("one-wrong-answer"), 0.01, 1),
    Scenario("models agree on an answer (across)", "one set is shared; else each its own favourite", _agreeing, _across),
    Scenario("named together (within models)", "one of two sets is named, by a coin", _together, _together_found),
    Scenario("finding goes with naming", "a run is good or bad at both", _joined, _apart),
    Scenario("watched pair, over runs (McNemar)", "the pair is parted that way", _suspecting, lambda made, _: pairs(made[0])[0].runs.p_value <= 0.05),
    Scenario("watched pair, over models (sign test)", "the pair is parted that way", _suspecting, lambda made, _: pairs(made[0])[0].models.p_value <= 0.05),
    Scenario("beside the key sentences", "a neighbour is selected in place of each", _beside, _near),
    Scenario("a sentence goes with a person (Holm)", "a person is named exactly with a sentence", _leading, lambda made, _: any(one.adjusted <= 0.05 for one in covariations(made[0]))),
    Scenario("confidence goes with points", "weight of being right in what is stated", _knowing, _sure),
    Scenario("conditions differ, over pairs", "beyond evens that each is judged rightly, under one", _shifting, lambda made, _: _shift(made, over_models=False), conditions=BOTH),
    Scenario("conditions differ, over models", "beyond evens that each is judged rightly, under one", _shifting, lambda made, _: _shift(made, over_models=True), conditions=BOTH),
)  # fmt: skip
