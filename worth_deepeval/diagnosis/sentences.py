"""Which sentences runs select: frequencies, watched pairs, and whom they go with (§5.2.2, 5.2.3, 5.2.4)."""

from dataclasses import dataclass

from ludic_deepeval.stats.exact import Test, fisher, fisher_within, holm, mcnemar, sign_test
from ludic_deepeval.stats.intervals import Rate, wilson
from worth_deepeval.diagnosis.sample import Sample

MOST_PAIRS = 15


@dataclass(frozen=True)
class SentenceRow:
    """One sentence: who selected it.

    Attributes:
        sentence: Its id.
        key: Whether it is in K.
        selected: Runs that selected it.
        by_model: The same for each model.
    """

    sentence: str
    key: bool
    selected: Rate
    by_model: tuple[tuple[str, Rate], ...]


@dataclass(frozen=True)
class PairRow:
    """A watched pair: suspicion beside what takes it away.

    Attributes:
        suspicion: The sentence that throws suspicion.
        exoneration: The one that takes it away.
        target: Of whom.
        selected_suspicion: Runs that selected the first.
        selected_exoneration: Runs that selected the second.
        only_suspicion: Runs with the first alone.
        only_exoneration: Runs with the second alone.
        runs: Over runs (exact McNemar): takes runs of one model for independent.
        models: Over models (sign test): one vote a model, by which of the two it selects more often.
    """

    suspicion: str
    exoneration: str
    target: str
    selected_suspicion: Rate
    selected_exoneration: Rate
    only_suspicion: int
    only_exoneration: int
    runs: Test
    models: Test


@dataclass(frozen=True)
class Covariation:
    """A sentence and a candidate who are selected together more, or less, than apart.

    Attributes:
        sentence: The sentence.
        role: The candidate.
        table: Runs with both, with the sentence alone, with the candidate alone, with neither.
        given: Of the runs with the sentence, those that name the candidate.
        whole: Fisher over all runs, with the lift.
        within: The exact test that permutes within each model.
        adjusted: `within`'s p-value, adjusted by Holm over all `tested` pairs.
        tested: How many pairs were tested.
    """

    sentence: str
    role: str
    table: tuple[int, int, int, int]
    given: Rate
    whole: Test
    within: Test
    adjusted: float
    tested: int


def sentence_rows(sample: Sample) -> tuple[SentenceRow, ...]:
    """Return for each sentence of the story who selected it."""
    key, n = set(sample.sheet.key.sentences), len(sample.scored)
    return tuple(
        SentenceRow(
            sentence=sentence,
            key=sentence in key,
            selected=wilson(mask.bit_count(), n),
            by_model=tuple(
                (model, wilson((mask & own).bit_count(), own.bit_count()))
                for model, own in sample.by_model.items()
            ),
        )
        for sentence, mask in sample.by_sentence.items()
    )


def pairs(sample: Sample) -> tuple[PairRow, ...]:
    """Return the watched pairs, over runs and over models."""
    n = len(sample.scored)
    out = []
    for pair in sample.sheet.key.pairs:
        bad, good = sample.by_sentence[pair.suspicion], sample.by_sentence[pair.exoneration]
        leaning = [(bad & own).bit_count() - (good & own).bit_count() for own in sample.by_model.values()]
        out.append(
            PairRow(
                suspicion=pair.suspicion,
                exoneration=pair.exoneration,
                target=pair.target,
                selected_suspicion=wilson(bad.bit_count(), n),
                selected_exoneration=wilson(good.bit_count(), n),
                only_suspicion=(bad & ~good).bit_count(),
                only_exoneration=(good & ~bad).bit_count(),
                runs=mcnemar((bad & ~good).bit_count(), (good & ~bad).bit_count()),
                models=sign_test(sum(one > 0 for one in leaning), sum(one < 0 for one in leaning)),
            )
        )
    return tuple(out)


def covariations(sample: Sample) -> tuple[Covariation, ...]:
    """Return the sentences and candidates that go together most, by the test that permutes within model.

    Tested is every pair of which both vary over the runs and the sentence was selected at least three times; the
    p-values are adjusted for that number.
    """
    n = len(sample.scored)
    everybody = (1 << n) - 1
    own = list(sample.by_model.values())
    found = []
    for sentence, chosen in sample.by_sentence.items():
        if not 3 <= chosen.bit_count() < n:
            continue
        for role, named in sample.by_role.items():
            if 0 < named.bit_count() < n:
                tables = [_fourfold(chosen, named, each) for each in own]
                found.append((sentence, role, fisher_within(tables), _fourfold(chosen, named, everybody)))
    adjusted = holm([one[2].p_value for one in found])
    order = sorted(range(len(found)), key=lambda i: (found[i][2].p_value, found[i][0], found[i][1]))
    return tuple(
        Covariation(
            sentence=found[i][0],
            role=found[i][1],
            table=found[i][3],
            given=wilson(found[i][3][0], found[i][3][0] + found[i][3][1]),
            whole=fisher(*found[i][3]),
            within=found[i][2],
            adjusted=adjusted[i],
            tested=len(found),
        )
        for i in order[:MOST_PAIRS]
    )


def _fourfold(one: int, other: int, among: int) -> tuple[int, int, int, int]:
    both, first = (one & other & among).bit_count(), (one & among).bit_count()
    second = (other & among).bit_count()
    return both, first - both, second - both, among.bit_count() - first - second + both
