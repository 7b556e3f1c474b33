"""The retrieval-varying design once with a real model as writer: that the path holds from passages to measures, no more.

The model is far too small to use a passage, let alone to judge one. What it wrote and what was measured goes into `lore.json`; nothing
there says how a capable model would behave. It writes no ledger, so its LPI is unscored, and the question whether LPI stays is not
asked of it.
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import pytest

from ludic_deepeval.errors import ModelError
from ludic_deepeval.llm.client import Model
from ludic_deepeval.outcome import Outcome, Scored, Unscored
from tests.live.conftest import MEMBER, ROOT, SHA256, WHEEL, Standin, write_result
from trulens_feedback.judge import ModelJudge
from trulens_feedback.lexical import LexicalJudge
from trulens_feedback.lore import lore_faults
from trulens_feedback.retrieval import Chunk, chunks_of
from trulens_feedback.statements import Background
from trulens_feedback.study_drafts import CONDITIONS, Condition, Design
from trulens_feedback.triad import answer_relevance, context_relevance, groundedness

pytestmark = pytest.mark.live
LIVES = 1
_ASKED = "Write the backstory of {who} in one paragraph of five sentences. Use these facts of the world:\n{facts}\n\nThe backstory:"


def told(outcome: Outcome[Fraction]) -> Any:
    return (
        {"value": float(outcome.value)}
        if isinstance(outcome, Scored)
        else {"unscored": outcome.cause, "reason": outcome.reason}
    )


def written(model: Model, chunks: Sequence[Chunk], seed: int) -> str:
    """What the model writes; a text that was cut off at its limit is taken as it is, and said to be."""
    facts = "\n".join(f"- {chunk.text}" for chunk in chunks) or "- (none)"
    try:  # 60 tokens: two or three sentences, on one thread of a busy machine
        return model.complete(
            _ASKED.format(who="a carter", facts=facts), seed=seed, temperature=0.7, max_tokens=60
        ).text
    except ModelError as error:
        if error.kind != "truncated" or error.completion is None:
            raise
        return error.completion.text


def test_the_four_conditions_with_a_model_as_writer(local: Standin) -> None:
    design = Design(ROOT / "bible")
    model = local.model("ollama")
    rows = [
        measured(design, model, condition, seed) for condition in CONDITIONS for seed in range(1, LIVES + 1)
    ]
    answer = answer_relevance("the backstory of a carter", rows[0]["prose"], ModelJudge(model))
    assert isinstance(answer, Scored | Unscored)
    model.close()
    assert len(rows) == len(CONDITIONS) * LIVES
    assert all(row["in_retrieved"].keys() in ({"value"}, {"unscored", "reason"}) for row in rows)
    write_result(
        "lore.json",
        {
            "what": "a demonstration of the path from retrieval to measures with a model of 135 million parameters as writer;"
            " it says nothing of how capable models write, and nothing of LPI, which has no ledger here",
            "model": {"name": MEMBER.rpartition("/")[2], "wheel": WHEEL, "sha256": SHA256},
            "design": {
                "conditions": list(CONDITIONS),
                "lives": LIVES,
                "right": "ember-road@v2",
                "temperature": 0.7,
            },
            "rows": rows,
            "answer_relevance_of_the_first_by_the_same_model": {
                "score": float(answer.value.score),
                "reason": answer.value.reason,
            }
            if isinstance(answer, Scored)
            else told(answer),
        },
    )


def measured(design: Design, model: Model, condition: Condition, seed: int) -> dict[str, Any]:
    ledger = design.ledger(1, seed)
    found = design.retrieved(condition, ledger)
    chunks = tuple({chunk.id: chunk for some in found.values() for chunk in some}.values())
    prose = written(model, chunks, seed)
    own = design.given[condition] or design.world
    background = Background(world=(*design.world.bible.names, *own.bible.names))
    judge = LexicalJudge()
    in_world = groundedness(prose, chunks_of(design.world.bible), design.world, judge, background=background)
    in_retrieved = groundedness(prose, chunks, own, judge, background=background)
    relevance = context_relevance(prose, chunks, own, judge)
    return {
        "condition": condition,
        "seed": seed,
        "kind": "model",
        "prose": prose,
        "faults": [one.message for one in lore_faults(prose, design.world)],
        "in_world": told(in_world.score),
        "in_retrieved": told(in_retrieved.score),
        "statements": dict(in_retrieved.counts),
        "relevance_to_the_prose": told(relevance.score),
        "lpi": {"unscored": "unread", "reason": "nobody made a ledger of it"},
    }
