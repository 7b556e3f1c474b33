"""What people made of a study's stories, beside what was measured of them: Table 14 and the correlations behind it (§5.7).

Each rated story is a line of the store, found by its trial and the hash of its prose: a first draft that clears the gate may be the same
prose in both arms. `ratings.q1` of a line is the mean over its raters, and `report.json` lists the single answers under `ratings`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from ludic_deepeval.errors import InputError
from ludic_deepeval.outcome import Outcome, Scored, Unscored
from ludic_deepeval.studies.numbers import Number
from ludic_deepeval.studies.rating_key import KeyItem, RatingKey
from ludic_deepeval.studies.rating_words import ASKS_AFTER, QUESTIONS, Question
from ludic_deepeval.studies.ratings import SIMULATED, Ratings
from ludic_deepeval.studies.reliability import GATE, RESAMPLES, Estimate
from ludic_deepeval.studies.rows import Data, Row
from ludic_deepeval.studies.sample import METRICS, Metric
from ludic_deepeval.studies.tables import Entry, Table
from ludic_deepeval.studies.validity import Convergence, Validity, measure_validity
from ludic_deepeval.text import Prose

_NAMES: Final[Mapping[str, str]] = dict(ASKS_AFTER.items()) | {"lpi": "LPI", "pcv": "PCV", "e_a": "E_a"}
TITLE: Final = "Whether the figures mean what people mean"


@dataclass(frozen=True)
class Rated:
    """A study's stories that people rated.

    Attributes:
        key: The stories of the form, with what the store measured of them.
        ratings: What came back.
        lines: The number of each rated item's line in the store.
    """

    key: RatingKey
    ratings: Ratings
    lines: Mapping[str, int]

    @property
    def caution(self) -> str:
        """What has to be known of ratings that nobody gave; empty when people gave them all."""
        made_up = self.ratings.simulated
        return (
            f"{SIMULATED}: {made_up} of {len(self.ratings.rows)} ratings were made up by a program; they say nothing of any story."
            if made_up
            else ""
        )

    @property
    def missing(self) -> str:
        """What did not come back; empty when everything did."""
        absent, blank = self.ratings.absent, self.ratings.unanswered
        lost = [f"nothing came from {', '.join(absent)}"] if absent else []
        lost += [f"{blank} answer{'s' * (blank != 1)} left out"] if blank else []
        came = f"{len(self.ratings.rows)} of {self.ratings.asked} ratings came back"
        return f"{came}: {'; '.join(lost)}." if lost else ""

    @property
    def json(self) -> dict[str, Any]:
        """The answers, as `report.json` lists them: line, item, question, rater."""
        by_item = {name: self.ratings.by_item(name) for name in QUESTIONS}
        return {
            "form": self.ratings.form,
            "simulated": self.ratings.simulated,
            "lines": [
                {
                    "line": number,
                    "item": item,
                    "answers": {name: by_item[name].get(item, {}) for name in QUESTIONS},
                }
                for item, number in sorted(self.lines.items())
            ],
        }


def rated_of(data: Data, key: RatingKey, ratings: Ratings) -> Rated:
    """Find the lines of the stories that were rated.

    Args:
        data: The study's trials.
        key: The key of a form that was made from its store.
        ratings: What came back.

    Raises:
        InputError: An item is no story of this store, or its figures in the key are not those of the store.
    """
    by_trial: dict[tuple[str, str], Row] = {}
    for one in data.rows:
        if isinstance(prose := one.line.get("prose"), str):
            by_trial[one.line["trial"], Prose(prose, front_matter=False).sha256] = one
    rated = {rating.item for rating in ratings.rows}
    lines = {}
    for item in key.items:
        if item.item not in rated:
            continue
        row = by_trial.get((item.story, item.sha256))
        if row is None:
            raise InputError(
                "--key", f"item {item.item} ({item.path}) is no story of this store",
                allowed="the key of a form that was made from its trials.jsonl",
            )  # fmt: skip
        _require_same_figures(item, row)
        lines[item.item] = row.number
    return Rated(key, ratings, lines)


def _require_same_figures(item: KeyItem, row: Row) -> None:
    for name in METRICS:
        ours, stored = getattr(item.metrics, name), row.value(f"measures.{name}")
        if ours != stored:
            raise InputError(
                "--key", f"{_NAMES[name]} of item {item.item} is {ours} in the key and {stored} in line {row.number} of the store",
                allowed="the key of a form that was made from this store",
            )  # fmt: skip


def ratings_tables(rated: Rated | None, *, resamples: int = RESAMPLES, seed: int = 0) -> Iterator[Table]:
    """Table 14 and the multitrait-multimethod table; without ratings, what is missing for them.

    Args:
        rated: The stories that people rated.
        resamples: Of the bootstraps over stories.
        seed: Of the bootstraps.
    """
    if rated is None:
        ask = "ludic ratings form FOLDER/trials.jsonl makes the blinded form; --key and --ratings bring in what comes back."
        yield Table("validity", TITLE, (), (), (f"No ratings by people were given. {ask}",), "Table 14")
        return
    found = measure_validity(rated.key, rated.ratings, resamples=resamples, seed=seed)
    yield _validity_table(rated, found)
    yield _discrimination(rated, found)
    yield _correlations(rated, found)


class _Pairs:
    """Which lines a figure is over, and where in them it is read."""

    def __init__(self, rated: Rated) -> None:
        self._values: dict[str, dict[str, float]] = {
            metric: {
                one.item: value
                for one in rated.key.items
                if one.item in rated.lines and (value := getattr(one.metrics, metric)) is not None
            }
            for metric in METRICS
        }
        self._answered: dict[str, dict[str, dict[str, int]]] = {
            name: rated.ratings.by_item(name) for name in QUESTIONS
        }
        self._lines = rated.lines

    def lines(self, *names: str) -> tuple[int, ...]:
        """The lines that have all of these measures, in the order in which the statistics took them."""
        sets = [(self._answered.get(name) or self._values.get(name) or {}).keys() for name in names]
        return tuple(self._lines[item] for item in sorted(set.intersection(*map(set, sets))))

    def r(self, value: float, recipe: str, *names: str, over: str = "", **more: Any) -> Number:
        """A number over the lines that have these measures, and `over` as well."""
        path = " ".join(f"{'ratings' if name in QUESTIONS else 'measures'}.{name}" for name in names)
        lines = self.lines(*names, *([over] if over else []))
        digits = "p" if "p-value" in recipe else 0 if recipe == "count" else 3
        return Number(value, recipe, path, (lines,), digits, more, sign=recipe == "Pearson r")


def _validity_table(rated: Rated, found: Validity) -> Table:
    pairs = _Pairs(rated)
    rows: list[tuple[Entry, ...]] = []
    notes = [
        (
            f"{found.ratings} ratings by {found.raters} raters of {found.items} stories. A story's figure is the mean over its raters;"
            f" intervals are BCa over stories, {found.resamples:,} resamples; p is one-tailed, and Holm's adjustment is over the four"
            " questions, one that could not be computed among them."
        ),
        (
            f"ICC(1), the reliability of one rating, is accepted from {GATE:.2f}; a low one attenuates every r beside it."
        ),
    ]
    notes[:0] = filter(None, (rated.caution, rated.missing))
    if isinstance(found.detectable, Scored):
        least = found.detectable.value
        notes.append(
            f"{found.items} stories show a correlation of {least:.2f} four times in five (one-tailed, .05)."
        )
    for at, (one, two) in enumerate(zip(found.convergent, found.reliability, strict=True)):
        rows.append(
            (
                f"{one.question}, {ASKS_AFTER[one.question]}",
                _NAMES[one.metric],
                *_convergent(one, found, pairs, at),
                *_agreement(one.question, two.icc, found, pairs),
            )
        )
        for name, outcome in (("r", one.r), ("ICC(1)", two.icc)):
            notes += _unmeasured(f"{name} of {one.question}", outcome)
    heads = (
        "question", "target", "stories", "r", "95 % from", "to", "p", "Holm p", "outcome", "ICC(1)", "ICC from", "ICC to",
    )  # fmt: skip
    return Table("validity", TITLE, heads, tuple(rows), tuple(notes), "Table 14")


def _convergent(one: Convergence, found: Validity, pairs: _Pairs, at: int) -> Iterator[Entry]:
    if isinstance(one.r, Unscored) or one.p_value is None or one.p_holm is None:
        yield from (None, None, None, None, None, None, "not computed")
        return
    names = (one.question, one.metric)
    yield pairs.r(one.r.value.n, "count", *names)
    yield pairs.r(one.r.value.value, "Pearson r", *names)
    yield from _ends("Pearson r", one.r.value, found, pairs, *names)
    yield pairs.r(one.p_value, "p-value of Pearson r, higher", *names)
    yield _holm(found, pairs, at, one.p_holm)
    yield "supported" if one.supported else "not supported"


def _ends(
    recipe: str, estimate: Estimate, found: Validity, pairs: _Pairs, *names: str
) -> Iterator[Number | None]:
    for end in (0, 1):
        if isinstance(estimate.interval, Unscored):
            yield None
        else:
            yield pairs.r(
                estimate.interval.value[end], f"BCa interval of {recipe}, {('lower', 'upper')[end]} end", *names,
                resamples=found.resamples, seed=found.seed,
            )  # fmt: skip


def _holm(found: Validity, pairs: _Pairs, at: int, value: float) -> Number:
    """Over all questions: the groups are those that could be computed; the others count as p = 1."""
    computed = [one for one in found.convergent if one.p_value is not None]
    path = " ".join(f"ratings.{one.question} measures.{one.metric}" for one in computed)
    groups = tuple(pairs.lines(one.question, one.metric) for one in computed)
    more = {"at": computed.index(found.convergent[at]), "of": len(found.convergent)}
    return Number(value, "p-value of Pearson r, higher, by Holm", path, groups, "p", more)


def _agreement(
    name: Question, icc: Outcome[Estimate], found: Validity, pairs: _Pairs
) -> Iterator[Number | None]:
    if isinstance(icc, Unscored):
        yield from (None, None, None)
        return
    yield pairs.r(icc.value.value, "ICC(1)", name)
    yield from _ends("ICC(1)", icc.value, found, pairs, name)


def _discrimination(rated: Rated, found: Validity) -> Table:
    """Whether each question goes with its target more than with any other metric."""
    pairs = _Pairs(rated)
    rows: list[tuple[Entry, ...]] = []
    for one in found.discriminant:
        name, metric = one.question, one.metric
        said: tuple[Entry, ...] = ("", None, None)
        if one.strongest is not None:
            other, rival = one.strongest
            said = (
                _NAMES[other],
                pairs.r(rival.r, "Pearson r", name, other, over=metric),
                pairs.r(rival.own, "Pearson r", name, metric, over=other),
            )
        leads = {True: "yes", False: "no", None: "cannot be told"}[one.holds]
        rows.append((f"{name}, {ASKS_AFTER[name]}", _NAMES[metric], *said, leads))
    heads = ("question", "target", "next metric", "its r", "the target's r", "the target leads")
    notes = (
        "The target leads where |r| with it is larger than with every other metric; either is over the stories for which both were measured.",
    )
    return Table(
        "discrimination", "Whether each goes with its own figure most", heads, tuple(rows), notes, "§5.7"
    )


def _unmeasured(name: str, outcome: Outcome[Estimate]) -> Iterator[str]:
    if isinstance(outcome, Unscored):
        yield f"{name} is not computed: {outcome.reason}."
    elif isinstance(outcome.value.interval, Unscored):
        yield f"{name} has no interval: {outcome.value.interval.reason}."


def _correlations(rated: Rated, found: Validity) -> Table:
    """The multitrait-multimethod table: r of every two of the seven measures."""
    pairs = _Pairs(rated)
    names: tuple[Question | Metric, ...] = (*QUESTIONS, *METRICS)
    rows: list[tuple[Entry, ...]] = []
    for at, row in enumerate(names[1:], start=1):
        entries: list[Entry] = [_NAMES[row]]
        for column in names[:at]:
            r = found.table[column, row][0]
            entries.append(pairs.r(r.value, "Pearson r", column, row) if isinstance(r, Scored) else None)
        entries += [""] * (len(names) - 1 - at)
        rows.append(tuple(entries))
    heads = ("", *(_NAMES[name] for name in names[:-1]))
    title = "All correlations of ratings and figures"
    return Table("correlations", title, heads, tuple(rows), (), "§5.7, multitrait-multimethod")
