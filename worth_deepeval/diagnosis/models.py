"""What each model scored, how many of its replies could be read, and whether finding and concluding go together (§5.1, A.4)."""

import random
from collections import Counter
from dataclasses import dataclass
from statistics import mean, median, quantiles, stdev

from ludic_deepeval.outcome import Unscored
from ludic_deepeval.stats.intervals import Rate, wilson
from ludic_deepeval.stats.permutation import Permutation, pearson, product_test, ranks
from worth_deepeval.diagnosis.sample import Sample
from worth_deepeval.runs import Run

MOST_CASES = 50


@dataclass(frozen=True, slots=True)
class Spread:
    """A mean over runs, and the sample's standard deviation; None when there are too few runs for it."""

    mean: float | None
    sd: float | None


@dataclass(frozen=True)
class ModelScores:
    """One model over its scored runs.

    Attributes:
        model: Its name.
        runs: How many runs it has.
        scored: How many of them were scored.
        total: Points in all.
        clue: Points for sentences.
        participant: Points for candidates.
        hits: Key sentences found.
        correct: Participants named.
        incorrect: Others named.
        totals: The total of each scored run, in the file's order.
        negative: Runs whose total is below 0.
        confidences: What each run says of its own confidence, where that is a number.
    """

    model: str
    runs: int
    scored: int
    total: Spread
    clue: Spread
    participant: Spread
    hits: Spread
    correct: Spread
    incorrect: Spread
    totals: tuple[int, ...]
    negative: Rate
    confidences: tuple[float, ...]


@dataclass(frozen=True)
class Validity:
    """How the replies of one model (or of all) could be read, as in the paper's table A.4."""

    model: str
    runs: int
    direct: Rate
    embedded: Rate
    invalid: Rate
    scorable: Rate
    compliant: Rate
    causes: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class RankContrast:
    """A model's place by key sentences found and by right less wrong candidates; 1 is best, equals share a place."""

    model: str
    hits: float
    net_correct: float
    rank_hits: float
    rank_net_correct: float


@dataclass(frozen=True)
class Case:
    """A run whose finding and concluding part."""

    model: str
    repetition: int
    hits: int
    correct: int
    incorrect: int
    total: int


@dataclass(frozen=True)
class Dissociation:
    """Whether finding sentences and naming the right people go together.

    Attributes:
        contrast: The models' ranks.
        correlation: Over runs, of hits with right less wrong candidates; None when either does not vary.
        test: Whether they go together within models; its statistic is the correlation with each model's means taken away. None
            when either does not vary within any model.
        much_found_nobody_right: Runs in the upper quarter of hits that name no participant.
        little_found_all_right: Runs at or below the median of hits that name a participant and nobody else.
        many: How many hits count as much.
        few: How many at most count as little.
        much_found: Of the runs with much found, those that name no participant.
        little_found: Of the runs with little found, those that name a participant and nobody else.
    """

    contrast: tuple[RankContrast, ...]
    correlation: float | None
    test: Permutation | None
    much_found_nobody_right: tuple[Case, ...]
    little_found_all_right: tuple[Case, ...]
    many: float
    few: float
    much_found: Rate
    little_found: Rate


def model_scores(sample: Sample) -> tuple[ModelScores, ...]:
    """Return the scores of each model."""
    counts = Counter(run.model for run in sample.runs)
    out = []
    for model, positions in sample.positions.items():
        scores = [sample.scores[i] for i in positions]
        totals = tuple(one.total for one in scores)
        said = [confidence_of(sample.scored[i]) for i in positions]
        out.append(
            ModelScores(
                model=model,
                runs=counts[model],
                scored=len(scores),
                total=spread(totals),
                clue=spread([one.clue for one in scores]),
                participant=spread([one.participant for one in scores]),
                hits=spread([len(one.hits) for one in scores]),
                correct=spread([len(one.correct) for one in scores]),
                incorrect=spread([len(one.incorrect) for one in scores]),
                totals=totals,
                negative=wilson(sum(one < 0 for one in totals), len(totals)),
                confidences=tuple(one for one in said if one is not None),
            )
        )
    return tuple(out)


def spread(values: "tuple[int, ...] | list[int]") -> Spread:
    """Return mean and sample standard deviation."""
    return Spread(mean(values) if values else None, stdev(values) if len(values) > 1 else None)


def validity(sample: Sample) -> tuple[Validity, ...]:
    """Return a row for each model and one for all, named "all"."""
    rows = [_validity(model, [run for run in sample.runs if run.model == model]) for model in sample.models]
    return (*rows, _validity("all", sample.runs))


def _validity(model: str, runs: "list[Run] | tuple[Run, ...]") -> Validity:
    forms = Counter(run.response.json for run in runs)
    n = len(runs)
    causes = tuple((run.name, run.outcome.reason) for run in runs if isinstance(run.outcome, Unscored))
    return Validity(
        model=model,
        runs=n,
        direct=wilson(forms["direct"], n),
        embedded=wilson(forms["embedded"], n),
        invalid=wilson(forms["invalid"], n),
        scorable=wilson(n - len(causes), n),
        compliant=wilson(sum(run.response.compliant for run in runs), n),
        causes=causes[:MOST_CASES],
    )


def dissociation(sample: Sample, *, seed: int, draws: int) -> Dissociation | None:
    """Return how finding and concluding part; None without scored runs."""
    if not sample.scored:
        return None
    hits = [len(one.hits) for one in sample.scores]
    net = [len(one.correct) - len(one.incorrect) for one in sample.scores]
    together = pearson(hits, net)
    test = None
    if together is not None:
        # A shuffle within models leaves what lies between them as it is, so that the test of one is the test of the other.
        test = product_test(
            list(sample.positions.values()),
            hits,
            net,
            rng=random.Random(seed),  # noqa: S311  # a shuffle, no secret
            draws=draws,
            two_sided=False,
            method="right less wrong candidates shuffled among each model's runs",
        )
    many = quantiles(hits, n=4, method="inclusive")[2] if len(hits) > 1 else float(hits[0])
    few = float(median(hits))
    much = [i for i, one in enumerate(hits) if one >= many and one > 0]
    little = [i for i, one in enumerate(hits) if one <= few]
    nobody = [i for i in much if not sample.scores[i].correct]
    right = [i for i in little if sample.scores[i].correct and not sample.scores[i].incorrect]
    return Dissociation(
        contrast=_contrast(sample, hits, net),
        correlation=together,
        test=test,
        much_found_nobody_right=_cases(sample, nobody),
        little_found_all_right=_cases(sample, right),
        many=many,
        few=few,
        much_found=wilson(len(nobody), len(much)),
        little_found=wilson(len(right), len(little)),
    )


def _contrast(sample: Sample, hits: list[int], net: list[int]) -> tuple[RankContrast, ...]:
    models = [model for model, positions in sample.positions.items() if positions]
    found = [mean(hits[i] for i in sample.positions[model]) for model in models]
    right = [mean(net[i] for i in sample.positions[model]) for model in models]
    rows = zip(models, found, right, ranks(found), ranks(right), strict=True)
    return tuple(RankContrast(*row) for row in rows)


def _cases(sample: Sample, positions: list[int]) -> tuple[Case, ...]:
    out = []
    for i in positions:
        run, one = sample.scored[i], sample.scores[i]
        out.append(
            Case(run.model, run.repetition, len(one.hits), len(one.correct), len(one.incorrect), one.total)
        )
    return tuple(sorted(out, key=lambda case: -case.hits)[:MOST_CASES])


def confidence_of(run: Run) -> float | None:
    """Return what a run says of its own confidence, where that is a number; the protocol asks for 0 to 100."""
    said = (run.response.body or {}).get("confidence")
    return (
        float(said)
        if isinstance(said, int | float) and not isinstance(said, bool) and abs(said) < 1e6
        else None
    )
