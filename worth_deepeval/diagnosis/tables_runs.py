"""The tables of a report about runs and models, as plain text: Markdown and HTML show the same."""

from collections.abc import Iterator
from typing import Final, TypeAlias

from ludic_deepeval.errors import clean
from worth_deepeval.diagnosis.confidence import SURE, Correlation
from worth_deepeval.diagnosis.models import Case, Spread
from worth_deepeval.diagnosis.profiles import p_text, rate_text
from worth_deepeval.diagnostics import Diagnosis

Table: TypeAlias = tuple[str, list[str], list[list[str]]]
WHY: Final = "Because"


def number(value: float | None, digits: int = 2) -> str:
    """Return a number for people, "–" where there is none."""
    return "–" if value is None else f"{value:.{digits}f}"


def spread_text(one: Spread) -> str:
    """Return "mean (SD)"."""
    return f"{number(one.mean)} ({number(one.sd)})"


def common(one: Diagnosis, names: dict[str, str]) -> Iterator[str]:
    """Yield a line for each thing that is common to all runs."""
    if not one.scored:
        yield "nothing was scored"
        return
    yield f"totals below 0: {rate_text(one.negative)}"
    for best in one.attractors.sets[:1]:
        who = ", ".join(clean(names[role]) for role in best.roles)
        yield (
            f"most common answer: {who}: {rate_text(best.exact)} exactly, {rate_text(best.contained)} with these among"
            f" others; in {best.exact_models.count} of {best.exact_models.of} models; {best.participants} of them took part"
        )
    if one.attractors.across:
        yield (
            "  the models agree on an answer"
            + (
                " more than chance"
                if one.attractors.across.p_value <= 0.05
                else " no more than chance would have them"
            )
            + f" (p {p_text(one.attractors.across.p_value)})"
        )
    for pair in one.pairs:
        yield (
            f"watched pair {pair.suspicion}/{pair.exoneration} ({clean(names[pair.target])}): suspicion alone"
            f" {pair.only_suspicion}, what clears alone {pair.only_exoneration} (over runs p {p_text(pair.runs.p_value)},"
            f" over models p {p_text(pair.models.p_value)})"
        )
    yield f"key sentences that nobody selected: {', '.join(one.zero_hit) or 'none'}"
    yield f"other sentences that everybody selected: {', '.join(one.unanimous) or 'none'}"
    worst = max(one.chain.links, key=lambda link: link.broken.count, default=None)
    if worst and worst.broken.count:
        yield f"the argument breaks most often at {worst.fact}: {rate_text(worst.broken)}: {clean(worst.text, limit=200)}"


def run_tables(one: Diagnosis, names: dict[str, str]) -> Iterator[Table]:
    """Yield what was scored, how replies could be read, and whether finding and naming go together."""
    yield (
        "In short",
        ["Model", "In plain words", WHY],
        [[each.model, each.headline, "; ".join(each.figures)] for each in one.profiles],
    )
    yield "For all runs", ["What was found"], [[line.strip()] for line in common(one, names)]
    yield (
        "Scores",
        ["Model", "Scored", "Total (SD)", "Sentences (SD)", "People (SD)", "Runs"],
        [
            [
                each.model,
                f"{each.scored}/{each.runs}",
                spread_text(each.total),
                spread_text(each.clue),
                spread_text(each.participant),
                _some(each.totals),
            ]
            for each in one.models
        ],
    )
    yield (
        "Found and named",
        ["Model", "Key sentences (SD)", "Participants (SD)", "Others (SD)", "Below 0", "Confidence said"],
        [
            [
                each.model,
                spread_text(each.hits),
                spread_text(each.correct),
                spread_text(each.incorrect),
                rate_text(each.negative),
                _confidence(each.confidences),
            ]
            for each in one.models
        ],
    )
    yield (
        "Validity of replies",
        ["Model", "Runs", "JSON alone", "JSON in text", "No JSON", "Scored", "Whole protocol"],
        [
            [
                each.model,
                str(each.runs),
                *map(rate_text, (each.direct, each.embedded, each.invalid, each.scorable, each.compliant)),
            ]
            for each in one.validity
        ],
    )
    yield "Not scored", ["Run", "Why"], [[name, why] for name, why in one.validity[-1].causes]
    yield from _apart(one)
    yield from _confidences(one)
    yield _histogram(one)


def _apart(one: Diagnosis) -> Iterator[Table]:
    found = one.dissociation
    if not found:
        return
    yield (
        "Finding against naming",
        ["Model", "Key sentences", "Place", "Right less wrong", "Place"],
        [
            [
                each.model,
                number(each.hits),
                f"{each.rank_hits:g}",
                number(each.net_correct),
                f"{each.rank_net_correct:g}",
            ]
            for each in found.contrast
        ],
    )
    test = f"p {p_text(found.test.p_value)} within models" if found.test else "one of them does not vary"
    yield (
        "Finding against naming, by run",
        ["What", "Runs"],
        [
            [
                "correlation of key sentences with right less wrong people",
                f"{number(found.correlation)} ({test})",
            ],
            [
                f"of those with {found.many:g} key sentences or more: nobody right",
                rate_text(found.much_found),
            ],
            [
                f"of those with {found.few:g} key sentences or fewer: somebody right, nobody wrong",
                rate_text(found.little_found),
            ],
        ],
    )
    head = ["Run", "Key sentences", "Right", "Wrong", "Total"]
    yield "Much found, nobody right", head, [_case(each) for each in found.much_found_nobody_right[:10]]
    yield (
        "Little found, somebody right and nobody wrong",
        head,
        [_case(each) for each in found.little_found_all_right[:10]],
    )


def _case(one: Case) -> list[str]:
    return [f"{one.model} run {one.repetition}", *map(str, (one.hits, one.correct, one.incorrect, one.total))]


def _confidence(said: tuple[float, ...]) -> str:
    if not said:
        return "–"
    return (
        f"{min(said):g} in all {len(said)}"
        if min(said) == max(said)
        else f"{min(said):g} to {max(said):g} ({len(said)})"
    )


def _some(totals: tuple[int, ...]) -> str:
    shown = ", ".join(map(str, totals[:20]))
    return shown if len(totals) <= 20 else f"{shown}, and {len(totals) - 20} more"


def _confidences(one: Diagnosis) -> Iterator[Table]:
    found = one.confidence
    yield (
        "Confidence against points",
        ["Model", "Says a number", "From", "To", "Mean", "Rank correlation with points (95 % interval)"],
        [
            [
                each.model,
                rate_text(each.stated),
                number(each.least, 0),
                number(each.most, 0),
                number(each.mean, 1),
                "always says the same" if each.constant else correlation_text(each.correlation),
            ]
            for each in found.models
        ],
    )
    test = (
        f"; p {p_text(found.test.p_value)}, shuffled within models"
        if found.test
        else "; nothing to shuffle within models"
    )
    yield (
        "Confidence against points, over all runs",
        ["What", "Runs"],
        [
            ["say a number from 0 to 100", rate_text(found.stated)],
            ["models that always say the same number", rate_text(found.constant)],
            [
                "rank correlation over all runs, differences between models in it",
                correlation_text(found.whole),
            ],
            [
                "rank correlation within models: whether a model's better runs are the surer",
                correlation_text(found.within) + test,
            ],
            [f"of those that say {SURE} or more: total below 0", rate_text(found.sure_and_negative)],
            [
                f"of those that say {SURE} or more: somebody wrong or nobody right",
                rate_text(found.sure_and_wrong),
            ],
        ],
    )


def correlation_text(one: Correlation) -> str:
    """Return a correlation for people: "0.31 (-0.10 to 0.63), 20 runs"."""
    if one.value is None:
        return f"– ({one.runs} runs)"
    span = "" if one.low is None or one.high is None else f" ({one.low:.2f} to {one.high:.2f})"
    return f"{one.value:.2f}{span}, {one.runs} runs"


def _histogram(one: Diagnosis) -> Table:
    models = [model for model, _ in one.histogram[0].by_model] if one.histogram else []
    most = max((each.runs.count for each in one.histogram), default=0) or 1
    return (
        "How points are spread",
        ["Points", "Runs", "", *models],
        [
            [
                f"{each.low} to {each.high}" if each.low != each.high else str(each.low),
                rate_text(each.runs),
                "█" * max(bool(each.runs.count), round(20 * each.runs.count / most)),
                *(str(count) for _, count in each.by_model),
            ]
            for each in one.histogram
        ],
    )
