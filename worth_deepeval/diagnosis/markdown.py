"""A diagnosis as Markdown, and as the few lines that a terminal shows."""

from collections.abc import Iterable, Iterator, Sequence

from ludic_deepeval.errors import clean
from worth_deepeval.diagnosis.models import Case, Spread
from worth_deepeval.diagnosis.profiles import p_text, rate_text
from worth_deepeval.diagnostics import Diagnosis
from worth_deepeval.episode import Sheet

_ESCAPED = str.maketrans({one: f"\\{one}" for one in "\\`*_[]<>|#!~"})
WHY = "Because"
CUED = "The ids of the key sentences were shown: figures about sentences check that, and are no result."


def md(text: str, limit: int = 300) -> str:
    """Return text that Markdown takes for text."""
    return clean(text, limit=limit).translate(_ESCAPED)


def number(value: float | None, digits: int = 2) -> str:
    """Return a number for people, "–" where there is none."""
    return "–" if value is None else f"{value:.{digits}f}"


def spread_text(one: Spread) -> str:
    """Return "mean (SD)"."""
    return f"{number(one.mean)} ({number(one.sd)})"


def terminal(sheet: Sheet, found: Sequence[Diagnosis]) -> Iterator[str]:
    """Yield what a terminal shows: each model in plain words, and what is common to all."""
    names = {one.id: one.name for one in sheet.episode.candidates}
    for one in found:
        yield f"{clean(sheet.episode.title)} ({one.episode}), {clean(one.condition)}: {one.scored} of {one.runs} runs scored"
        if one.cued:
            yield f"  {CUED}"
        for scores, profile in zip(one.models, one.profiles, strict=True):
            yield ""
            yield f"{clean(profile.model)}: {profile.headline}"
            if scores.scored:
                yield (
                    f"  {number(scores.total.mean, 1)} points a run (SD {number(scores.total.sd, 1)}),"
                    f" {scores.scored} of {scores.runs} runs scored"
                )
            for figure in profile.figures:
                yield f"  {figure}"
        yield ""
        yield from common(one, names)


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


def markdown(sheet: Sheet, found: Sequence[Diagnosis]) -> str:
    """Return the whole report as Markdown."""
    lines = [f"# {md(sheet.episode.title)} ({md(sheet.episode.id)}, version {md(sheet.episode.version)})", ""]
    lines.append(
        "Rates are given as count/of (rate, 95 % Wilson interval). Runs of one model are alike: tests shuffle within it."
    )
    for one in found:
        lines += ["", f"## {md(one.condition)}: {one.scored} of {one.runs} runs scored"]
        lines += ["", CUED] if one.cued else []
        for title, head, rows in tables(sheet, one):
            lines += ["", f"### {md(title)}", ""]
            body = [[md(cell, 600) for cell in row] for row in rows]
            lines += _table(head, body) if body else ["None."]
    return "\n".join(lines) + "\n"


def tables(sheet: Sheet, one: Diagnosis) -> Iterator[tuple[str, list[str], list[list[str]]]]:
    """Yield the tables of a report: title, columns, rows of plain text. Markdown and HTML show the same."""
    names = {each.id: each.name for each in sheet.episode.candidates}
    texts = {each.id: each.text for each in sheet.episode.sentences}

    def who(roles: Iterable[str]) -> str:
        return ", ".join(names[role] for role in roles) or "nobody"

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
    yield (
        "Common answers",
        ["Who", "Participants", "Exactly", "With others", "One more or less", "Models (exactly)"],
        [
            [
                who(each.roles),
                f"{each.participants} of {len(each.roles)}",
                rate_text(each.exact),
                rate_text(each.contained),
                rate_text(each.within_one),
                f"{each.exact_models.count}/{each.exact_models.of}",
            ]
            for each in one.attractors.sets
        ],
    )
    nulls = [each for each in (one.attractors.across, one.attractors.together) if each]
    yield (
        "Common answers against chance",
        ["Shuffled", "Observed", "By chance", "p", "Shuffles"],
        [
            [
                each.method,
                number(each.statistic, 0),
                number(each.expected, 1),
                p_text(each.p_value),
                str(each.draws),
            ]
            for each in nulls
        ],
    )
    beside = one.with_distractor
    yield (
        "The right beside the wrong",
        ["What", "Runs"],
        [
            ["name a participant", rate_text(beside.any_correct)],
            ["name all participants and nobody else", rate_text(beside.all_right)],
            ["of those with a participant: nobody wrong", rate_text(beside.none_wrong)],
            ["of those with a participant: a distractor too", rate_text(beside.any_distractor)],
            *(
                [f"of those with a participant: also {names[role]}", rate_text(rate)]
                for role, rate in beside.each
            ),
        ],
    )
    yield (
        "Watched pairs",
        ["Pair", "Of", "Suspicion", "What clears", "Alone", "McNemar p (runs)", "Sign test p (models)"],
        [
            [
                f"{each.suspicion}/{each.exoneration}",
                names[each.target],
                rate_text(each.selected_suspicion),
                rate_text(each.selected_exoneration),
                f"{each.only_suspicion} : {each.only_exoneration}",
                p_text(each.runs.p_value),
                p_text(each.models.p_value),
            ]
            for each in one.pairs
        ],
    )
    selected = {each.sentence: each for each in one.sentences}
    yield (
        "Key sentences",
        ["Sentence", "Selected", "Missed, but beside it", "By chance", "Text"],
        [
            [
                each.sentence,
                rate_text(selected[each.sentence].selected),
                rate_text(each.beside),
                "–" if each.chance is None else f"{each.chance:.0%}",
                texts[each.sentence],
            ]
            for each in one.near_misses
        ],
    )
    others = sorted(
        (row for row in one.sentences if not row.key and row.selected.count),
        key=lambda row: -row.selected.count,
    )
    yield (
        "Other sentences most selected",
        ["Sentence", "Selected", "Text"],
        [[row.sentence, rate_text(row.selected), texts[row.sentence]] for row in others[:10]],
    )
    yield (
        f"Sentences and people that go together (the strongest of {one.covariations[0].tested if one.covariations else 0})",
        [
            "Sentence",
            "Candidate",
            "Both, one, other, neither",
            "Named, given the sentence",
            "Lift",
            "Fisher p",
            "p within models",
            "adjusted",
        ],
        [
            [
                each.sentence,
                names[each.role],
                ", ".join(map(str, each.table)),
                rate_text(each.given),
                number(each.whole.effect),
                p_text(each.whole.p_value),
                p_text(each.within.p_value),
                p_text(each.adjusted),
            ]
            for each in one.covariations
        ],
    )
    yield (
        "Where the argument breaks",
        ["Fact", "Given", "Stops here", "Lacking there", "Text"],
        [
            [
                each.fact,
                rate_text(each.reached),
                rate_text(each.broken),
                ", ".join(f"{sentence} {rate.count}/{rate.of}" for sentence, rate in each.missing) or "–",
                each.text,
            ]
            for each in one.chain.links
        ],
    )
    yield (
        "Conclusions",
        [
            "Candidate",
            "Verdict",
            "Follows from what was selected",
            "Concluded",
            "Where it follows",
            "Where it does not",
        ],
        [
            [
                names[each.role],
                each.verdict,
                *map(rate_text, (each.derivable, each.concluded, each.given_derivable, each.given_not)),
            ]
            for each in one.chain.verdicts
        ],
    )
    yield (
        "For the author: items",
        ["Item", "Kind", "Got right", "Discrimination"],
        [
            [names.get(each.id, each.id), each.kind, rate_text(each.difficulty), number(each.discrimination)]
            for each in one.items
        ],
    )


def _apart(one: Diagnosis) -> Iterator[tuple[str, list[str], list[list[str]]]]:
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


def _table(head: list[str], rows: list[list[str]]) -> list[str]:
    return [
        f"| {' | '.join(head)} |",
        f"|{' --- |' * len(head)}",
        *(f"| {' | '.join(row)} |" for row in rows),
    ]
