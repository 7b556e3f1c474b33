"""Which prompt a role has in a genre (§5.10): its own where there is one, and the Notary's with the genre's four questions.

The campaign's prompts are the paper's, to the byte. A prompt that differs has another hash, which goes into what it produced.
"""

import re
from dataclasses import replace
from functools import cache
from typing import Final

from ludic_deepeval.genre import DIMENSIONS, Dimension, DimensionName, load_genre
from ludic_deepeval.policy import Policy
from ludic_deepeval.prompts import FOLDER, Prompt, load_prompt

_QUESTIONS: Final = re.compile(r"(?s)( {3}- `immediacy`:.*?)(?=\n5\. )")


def prompt_for(role: str, policy: Policy | None = None) -> Prompt:
    """Return a role's prompt under a policy's profile; without a policy the campaign's.

    Raises:
        InputError: There is no such prompt.
    """
    if policy is None or (policy.genre is None and policy.built_in != "cosy"):
        return _prompt(role, "campaign")
    if role != "notary":
        return _prompt(role, policy.built_in)
    genre = policy.genre or load_genre(policy.profile)
    if policy.built_in != "cosy" and dict(genre.dimensions) == dict(load_genre("campaign").dimensions):
        return _prompt(role, "campaign")
    return _with_questions(policy.built_in, tuple((name, genre.dimensions[name]) for name in DIMENSIONS))


@cache
def _prompt(role: str, built_in: str) -> Prompt:
    own = f"{role}-{built_in}"
    return load_prompt(own if (FOLDER / f"{own}.yaml").is_file() else role)


@cache
def _with_questions(built_in: str, dimensions: tuple[tuple[DimensionName, Dimension], ...]) -> Prompt:
    """The Notary's prompt with other questions and anchors for the four dimensions; what it answers with stays the same."""
    prompt = _prompt("notary", built_in)
    lines = [f"   - `{name}`: {one.asks} {one.low} is 1; {one.high} is 9." for name, one in dimensions]
    system, found = _QUESTIONS.subn(lambda _: "\n".join(lines), prompt.system)
    assert found == 1, "the Notary's prompt has lost its four questions"  # noqa: S101  # a test holds the file to it
    return replace(prompt, system=system)
