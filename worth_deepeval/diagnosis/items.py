"""Key sentences, participants and distractors as the questions of a test: the author's feedback loop (§3.3)."""

from dataclasses import dataclass
from math import sqrt
from typing import Final

from ludic_deepeval.stats.intervals import Z95, Rate, wilson
from ludic_deepeval.stats.permutation import correlation_within, pearson
from worth_deepeval.diagnosis.sample import Sample, flags


@dataclass(frozen=True)
class Item:
    """A key sentence or a candidate, as a question of a test.

    Attributes:
        id: The sentence, or the candidate.
        kind: "sentence", "participant" or "distractor".
        difficulty: Runs that got it right: selected the sentence, named the participant, left the distractor out.
        discrimination: Over runs, the correlation of getting it right with the rest of the points; None when either does
            not vary.
        within: The same with each model's means taken away: whether it tells a model's better runs from its worse ones, and
            not one model from another.
        models: Of the models, those of which some run got it right.
        remark: What there is to say of it, "" where nothing is.
    """

    id: str
    kind: str
    difficulty: Rate
    discrimination: float | None
    within: float | None
    models: Rate
    remark: str


def items(sample: Sample) -> tuple[Item, ...]:
    """Return how hard each key sentence, participant and distractor is, and whether those who score well get it right."""
    n = len(sample.scored)
    totals = [score.total for score in sample.scores]
    key = sample.sheet.key
    distractors = {one.role for one in key.distractors}
    wanted = [(sentence, "sentence", weight or 0, True) for sentence, weight in key.weights.items()]
    wanted += [
        (role, "participant" if points > 0 else "distractor", points, points > 0)
        for role, points in key.points.items()
        if points > 0 or role in distractors
    ]
    groups = [each for each in sample.positions.values() if each]
    out = []
    for one, kind, points, wants in wanted:
        mask = sample.by_sentence[one] if kind == "sentence" else sample.by_role[one]
        chosen = flags(mask, n)
        right = [float(flag == wants) for flag in chosen]
        rest = [total - points * flag for total, flag in zip(totals, chosen, strict=True)]
        found, rate = pearson(right, rest), wilson(int(sum(right)), n)
        models = sum(any(right[i] for i in each) for each in groups)
        out.append(
            Item(
                one,
                kind,
                rate,
                found,
                correlation_within(groups, right, rest),
                wilson(models, len(groups)),
                _remark(kind, rate, found),
            )
        )
    return tuple(out)


_NOBODY: Final = {
    "sentence": "nobody selects it: it tells no readers apart; see what they select beside it",
    "participant": "nobody names them: see whether readers take them for a participant at all",
    "distractor": "everybody names them: nothing that clears them is taken up",
}
_EVERYBODY: Final = {
    "sentence": "everybody selects it: it tells no readers apart",
    "participant": "everybody names them: they tell no readers apart",
    "distractor": "nobody names them: they draw nobody",
}


def _remark(kind: str, rate: Rate, discrimination: float | None) -> str:
    """What the author may want to know. Nothing here says whether the story or the readers are at fault."""
    if not rate.of or rate.low is None or rate.high is None:
        return ""
    said = {
        _NOBODY[kind]: rate.count == 0,
        _EVERYBODY[kind]: rate.count == rate.of,
        "who scores well otherwise gets it wrong more often": (discrimination or 0) < -Z95 / sqrt(rate.of),
        "almost everybody gets it right": rate.low > 0.9,
        "almost nobody gets it right": rate.high < 0.1,
    }
    return next((words for words, holds in said.items() if holds), "")
