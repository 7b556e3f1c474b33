"""The text that a model is given: the story in numbered sentences, the candidates, seven fields, nine rules (WORTH §4.3).

It is made of an episode without its key. Weights, points and the number of participants are in no prompt, and no change
of them changes one to the byte; of K nothing is disclosed but its size, and under evidence-cueing its ids.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Final

from ludic_deepeval.errors import InputError
from ludic_deepeval.prompts import load_prompt
from worth_deepeval.conditions import Condition
from worth_deepeval.episode import Candidate, Question

FOLDER: Final = Path(__file__).parent / "prompts"
_HIDDEN: Final = {"en": "an undisclosed number of", "zh": "若干"}
_POINTS: Final = {
    "en": (
        "A key sentence adds points, any other costs none. A right character adds points, a\nwrong one costs points.",
        "How selections are scored is not disclosed.",
    ),
    "zh": ("选中关键句得分，选中其他句子不扣分。选对人物得分，\n选错人物扣分。", "计分方式不公布。"),
}
_CUE: Final = {
    "en": "\nThe key sentences of this story are: {ids}.\n",
    "zh": "\n本故事的关键句是：{ids}。\n",
}
_DEFINITION: Final = {"en": "Who counts as a participant: {text}\n\n", "zh": "参与者的定义：{text}\n\n"}


@dataclass(frozen=True)
class WorthPrompt:
    """A prompt and what it was made of.

    Attributes:
        text: What a model is sent, in a single turn.
        sha256: Its hash, which a run keeps.
        version: Of the template.
        condition: The condition's name.
    """

    text: str
    sha256: str
    version: int
    condition: str


def build_prompt(
    question: Question, condition: Condition | None = None, *, cued: Iterable[str] = ()
) -> WorthPrompt:
    """Make the prompt of an episode.

    Args:
        question: The episode without its key.
        condition: How it differs from the benchmark; `full-story` when left out.
        cued: The ids of K, under evidence-cueing alone.

    Raises:
        InputError: Ids without evidence-cueing, or evidence-cueing without ids; an episode whose story is withheld, or that has no
            key sentences yet and would say so.
    """
    condition = condition or Condition()
    if question.episode.withheld:
        raise InputError(
            question.episode.id,
            "its story is not public",
            hint="such a sheet scores replies and asks for none",
        )
    if condition.disclosure and not question.key_size:
        raise InputError(
            question.episode.id, "no key sentences yet", where="key.clues", allowed="at least one"
        )
    ids = sorted(cued)
    if bool(ids) != (condition.cue == "evidence-cueing"):
        raise InputError("prompt", "the ids of K", allowed="under evidence-cueing, and there alone")
    episode, template = question.episode, load_prompt(question.episode.language, folder=FOLDER)
    language = episode.language
    by_id = {one.id: one for one in episode.candidates}
    listed = [by_id[one] for one in condition.roster(list(by_id))]
    text = template.render(
        title=episode.title,
        question=episode.question,
        scope=episode.scope,
        definition=_DEFINITION[language].format(text=episode.participant_definition)
        if condition.definition
        else "",
        key_size=str(question.key_size) if condition.disclosure else _HIDDEN[language],
        quota=str(episode.quota.sentences),
        points=_POINTS[language][0 if condition.disclosure else 1],
        episode_id=episode.id,
        candidates="\n".join(" ".join(_listed(one).splitlines()) for one in listed),
        story="\n".join(episode.numbered()),
        first_sentence=episode.sentences[0].id,
        first_role=min(by_id),
        cue=_CUE[language].format(ids=", ".join(ids)) if ids else "",
    )
    digest = sha256(text.encode("utf-8")).hexdigest()
    return WorthPrompt(text, digest, template.version, condition.name)


def _listed(one: Candidate) -> str:
    return f"[{one.id}] {one.name}" + (f": {one.note}" if one.note else "")
