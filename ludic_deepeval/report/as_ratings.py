"""What `ludic ratings report` says: whether metrics mean what people mean, and how far people agree."""

from collections.abc import Iterator
from typing import Any, Final

from ludic_deepeval.errors import clean
from ludic_deepeval.outcome import Outcome, Scored, Unscored
from ludic_deepeval.report.as_text import Paint, counted, plain
from ludic_deepeval.studies.rating_words import ASKS_AFTER, QUESTIONS
from ludic_deepeval.studies.ratings import SIMULATED, Ratings, counts
from ludic_deepeval.studies.reliability import GATE, Estimate, Reliability
from ludic_deepeval.studies.sample import METRICS
from ludic_deepeval.studies.validity import Convergence, Discrimination, Rival, Validity

METRIC_NAMES: Final = {"lpi": "LPI", "pcv": "PCV", "e_a": "E_a"}
_WIDTH: Final = 12


def validity_json(found: Validity, ratings: Ratings) -> dict[str, Any]:
    """The report as JSON; what could not be computed is null with its cause under `unscored`."""
    return {
        "version": 1,
        "form": ratings.form,
        "simulated": ratings.simulated,
        "counts": counts(ratings),
        "convergent": [
            {
                "question": one.question,
                "metric": one.metric,
                **_estimate(one.r),
                "p_one_tailed": one.p_value,
                "p_holm": one.p_holm,
                "supported": one.supported,
            }
            for one in found.convergent
        ],
        "discriminant": [
            {
                "question": one.question,
                "metric": one.metric,
                "r": _value(one.target),
                "others": {name: _rival(other) for name, other in one.others.items()},
                "holds": one.holds,
            }
            for one in found.discriminant
        ],
        "reliability": [
            {
                "question": one.question,
                "ratings": one.ratings,
                "stories": one.items,
                "icc1": _estimate(one.icc),
                "alpha_ordinal": _estimate(one.ordinal),
                "alpha_interval": _estimate(one.interval),
                "of_the_mean": _value(one.mean_rating),
                "accepted": one.accepted,
            }
            for one in found.reliability
        ],
        "table": [
            {"measures": list(pair), "r": _value(r), "n": n} | _why(r) for pair, (r, n) in found.table.items()
        ],
        "detectable_r": _value(found.detectable),
        "resamples": found.resamples,
        "seed": found.seed,
    }


def _estimate(found: Outcome[Estimate]) -> dict[str, Any]:
    if isinstance(found, Unscored):
        return {"value": None, "n": None, "interval": None} | _why(found)
    one = found.value
    interval = list(one.interval.value) if isinstance(one.interval, Scored) else None
    return {"value": one.value, "n": one.n, "interval": interval} | _why(one.interval)


def _rival(found: Outcome[Rival]) -> dict[str, Any]:
    if isinstance(found, Unscored):
        return {"r": None, "own": None, "n": None} | _why(found)
    one = found.value
    return {"r": one.r, "own": one.own, "n": one.n} | _why(found)


def _value(found: Outcome[float]) -> float | None:
    return found.value if isinstance(found, Scored) else None


def _why(found: Outcome[Any]) -> dict[str, Any]:
    return {
        "unscored": {"cause": found.cause, "reason": found.reason} if isinstance(found, Unscored) else None
    }


def import_text(ratings: Ratings) -> Iterator[str]:
    """Say what came back, with what is missing."""
    data = counts(ratings)
    came = f"{data['ratings']} of {data['asked']} ratings, by {counted(int(str(data['raters'])), 'rater', 'raters')}"
    yield f"{came}, of {counted(int(str(data['items'])), 'story', 'stories')}"
    per_item = data["raters_per_item"]
    assert isinstance(per_item, dict)  # noqa: S101  # counts makes one
    if per_item:
        yield "  " + ", ".join(
            f"{counted(n, 'story', 'stories')} with {counted(int(k), 'rater', 'raters')}"
            for k, n in per_item.items()
        )
    if ratings.absent:
        yield f"  nothing came from {clean(', '.join(ratings.absent), limit=300)}"
    if ratings.unanswered:
        yield f"  {counted(ratings.unanswered, 'answer', 'answers')} left out"
    if ratings.simulated:
        yield f"  {SIMULATED}: {ratings.simulated} of these ratings were made up by a program; they say nothing of any story"


def validity_text(found: Validity, ratings: Ratings, paint: Paint = plain) -> Iterator[str]:
    """The report for people."""
    yield from import_text(ratings)
    if isinstance(found.detectable, Scored):
        yield (
            f"  {counted(found.items, 'story', 'stories')} show a correlation of {found.detectable.value:.2f} four times in"
            " five (one-tailed, .05)"
        )
    yield ""
    yield paint("Does the answer rise with the metric that the question asks after?", "bold")
    yield "  r over stories [95 % BCa], one-tailed p, adjusted by Holm for four questions"
    for one in found.convergent:
        yield from _convergent(one, paint)
    yield ""
    yield paint("Does it go with that metric more than with any other?", "bold")
    for two in found.discriminant:
        yield _discriminant(two, paint)
    yield ""
    yield paint("How far do raters agree?", "bold")
    yield f"  one rating's reliability, ICC(1) [95 % BCa], accepted from {GATE:.2f}; Krippendorff's alpha by ranks and by differences"
    for three in found.reliability:
        yield from _reliability(three, paint)
    yield ""
    yield paint("All correlations", "bold")
    yield from _table(found)


def _named(question: str) -> str:
    return f"  {ASKS_AFTER[question]:<{_WIDTH}}"  # type: ignore[index]  # a question


def _convergent(one: Convergence, paint: Paint) -> Iterator[str]:
    head = f"{_named(one.question)} {METRIC_NAMES[one.metric]:<4}"
    if isinstance(one.r, Unscored):
        yield f"{head} {paint('not computed', 'yellow')}: {clean(one.r.reason, limit=200)}"
        return
    told = "supported" if one.supported else "not supported"
    yield (
        f"{head} {_number(one.r.value)}  n {one.r.value.n}  p {_p(one.p_value)}  Holm {_p(one.p_holm)}  "
        f"{paint(told, 'green' if one.supported else 'yellow')}"
    )
    if isinstance(one.r.value.interval, Unscored):
        yield f"{'':{_WIDTH + 8}}no interval: {clean(one.r.value.interval.reason, limit=200)}"


def _discriminant(one: Discrimination, paint: Paint) -> str:
    head = f"{_named(one.question)} {METRIC_NAMES[one.metric]:<4}"
    if isinstance(one.target, Unscored):
        return f"{head} {paint('not computed', 'yellow')}: {clean(one.target.reason, limit=200)}"
    strongest = one.strongest
    beside = ", no other computed"
    if strongest:
        name, rival = strongest
        over = counted(rival.n, "story", "stories")
        beside = f", next {METRIC_NAMES[name]} {abs(rival.r):.2f} (beside {abs(rival.own):.2f} over the same {over})"
    told = {True: "yes", False: "no", None: "cannot be told: not all were computed"}[one.holds]
    return (
        f"{head} |r| {abs(one.target.value):.2f}{beside}  {paint(told, 'green' if one.holds else 'yellow')}"
    )


def _reliability(one: Reliability, paint: Paint) -> Iterator[str]:
    head = _named(one.question)
    if isinstance(one.icc, Unscored):
        yield f"{head} {paint('not computed', 'yellow')}: {clean(one.icc.reason, limit=200)}"
        return
    alphas = ", ".join(
        _number(level.value) if isinstance(level, Scored) else "-" for level in (one.ordinal, one.interval)
    )
    told = "accepted" if one.accepted else "below"
    yield (
        f"{head} {_number(one.icc.value)}  alpha {alphas}  "
        f"{counted(one.ratings, 'rating', 'ratings')} of {counted(one.items, 'story', 'stories')}  "
        f"{paint(told, 'green' if one.accepted else 'yellow')}"
    )


def _number(one: Estimate) -> str:
    if isinstance(one.interval, Scored):
        low, high = one.interval.value
        return f"{one.value:.3f} [{low:.3f}, {high:.3f}]"
    return f"{one.value:.3f} [no interval]"


def _p(value: float | None) -> str:
    return "-" if value is None else "<.001" if value < 0.001 else f"{value:.3f}"


def _table(found: Validity) -> Iterator[str]:
    names = [*QUESTIONS, *METRICS]
    shown = [*(ASKS_AFTER[name] for name in QUESTIONS), *METRIC_NAMES.values()]
    yield "  " + " " * _WIDTH + "".join(f"{name:>{_WIDTH}}" for name in shown[:-1])
    for at, row in enumerate(names[1:], start=1):
        cells = ""
        for column in names[:at]:
            r, n = found.table[column, row]
            cell = f"{r.value:.2f} ({n})" if isinstance(r, Scored) else f"- ({n})"
            cells += f"{cell:>{_WIDTH}}"
        yield f"  {shown[at]:<{_WIDTH}}{cells}"
    yield "  in brackets: over how many stories"
