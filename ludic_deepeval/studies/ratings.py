"""Ratings that came back: checked row by row against the key, and everything that is wrong named at once."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ludic_deepeval.errors import InputError, clean, shown
from ludic_deepeval.studies.rating_form import COLUMNS, MAX_COMMENT
from ludic_deepeval.studies.rating_key import RatingKey
from ludic_deepeval.studies.rating_words import QUESTIONS, SCALE, Question
from ludic_deepeval.studies.sheets import Row, read_sheet, written

SIMULATED: Final = "SIMULATED"
"""What stands as the comment of a rating that `rehearsal` made up."""
_NEEDED: Final = ("form", "rater", "item", *QUESTIONS)


@dataclass(frozen=True)
class Rating:
    """What one rater says of one item.

    Attributes:
        rater: The rater's code.
        item: The item's code.
        answers: Of each question that was answered, 1 to 7.
        comment: What the rater wrote beside it.
    """

    rater: str
    item: str
    answers: Mapping[Question, int]
    comment: str = ""


@dataclass(frozen=True)
class Ratings:
    """All that came back for one key.

    Attributes:
        form: The form's code.
        rows: By rater, then in the rater's order.
        asked: How many ratings the key asks for.
        absent: Raters of whom nothing came back.
        unanswered: How many questions have no answer, in rows that came back or should have, of raters who sent theirs.
    """

    form: str
    rows: tuple[Rating, ...]
    asked: int
    absent: tuple[str, ...]
    unanswered: int

    @property
    def simulated(self) -> int:
        """How many of the ratings were made up by a program."""
        return sum(row.comment == SIMULATED for row in self.rows)

    def by_item(self, question: Question) -> dict[str, dict[str, int]]:
        """The answers to a question: item, rater, answer."""
        found: dict[str, dict[str, int]] = {}
        for row in self.rows:
            if question in row.answers:
                found.setdefault(row.item, {})[row.rater] = row.answers[question]
        return found


@dataclass(frozen=True)
class Imported:
    """What came of an import: ratings, and what is wrong; ratings count only when nothing is."""

    ratings: Ratings
    errors: tuple[InputError, ...]


def import_ratings(key: RatingKey, files: Sequence[Path], *, allow_missing: bool = False) -> Imported:
    """Read the sheets of raters against the key that their forms were made with.

    Wrong, each with its file and row: another form's sheet, a rater or an item that the key does not have, an item that
    was not this rater's to rate, an answer that is no whole number from 1 to 7, an item rated twice, and a rater whose
    ratings come in two files. Rows or answers that a rater left out are wrong too, unless `allow_missing`.

    Args:
        key: The key.
        files: The sheets: one for each rater, or several raters in one, as `ratings_csv` writes them.
        allow_missing: Take what is there; what is not is counted.
    """
    errors: list[InputError] = []
    found: dict[tuple[str, str], Rating] = {}
    came_in: dict[str, Path] = {}
    empty: dict[str, list[tuple[Row, str]]] = {}
    for file in dict.fromkeys(files):
        if list(files).count(file) > 1:
            errors.append(InputError(file, "given twice", allowed="each sheet once"))
        try:
            rows = read_sheet(file, _NEEDED)
        except InputError as error:
            errors.append(error)
            continue
        of_this: set[str] = set()
        for row in rows:
            rater, item = row.cells["rater"], row.cells["item"]
            if fault := _misplaced(row, key):
                errors.append(fault)
            elif came_in.get(rater, file) != file:
                if rater not in of_this:
                    what = f"ratings of {rater} are in {came_in[rater]} already"
                    errors.append(row.error(what, column="rater", allowed="one file for each rater"))
            elif (rater, item) in found:
                errors.append(
                    row.error(f"{rater} rates {item} a second time", column="item", allowed="each item once")
                )
            else:
                came_in[rater] = file
                answers, faults = _answers(row)
                errors += faults
                empty.setdefault(rater, []).extend((row, name) for name in QUESTIONS if not row.cells[name])
                comment = row.cells.get("comment", "").removeprefix("'")[:MAX_COMMENT]
                found[rater, item] = Rating(rater, item, answers, comment)
            of_this.add(rater)
        if not rows:
            errors.append(InputError(file, "no ratings in this sheet", allowed="a row for each item"))
    if not allow_missing:
        errors += _left_out(key, found, came_in, empty)
    ordered = tuple(
        found[one.rater, item] for one in key.raters for item in one.items if (one.rater, item) in found
    )
    due = len(QUESTIONS) * sum(len(one.items) for one in key.raters if one.rater in came_in)
    given = sum(len(row.answers) for row in ordered)
    asked = sum(len(one.items) for one in key.raters)
    absent = tuple(one.rater for one in key.raters if one.rater not in came_in)
    return Imported(Ratings(key.form, ordered, asked, absent, due - given), tuple(errors))


def _misplaced(row: Row, key: RatingKey) -> InputError | None:
    """What is wrong with where a row says that it belongs."""
    form, rater, item = (row.cells[name] for name in ("form", "rater", "item"))
    if form != key.form:
        return row.error(f"found {shown(form)}", column="form", allowed=f"{key.form}, the form of this key")
    if rater not in key.items_of:
        return row.error(f"no rater {shown(rater)}", column="rater", allowed=_some(key.items_of))
    if item not in {one.item for one in key.items}:
        return row.error(f"no item {shown(item)}", column="item", allowed="an item of the form")
    if item not in key.items_of[rater]:
        return row.error(
            f"{item} is not {rater}'s to rate", column="item", allowed=_some(key.items_of[rater])
        )
    return None


def _answers(row: Row) -> tuple[dict[Question, int], list[InputError]]:
    first, last = SCALE
    answers: dict[Question, int] = {}
    faults = []
    for name in QUESTIONS:
        said = row.cells[name]
        if len(said) == 1 and said in "1234567":
            answers[name] = int(said)
        elif said:
            allowed = f"a whole number from {first} to {last}"
            faults.append(row.error(f"found {shown(said)}", column=name, allowed=allowed))
    return answers, faults


def _left_out(
    key: RatingKey,
    found: Mapping[tuple[str, str], Rating],
    came_in: Mapping[str, Path],
    empty: Mapping[str, list[tuple[Row, str]]],
) -> Iterable[InputError]:
    """One fault for each rater's unanswered questions, and one for the rows that are not there."""
    hint = "--allow-missing takes what is there"
    for rater, file in came_in.items():
        if blank := empty[rater]:
            row, name = blank[0]
            items = list(dict.fromkeys(one.cells["item"] for one, _ in blank))
            what = f"{rater} left {len(blank)} {'question' if len(blank) == 1 else 'questions'} unanswered, of {_some(items)}"
            yield row.error(what, column=name, allowed=f"{SCALE[0]} to {SCALE[1]}", hint=hint)
        lost = [item for item in key.items_of[rater] if (rater, item) not in found]
        if lost:
            what = f"{len(lost)} of {len(key.items_of[rater])} items of {rater} are not there: {_some(lost)}"
            yield InputError(file, what, hint=hint)


def _some(names: Iterable[str]) -> str:
    listed = list(names)
    return clean(
        ", ".join(listed[:6]) + (f" and {len(listed) - 6} more" if len(listed) > 6 else ""), limit=200
    )


def ratings_csv(ratings: Ratings) -> str:
    """Return all ratings as one sheet, which `import_ratings` reads again."""
    rows = [
        [ratings.form, row.rater, row.item, *(row.answers.get(name, "") for name in QUESTIONS), row.comment]
        for row in ratings.rows
    ]
    return written(COLUMNS, rows)


def counts(ratings: Ratings) -> dict[str, object]:
    """How many ratings, raters and items there are, and what is missing."""
    per_item = Counter(row.item for row in ratings.rows)
    return {
        "ratings": len(ratings.rows),
        "asked": ratings.asked,
        "raters": len({row.rater for row in ratings.rows}),
        "items": len(per_item),
        "raters_per_item": {
            str(count): number for count, number in sorted(Counter(per_item.values()).items())
        },
        "absent": list(ratings.absent),
        "unanswered": ratings.unanswered,
    }
