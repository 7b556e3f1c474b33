"""The tables of a report about people, sentences and the argument, as plain text: Markdown and HTML show the same."""

from collections.abc import Iterable, Iterator

from worth_deepeval.diagnosis.profiles import p_text, rate_text
from worth_deepeval.diagnosis.tables_runs import Table, number
from worth_deepeval.diagnostics import Diagnosis
from worth_deepeval.episode import Sheet


def people_tables(one: Diagnosis, names: dict[str, str]) -> Iterator[Table]:
    """Yield whom runs name, together and beside whom."""

    def who(roles: Iterable[str]) -> str:
        return ", ".join(names[role] for role in roles) or "nobody"

    yield (
        "Whom runs name",
        ["Candidate", "Took part", "Distractor", "Named", "Models"],
        [
            [
                names[each.role],
                "yes" if each.participant else "no",
                "yes" if each.distractor else "no",
                rate_text(each.named),
                f"{sum(bool(rate.count) for _, rate in each.by_model)}/{sum(bool(rate.of) for _, rate in each.by_model)}",
            ]
            for each in one.roles
        ],
    )
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


def story_tables(sheet: Sheet, one: Diagnosis, names: dict[str, str]) -> Iterator[Table]:
    """Yield which sentences runs select, and where the argument breaks."""
    texts = {each.id: each.text for each in sheet.episode.sentences}
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
        ["Sentence", "Selected", "Missed, but beside it", "By chance", "p", "adjusted", "Text"],
        [
            [
                each.sentence,
                rate_text(selected[each.sentence].selected),
                rate_text(each.beside),
                "–" if each.chance is None else f"{each.chance:.0%}",
                p_text(each.test.p_value) if each.test else "–",
                "–" if each.adjusted is None else p_text(each.adjusted),
                texts[each.sentence],
            ]
            for each in one.near_misses
        ],
    )
    near = one.nearness
    yield (
        "Beside the key sentences",
        ["What", "Misses", "By chance", "p", "Against"],
        [
            [
                "misses of a key sentence with the sentence before or after selected",
                rate_text(near.beside),
                f"{near.test.expected:.0%}",
                p_text(near.test.p_value),
                near.test.method,
            ]
        ]
        if near.test
        else [],
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
        ["Item", "Kind", "Got right", "Models", "Discrimination", "within models", "Remark"],
        [
            [
                names.get(each.id, each.id),
                each.kind,
                rate_text(each.difficulty),
                f"{each.models.count}/{each.models.of}",
                number(each.discrimination),
                number(each.within),
                each.remark,
            ]
            for each in one.items
        ],
    )
