"""Made-up ratings, to try a study out before anybody is asked: every row says that it is simulated."""

import random
from collections.abc import Mapping
from math import sqrt
from statistics import NormalDist
from typing import Final

from ludic_deepeval.studies.rating_form import COLUMNS
from ludic_deepeval.studies.rating_key import RatingKey
from ludic_deepeval.studies.rating_words import QUESTIONS, SCALE, TARGETS, Question
from ludic_deepeval.studies.ratings import SIMULATED
from ludic_deepeval.studies.sheets import written

_SPREAD: Final = 1.2  # of answers, in steps of the scale


def rehearse(
    key: RatingKey, *, validity: float = 0.6, agreement: float = 0.5, seed: int = 0
) -> dict[str, str]:
    """Return a sheet for each rater with made-up answers.

    An answer is 4 + 1.2 z, rounded and kept within 1 to 7, z = √a · s + √(1 − a) · noise, with the story's own
    s = v · (standing on the question's metric) + √(1 − v²) · chance; standings are normal scores of ranks.

    Args:
        key: The form's.
        validity: v, the planted correlation of stories with the target metric, from −1 to 1.
        agreement: a, the planted ICC(1), from 0 to 1, before answers are rounded.
        seed: The same seed gives the same sheets.
    """
    rng = random.Random(f"rehearse:{seed}")  # noqa: S311  # a simulation
    stand = {question: _standing(key, question) for question in QUESTIONS}
    story = {
        (question, one.item): validity * stand[question].get(one.item, rng.gauss(0, 1))
        + sqrt(1 - validity * validity) * rng.gauss(0, 1)
        for question in QUESTIONS
        for one in key.items
    }

    def answer(question: Question, item: str) -> int:
        z = sqrt(agreement) * story[question, item] + sqrt(1 - agreement) * rng.gauss(0, 1)
        return min(SCALE[1], max(SCALE[0], round(4 + _SPREAD * z)))

    return {
        one.rater: written(
            COLUMNS,
            [
                [key.form, one.rater, item, *(answer(question, item) for question in QUESTIONS), SIMULATED]
                for item in one.items
            ],
        )
        for one in key.raters
    }


def _standing(key: RatingKey, question: Question) -> Mapping[str, float]:
    """Where each story stands on a question's metric: the normal score of its rank, ties sharing the mean rank."""
    values = {one.item: getattr(one.metrics, TARGETS[question]) for one in key.items}
    known = sorted(value for value in values.values() if value is not None)
    normal = NormalDist()
    return {
        item: normal.inv_cdf((known.index(value) + known.count(value) / 2) / len(known))
        for item, value in values.items()
        if value is not None
    }
