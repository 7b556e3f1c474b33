"""An episode: a mystery in numbered sentences, its candidates, and a key that no prompt may see (WORTH §4.1, 4.2, 4.5).

`Episode` is what a reader of the story may know; `Key` is what the author knows. They stand in one file and are parsed
apart, so that whoever builds a prompt holds nothing of the key but the number of its sentences.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Self, TypeAlias

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, model_validator

from ludic_deepeval.errors import InputError, shown
from ludic_deepeval.files import MAX_YAML_BYTES, decode, dump_json, load_yaml, read_bytes
from ludic_deepeval.ledger import load_model
from ludic_deepeval.outcome import Outcome, Scored, Unscored

WITHHELD: Final = "(not public)"  # the text of every sentence where the story is not to be had
SENTENCE: Final = re.compile(r"S[0-9]{3,4}", re.ASCII)
ROLE: Final = re.compile(r"R[0-9]{2,3}", re.ASCII)

Text: TypeAlias = Annotated[str, StringConstraints(min_length=1, max_length=20_000, pattern=r"\S")]


def _form(pattern: str, words: str) -> AfterValidator:
    """Hold a text to a form, and name the form in words where it is not kept."""
    whole = re.compile(pattern, re.ASCII)

    def check(value: str) -> str:
        if not whole.fullmatch(value):
            raise ValueError(f"found {shown(value)}; allowed: {words}")
        return value

    return AfterValidator(check)


SentenceId: TypeAlias = Annotated[str, _form(SENTENCE.pattern, "S and three or four digits, such as S001")]
RoleId: TypeAlias = Annotated[str, _form(ROLE.pattern, "R and two or three digits, such as R01")]
Function: TypeAlias = Literal["suspicion", "exoneration", "premise", "method", "motive", "time"]


class Frozen(BaseModel):
    """Base of the models here: immutable, and nothing in them that they do not know."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class Sentence(Frozen):
    """One numbered sentence. The number serves to find it and says nothing else."""

    id: SentenceId
    text: Text


class Candidate(Frozen):
    """Somebody who may have taken part."""

    id: RoleId
    name: Text
    note: Text | None = None


class Proposal(Frozen):
    """Why a program thinks that a sentence is in K: a fact of its source, and how much of it stands in the sentence."""

    fact: Text
    score: Annotated[int, Field(strict=True, ge=0, le=100)]


class Clue(Frozen):
    """A sentence of K. A weight of null is one that is not known (the paper prints only the sum).

    What is still `proposed` is a program's guess: a person confirms it by taking that line out.
    """

    sentence: SentenceId
    weight: Annotated[int, Field(strict=True, ge=1, le=20)] | None = None
    function: Text | None = None
    proposed: tuple[Proposal, ...] = ()


class Payoff(Frozen):
    """What choosing a candidate gives: above 0 for a participant, at most 0 for anybody else."""

    role: RoleId
    points: Annotated[int, Field(strict=True, ge=-50, le=50)]


class Annotation(Frozen):
    """What a sentence does in the argument, whether it is in K or not."""

    sentence: SentenceId
    role: Function
    target: RoleId | None = None
    force: Literal["weak", "strong", "decisive"] | None = None


class Pair(Frozen):
    """A watched pair: a sentence that throws suspicion beside one that takes it away (§5.2.2)."""

    suspicion: SentenceId
    exoneration: SentenceId
    target: RoleId


class Distractor(Frozen):
    """A candidate who looks guilty and is not, with the sentences for either."""

    role: RoleId
    incriminating: tuple[SentenceId, ...]
    exonerating: tuple[SentenceId, ...]


class Fact(Frozen):
    """A step of the argument: what follows from which sentences and facts."""

    id: Annotated[str, _form(r"F[0-9]{1,3}", "F and up to three digits, such as F1")]
    text: Text
    needs: Annotated[tuple[str, ...], Field(min_length=1)]


class Conclusion(Frozen):
    """Who takes part, or who is cleared, by which facts."""

    role: RoleId
    verdict: Literal["participant", "excluded"]
    facts: Annotated[tuple[str, ...], Field(min_length=1)]


class Chain(Frozen):
    """From the sentences of K to the participants."""

    facts: tuple[Fact, ...] = ()
    conclusions: tuple[Conclusion, ...] = ()


class Variation(Frozen):
    """Of which episode this one is a variation, and how (§3.4, §6.5). It stands in the key, so that no prompt can tell.

    Attributes:
        episode: The id of the episode that it varies.
        kind: A `modification` changes evidence and with it the answer; a `rewrite` changes person or salience and no fact.
        name: What its runs are told apart by, such as "third-person".
        changed: The sentences whose text differs; empty where all may (another person, say).
    """

    episode: Text
    kind: Literal["modification", "rewrite"]
    name: Text
    changed: tuple[SentenceId, ...] = ()


class Key(Frozen):
    """What the author knows. No prompt may see it.

    Attributes:
        status: A draft claims nothing of its key yet.
        clues: K.
        participants: The points of each candidate.
        annotations: What sentences do in the argument.
        pairs: Watched pairs.
        distractors: Who looks guilty and is not.
        chain: From K to the answer.
        clue_total: The sum of the weights.
        unplaced: How many sentences of K there are beside `clues`, of which nobody outside knows which they are.
        outside: Sentences that are known to be none of those.
        varies: The episode of which this one is a variation.
        unaligned: Facts of the source that stand in no sentence, as far as a program can tell.
    """

    status: Literal["final", "draft"]
    clues: tuple[Clue, ...] = ()
    participants: tuple[Payoff, ...] = ()
    annotations: tuple[Annotation, ...] = ()
    pairs: tuple[Pair, ...] = ()
    distractors: tuple[Distractor, ...] = ()
    chain: Chain = Chain()
    clue_total: Annotated[int, Field(strict=True, ge=1)] | None = None
    unplaced: Annotated[int, Field(strict=True, ge=0, le=2000)] = 0
    outside: tuple[SentenceId, ...] = ()
    varies: Variation | None = None
    unaligned: tuple[Text, ...] = ()

    @property
    def sentences(self) -> tuple[str, ...]:
        """K."""
        return tuple(clue.sentence for clue in self.clues)

    @property
    def weights(self) -> dict[str, int | None]:
        """The points of each sentence of K."""
        return {clue.sentence: clue.weight for clue in self.clues}

    @property
    def points(self) -> dict[str, int]:
        """The points of each candidate."""
        return {payoff.role: payoff.points for payoff in self.participants}

    @property
    def guilty(self) -> frozenset[str]:
        """The participants."""
        return frozenset(payoff.role for payoff in self.participants if payoff.points > 0)


class Provenance(Frozen):
    """Where an episode comes from, and when it could first be read."""

    source: Text
    licence: Text | None = None
    released: Text | None = None
    note: Text | None = None


class Quota(Frozen):
    """The most that a reply may select."""

    sentences: Annotated[int, Field(strict=True, ge=1)]


class Episode(Frozen):
    """A mystery as its readers get it."""

    id: Annotated[
        str, _form(r"[A-Za-z0-9][A-Za-z0-9._-]{0,60}", "letters, digits, dots and dashes, such as WEN01")
    ]
    version: Annotated[
        str, _form(r"[0-9A-Za-z][0-9A-Za-z._-]{0,30}", "letters, digits and dots, such as 1.0")
    ]
    language: Literal["en", "zh"]
    canary: Text
    title: Text
    question: Text
    scope: Text
    participant_definition: Text
    provenance: Provenance
    quota: Quota
    sentences: Annotated[tuple[Sentence, ...], Field(max_length=2000)]
    candidates: Annotated[tuple[Candidate, ...], Field(min_length=2, max_length=200)]

    @model_validator(mode="after")
    def _ids(self) -> Self:
        ids = (
            ("sentences", [one.id for one in self.sentences]),
            ("candidates", [one.id for one in self.candidates]),
        )
        for path, given in ids:
            seen: set[str] = set()
            for index, one in enumerate(given):
                if one in seen:
                    raise ValueError(
                        f"@{path}[{index}].id@{shown(one)} is used twice; allowed: ids that are unique"
                    )
                seen.add(one)
        return self

    @cached_property
    def sentence_ids(self) -> frozenset[str]:
        """The ids of all sentences."""
        return frozenset(sentence.id for sentence in self.sentences)

    @cached_property
    def role_ids(self) -> frozenset[str]:
        """The ids of all candidates."""
        return frozenset(candidate.id for candidate in self.candidates)

    @cached_property
    def digest(self) -> str:
        """The hash of all that a reader gets."""
        return sha256(dump_json(self.model_dump(mode="json")).encode("utf-8")).hexdigest()

    @cached_property
    def withheld(self) -> bool:
        """Whether there is no story: a scoring sheet of an episode whose text is not public."""
        return all(sentence.text == WITHHELD for sentence in self.sentences)

    def numbered(self) -> Iterator[str]:
        """Yield the story as readers get it, a sentence a line."""
        for sentence in self.sentences:
            yield f"[{sentence.id}] {' '.join(sentence.text.splitlines())}"


@dataclass(frozen=True, slots=True)
class Range:
    """What a key makes possible.

    Attributes:
        minimum: The least total: every wrong candidate and no key sentence.
        maximum: The most: all of K (as far as the quota goes) and every participant.
        clues: The most points for sentences; the least is 0.
        participants: The least and most points for candidates.
    """

    minimum: int
    maximum: int
    clues: int
    participants: tuple[int, int]


def score_range(key: Key, quota: int) -> Outcome[Range]:
    """The theoretical range, from the key alone (§4.5): EP01 −15 to 53, EP02 −22 to 47.

    Args:
        key: The author's key.
        quota: How many sentences a reply may select.

    Returns:
        The range, or `Unscored("weights")` when neither the weights of K nor their sum is known.
    """
    weights = [clue.weight for clue in key.clues]
    if None in weights or key.unplaced:
        if key.clue_total is None or quota < len(weights) + key.unplaced:
            return Unscored("weights", "the weights of the key sentences are not known")
        clues = key.clue_total
    else:
        clues = sum(sorted((weight for weight in weights if weight is not None), reverse=True)[:quota])
    points = [payoff.points for payoff in key.participants]
    least, most = sum(one for one in points if one < 0), sum(one for one in points if one > 0)
    return Scored(Range(least, most + clues, clues, (least, most)))


@dataclass(frozen=True)
class Sheet:
    """An episode with its key, as whoever scores holds it.

    Attributes:
        episode: The readers' side.
        key: The author's side.
        path: The file.
    """

    episode: Episode
    key: Key
    path: Path

    @cached_property
    def weights(self) -> dict[str, int | None]:
        """The points of each sentence of K."""
        return self.key.weights

    @cached_property
    def points(self) -> dict[str, int]:
        """The points of each candidate."""
        return self.key.points

    @cached_property
    def range(self) -> Outcome[Range]:
        """What totals are possible."""
        return score_range(self.key, self.episode.quota.sentences)


@dataclass(frozen=True)
class Question:
    """An episode as whoever builds a prompt holds it.

    Attributes:
        episode: The readers' side.
        key_size: How many sentences K has: the one thing that is disclosed of it (§4.4).
    """

    episode: Episode
    key_size: int


def load_sheet(path: Path) -> Sheet:
    """Read an episode with its key, for scoring.

    Raises:
        InputError: No such file, or something in it is not as it must be (file, place, what is allowed).
    """
    file, data = _read(path)
    key = data.pop("key", None)
    if key is None:
        raise InputError(file, "no key", where="key", allowed="clues and participants")
    return Sheet(load_model(Episode, data, file), load_model(Key, key, f"{file}: key"), file)


def load_question(path: Path) -> Question:
    """Read an episode without its key, for a prompt; only the number of key sentences is looked at.

    Raises:
        InputError: As `load_sheet`, but nothing in the key is validated.
    """
    file, data = _read(path)
    key = data.pop("key", None)
    clues = key.get("clues") if isinstance(key, dict) else None
    return Question(load_model(Episode, data, file), len(clues) if isinstance(clues, list) else 0)


def _read(path: Path) -> tuple[Path, dict[str, Any]]:
    file = path / "episode.yaml" if path.is_dir() else path
    data = load_yaml(decode(read_bytes(file, limit=MAX_YAML_BYTES), file), file)
    if not isinstance(data, dict):
        raise InputError(file, f"found {shown(data)}", allowed="an episode: a mapping of its fields")
    return file, dict(data)
