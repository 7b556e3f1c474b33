"""The diagnosis of an episode's runs (WORTH §5): everything that can be counted, each rate with its denominator.

Runs of one model are alike, so tests permute within model. A diagnosis is of one episode and one condition: figures of
two episodes are on two scales, and nothing here puts them together (§4.10).
"""

from dataclasses import dataclass
from typing import Final

from ludic_deepeval.stats.intervals import Rate, wilson
from worth_deepeval.diagnosis.chain import ChainReport, chain
from worth_deepeval.diagnosis.confidence import Confidence, confidence
from worth_deepeval.diagnosis.contrasts import Contrast, contrasts
from worth_deepeval.diagnosis.histogram import Bin, histogram
from worth_deepeval.diagnosis.items import Item, items
from worth_deepeval.diagnosis.models import (
    Dissociation,
    ModelScores,
    Validity,
    dissociation,
    model_scores,
    validity,
)
from worth_deepeval.diagnosis.neighbours import NearMiss, Nearness, near_misses, nearness
from worth_deepeval.diagnosis.profiles import Profile, profiles
from worth_deepeval.diagnosis.roles import (
    Attractors,
    RoleRow,
    WithDistractor,
    attractors,
    role_rows,
    with_distractor,
)
from worth_deepeval.diagnosis.sample import Sample
from worth_deepeval.diagnosis.sentences import (
    Covariation,
    PairRow,
    SentenceRow,
    covariations,
    pairs,
    sentence_rows,
)
from worth_deepeval.episode import Sheet
from worth_deepeval.runs import Run

DRAWS: Final = 1999
SEED: Final = 20261021


@dataclass(frozen=True)
class Diagnosis:
    """All that is said of the runs of one condition.

    Attributes:
        episode: The episode's id.
        version: Its version.
        condition: The condition.
        cued: The key's ids were shown: figures about sentences check that, and are no result.
        runs: How many runs there are.
        scored: How many were scored; all that follows but `validity` is over these.
        models: Scores of each model.
        validity: How the replies could be read.
        negative: Runs whose total is below 0.
        dissociation: Whether finding and concluding part; None without scored runs.
        attractors: Sets of candidates that many name.
        roles: Who named each candidate.
        with_distractor: Whether the right are named without the wrong.
        sentences: Who selected each sentence.
        zero_hit: The key sentences that nobody selected.
        unanimous: The other sentences that everybody selected.
        near_misses: What those who missed a key sentence selected beside it.
        nearness: The same over all key sentences.
        pairs: The watched pairs.
        covariations: Sentences and candidates that go together.
        items: Difficulty and discrimination.
        chain: Where the argument breaks.
        profiles: Each model in plain words.
        confidence: What runs say of their own confidence, beside their totals.
        histogram: How totals are spread.
    """

    episode: str
    version: str
    condition: str
    cued: bool
    runs: int
    scored: int
    models: tuple[ModelScores, ...]
    validity: tuple[Validity, ...]
    negative: Rate
    dissociation: Dissociation | None
    attractors: Attractors
    roles: tuple[RoleRow, ...]
    with_distractor: WithDistractor
    sentences: tuple[SentenceRow, ...]
    zero_hit: tuple[str, ...]
    unanimous: tuple[str, ...]
    near_misses: tuple[NearMiss, ...]
    nearness: Nearness
    pairs: tuple[PairRow, ...]
    covariations: tuple[Covariation, ...]
    items: tuple[Item, ...]
    chain: ChainReport
    profiles: tuple[Profile, ...]
    confidence: Confidence
    histogram: tuple[Bin, ...]


def diagnose(
    sheet: Sheet, runs: tuple[Run, ...], *, seed: int = SEED, draws: int = DRAWS
) -> tuple[Diagnosis, ...]:
    """Diagnose the runs of an episode.

    Args:
        sheet: The episode and its key.
        runs: All of its runs.
        seed: Of the shuffles; the same seed gives the same report.
        draws: How many shuffles each test makes at most.

    Returns:
        A diagnosis for each condition, in the order of the runs.
    """
    return tuple(_diagnose(sample, one, seed, draws) for one, sample in by_condition(sheet, runs))


def contrast_all(sheet: Sheet, runs: tuple[Run, ...]) -> tuple[Contrast, ...]:
    """Contrast each condition with full-story, or with the first where there is none: paired by model and run."""
    return contrasts(by_condition(sheet, runs))


def by_condition(sheet: Sheet, runs: tuple[Run, ...]) -> list[tuple[str, Sample]]:
    """Return the runs of each condition, in the order of the runs."""
    conditions = dict.fromkeys(run.condition for run in runs)
    return [(one, Sample(sheet, tuple(run for run in runs if run.condition == one))) for one in conditions]


def _diagnose(sample: Sample, condition: str, seed: int, draws: int) -> Diagnosis:
    rows = sentence_rows(sample)
    n = len(sample.scored)
    # A correlation costs every run at every shuffle.
    fewer = max(199, min(draws, 1_000_000 // max(1, n)))
    return Diagnosis(
        episode=sample.sheet.episode.id,
        version=sample.sheet.episode.version,
        condition=condition,
        cued=condition.startswith("evidence-cueing"),
        runs=len(sample.runs),
        scored=n,
        models=model_scores(sample),
        validity=validity(sample),
        negative=wilson(sum(one.total < 0 for one in sample.scores), n),
        dissociation=dissociation(sample, seed=seed, draws=fewer),
        attractors=attractors(sample, seed=seed, draws=draws),
        roles=role_rows(sample),
        with_distractor=with_distractor(sample),
        sentences=rows,
        zero_hit=tuple(row.sentence for row in rows if row.key and n and row.selected.count == 0),
        unanimous=tuple(row.sentence for row in rows if not row.key and n and row.selected.count == n),
        near_misses=near_misses(sample),
        nearness=nearness(sample, seed=seed, draws=draws),
        pairs=pairs(sample),
        covariations=covariations(sample),
        items=items(sample),
        chain=chain(sample),
        profiles=profiles(sample, seed=seed, draws=draws),
        confidence=confidence(sample, seed=seed, draws=fewer),
        histogram=histogram(sample),
    )
