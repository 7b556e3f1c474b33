"""What the raters must not see: which story an item is, what was measured of it, and who rates what.

The key is written apart from the forms. It holds the metrics as they were when the forms were made, so that a report
compares ratings with the figures of the prose that was read, whatever has changed since.
"""

import random
from pathlib import Path
from typing import Annotated, Final, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from ludic_deepeval.errors import InputError, shown
from ludic_deepeval.files import dump_json, make_folder, read_bytes, write_atomic
from ludic_deepeval.ledger import Frozen, Text, load_model
from ludic_deepeval.lockfile import Sha256
from ludic_deepeval.studies.assignment import MAX_RATERS, Assignment
from ludic_deepeval.studies.rating_words import WORDING, Language
from ludic_deepeval.studies.sample import Candidate

_LETTERS: Final = "BCDFGHJKLMNPQRSTVWXZ"  # no vowels: an item's code is never a word
_DIGITS: Final = "23456789"
MAX_ITEMS: Final = 5000

Code = Annotated[str, StringConstraints(pattern=r"^[A-Z0-9-]{1,40}$")]
Finite = Annotated[float, Field(allow_inf_nan=False)]


class KeyMetrics(Frozen):
    """What was measured of a story, None where it was not."""

    lpi: Finite | None = None
    pcv: Finite | None = None
    e_a: Finite | None = None


class KeyItem(Frozen):
    """An item of the form, and the story behind it."""

    item: Code
    story: Text
    path: Text
    sha256: Sha256
    stratum: Text
    cell: str = ""
    metrics: KeyMetrics
    components: dict[str, Finite] = Field(default_factory=dict)


class KeyRater(Frozen):
    """A rater's code, and the items in the order in which they are shown."""

    rater: Code
    items: tuple[Code, ...]


class RatingKey(Frozen):
    """The key to a set of forms."""

    version: Literal[1] = 1
    kind: Literal["rating-key"] = "rating-key"
    form: Code
    seed: Annotated[int, Field(strict=True)]
    wording: Annotated[int, Field(strict=True, ge=1)] = WORDING
    language: Language = "en"
    items: Annotated[tuple[KeyItem, ...], Field(max_length=MAX_ITEMS)]
    raters: Annotated[tuple[KeyRater, ...], Field(max_length=MAX_RATERS)]

    @model_validator(mode="after")
    def _names_nothing_twice(self) -> Self:
        known = {one.item for one in self.items}
        if len(known) < len(self.items):
            raise ValueError("@items@an item is there twice; allowed: each once")
        if len({one.rater for one in self.raters}) < len(self.raters):
            raise ValueError("@raters@a rater is there twice; allowed: each once")
        for at, one in enumerate(self.raters):
            if len(set(one.items)) < len(one.items):
                raise ValueError(f"@raters[{at}].items@an item is there twice; allowed: each once")
            if unknown := sorted(set(one.items) - known):
                raise ValueError(f"@raters[{at}].items@{shown(unknown[0])} is no item; allowed: one of items")
        return self

    def item(self, code: str) -> KeyItem:
        """Return an item by its code."""
        return self._by_code[code]

    @property
    def _by_code(self) -> dict[str, KeyItem]:
        return {one.item: one for one in self.items}

    @property
    def items_of(self) -> dict[str, tuple[str, ...]]:
        """The items of each rater."""
        return {one.rater: one.items for one in self.raters}


def make_key(
    candidates: list[Candidate],
    strata: list[str],
    assignment: Assignment,
    *,
    seed: int,
    language: Language = "en",
) -> RatingKey:
    """Give every story a code that says nothing of it, and write down who rates what.

    Codes are drawn at random and in no order of the stories, so that neither the codes nor their order tells a
    cell or a score.
    """
    rng = random.Random(f"codes:{seed}")  # noqa: S311  # codes, no secret: the key is what is kept apart
    codes = _codes(rng, len(candidates))
    width = max(2, len(str(len(assignment.orders))))
    return RatingKey(
        form="-".join(("F", _code(rng), _code(rng))),
        seed=seed,
        language=language,
        items=tuple(
            KeyItem(
                item=code,
                story=one.id,
                path=one.path,
                sha256=one.prose.sha256,
                stratum=stratum,
                cell=one.cell,
                metrics=KeyMetrics.model_validate(one.metrics),
                components=one.components,
            )
            for code, one, stratum in zip(codes, candidates, strata, strict=True)
        ),
        raters=tuple(
            KeyRater(rater=f"R{number:0{width}}", items=tuple(codes[at] for at in order))
            for number, order in enumerate(assignment.orders, start=1)
        ),
    )


def _code(rng: random.Random) -> str:
    return rng.choice(_LETTERS) + rng.choice(_DIGITS) + rng.choice(_LETTERS) + rng.choice(_DIGITS)


def _codes(rng: random.Random, count: int) -> list[str]:
    found: dict[str, None] = {}
    while len(found) < count:
        found.setdefault(_code(rng))
    return list(found)


def load_key(path: Path) -> RatingKey:
    """Read a key; raise `InputError` when it is none."""
    return load_model(RatingKey, read_bytes(path), path)


def save_key(key: RatingKey, path: Path, forms: Path) -> None:
    """Write a key, never among the forms.

    Raises:
        InputError: The place is in the folder of the forms, which is what raters are sent.
    """
    if forms.resolve() in path.resolve().parents:
        raise InputError(
            path, "in the folder of the forms", where="--key", allowed="a place that no rater is sent"
        )
    make_folder(path.parent)
    write_atomic(path, dump_json(key.model_dump(mode="json")))
