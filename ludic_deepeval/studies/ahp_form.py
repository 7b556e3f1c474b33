"""The pairwise form: a page and a sheet for each expert, and the reading of what comes back (§5.7).

Which pair comes first, and which of two stands left, is drawn anew for each expert, so that neither leans the panel.
"""

import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Final

from ludic_deepeval.errors import InputError, clean, shown
from ludic_deepeval.files import make_folder, write_atomic
from ludic_deepeval.report.page.markup import Html, el
from ludic_deepeval.studies.ahp_words import DIMENSIONS, NAMES, PAGE, STRENGTHS, WORDING, Dimension
from ludic_deepeval.studies.pages import bar, page
from ludic_deepeval.studies.rating_words import Language
from ludic_deepeval.studies.sheets import Row, read_sheet, require_no_forms, written

COLUMNS: Final = ("form", "expert", "left", "right", "prefer", "strength")
MAX_EXPERTS: Final = 500
_STRONGEST: Final = 9
Pair = tuple[Dimension, Dimension]
PAIRS: Final[tuple[Pair, ...]] = tuple(combinations(DIMENSIONS, 2))


@dataclass(frozen=True)
class PairForm:
    """What an expert is given.

    Attributes:
        form: The form's code, which holds the version of its wording.
        expert: The expert's code.
        pairs: The six pairs, left and right, in the expert's order.
        language: Of the questions.
    """

    form: str
    expert: str
    pairs: tuple[Pair, ...]
    language: Language


def make_forms(experts: int, *, seed: int, language: Language = "en") -> Iterator[PairForm]:
    """Yield each expert's form; over two experts each pair stands once either way round.

    Raises:
        InputError: No expert, or more than 500.
    """
    if not 1 <= experts <= MAX_EXPERTS:
        raise InputError("--experts", f"found {experts}", allowed=f"1 to {MAX_EXPERTS}")
    rng = random.Random(f"ahp:{seed}")  # noqa: S311  # an order, no secret
    code = f"A{WORDING}-{rng.randrange(10**6):06}"
    width = max(2, len(str(experts)))
    turned = [False] * len(PAIRS)
    for number in range(1, experts + 1):
        turned = [not one for one in turned] if number % 2 == 0 else [rng.random() < 0.5 for _ in PAIRS]
        pairs: list[Pair] = [
            (pair[1], pair[0]) if turn else pair for pair, turn in zip(PAIRS, turned, strict=True)
        ]
        rng.shuffle(pairs)
        yield PairForm(code, f"E{number:0{width}}", tuple(pairs), language)


def pair_html(form: PairForm) -> str:
    """Return an expert's page: one file that works from a disk, keeps the answers and saves them as CSV."""
    words = PAGE[form.language]
    count = len(form.pairs)
    names = (
        "answered",
        "said",
        "equal",
        "between",
        "fit",
        "unfit",
        "saved",
        "loaded",
        "foreign",
        "memory",
    )
    return page(
        words["title"],
        form.language,
        ("form.js", "ahp.js"),
        el("a", words["skip"], href="#pairs", class_="skip"),
        el(
            "header",
            el("h1", words["title"]),
            el("p", words["intro"]),
            el("p", words["scale"]),
            el("p", words["keeping"]),
            el("noscript", el("p", el("b", words["noscript"]))),
        ),
        bar(words, form.expert, count),
        el("main", *(_pair(form, at) for at in range(count)), id="pairs"),
        data_form=form.form,
        data_who=form.expert,
        data_strengths=json.dumps(STRENGTHS[form.language], ensure_ascii=False),
        **{f"data_{name}": words[name] for name in names},
    )


def _pair(form: PairForm, at: int) -> Html:
    left, right = form.pairs[at]
    words, names = PAGE[form.language], NAMES[form.language]
    marks = []
    for step in range(-(_STRONGEST - 1), _STRONGEST):
        side = left if step < 0 else right if step > 0 else None
        label = words["equal"] if side is None else f"{names[side][0]} {abs(step) + 1}"
        marks.append(
            el(
                "label",
                el(
                    "input", type="radio", name=f"pair-{at}", value=step, autocomplete="off", aria_label=label
                ),
                el("span", str(abs(step) + 1), aria_hidden="true"),
            )
        )
    return el(
        "fieldset",
        el("legend", f"{words['pair']} {at + 1} {words['of']} {len(form.pairs)}"),
        el(
            "div",
            *(el("div", el("b", names[one][0]), names[one][1]) for one in (left, right)),
            class_="sides",
        ),
        el("div", *marks, class_="scale"),
        el("p", class_="said soft", aria_live="polite"),
        class_="pair",
        data_left=left,
        data_right=right,
        data_left_name=names[left][0],
        data_right_name=names[right][0],
    )


def pair_csv(form: PairForm) -> str:
    """Return an expert's sheet: a row a pair, with `prefer` and `strength` empty."""
    return written(COLUMNS, [[form.form, form.expert, left, right, "", ""] for left, right in form.pairs])


def pair_text(form: PairForm) -> str:
    """Return what belongs to the sheet: what the dimensions mean, and how a row is filled in."""
    words = PAGE[form.language]
    steps = ", ".join(f"{number} {said}" for number, said in STRENGTHS[form.language].items())
    parts = [words["title"], words["intro"], f"prefer: left | right | equal; strength: 1-9 ({steps})"]
    parts += [f"{one}: {NAMES[form.language][one][0]}. {NAMES[form.language][one][1]}" for one in DIMENSIONS]
    return "\n\n".join(parts) + "\n"


def write_pair_forms(forms: Sequence[PairForm], folder: Path) -> list[Path]:
    """Write each expert's page, sheet and text into a folder; return the files."""
    require_no_forms(folder, "ahp")
    make_folder(folder)
    files = []
    for form in forms:
        for ending, made in (("html", pair_html(form)), ("csv", pair_csv(form)), ("txt", pair_text(form))):
            path = folder / f"ahp-{form.expert}.{ending}"
            write_atomic(path, made)
            files.append(path)
    return files


@dataclass(frozen=True)
class Answers:
    """What came back.

    Attributes:
        ratios: By expert: for each pair, how many times the first weighs what the second does.
        errors: All that is wrong; the answers count only when nothing is.
    """

    ratios: dict[str, dict[Pair, Fraction]]
    errors: tuple[InputError, ...]


def read_pairs(files: Sequence[Path]) -> Answers:
    """Read experts' sheets.

    Wrong, each with its file and row: a sheet of another wording, a pair that is none or comes twice, an answer that is
    no preference, a strength outside 1 to 9 or at odds with the preference, an expert in two files, a pair left out.
    """
    errors: list[InputError] = []
    ratios: dict[str, dict[Pair, Fraction]] = {}
    came_in: dict[str, Path] = {}
    for file in files:
        try:
            rows = read_sheet(file, COLUMNS)
        except InputError as error:
            errors.append(error)
            continue
        if not rows:
            errors.append(InputError(file, "no answers in this sheet", allowed="a row for each pair"))
        here: dict[str, int] = {}
        for row in rows:
            expert = row.cells["expert"]
            first = here.setdefault(expert, row.line) == row.line
            try:
                if expert not in came_in:
                    _take(row, ratios.setdefault(expert, {}))
                elif first:
                    what = f"answers of {clean(expert)} are in {came_in[expert]} already"
                    errors.append(row.error(what, column="expert", allowed="one file for each expert"))
            except InputError as error:
                errors.append(error)
        came_in |= dict.fromkeys(here.keys() - came_in.keys(), file)
    broken = {str(error.file) for error in errors}
    for expert, known in ratios.items():
        lost = [" and ".join(pair) for pair in PAIRS if pair not in known]
        if lost and str(came_in[expert]) not in broken:
            errors.append(
                InputError(
                    came_in[expert], f"{clean(expert)} left out {', '.join(lost)}", allowed="all six pairs"
                )
            )
    return Answers(ratios, tuple(errors))


def _take(row: Row, known: dict[Pair, Fraction]) -> None:
    pair, ratio = _ratio(row)
    if pair in known:
        raise row.error(f"{' and '.join(pair)} a second time", allowed="each pair once")
    known[pair] = ratio


def _ratio(row: Row) -> tuple[Pair, Fraction]:
    """A row's pair, and how many times the first of it weighs what the second does."""
    form, expert, left, right, prefer, strength = (row.cells[name] for name in COLUMNS)
    if not form.startswith(f"A{WORDING}-"):
        allowed = f"a form of wording {WORDING}, A{WORDING}-…"
        raise row.error(f"found {shown(form)}", column="form", allowed=allowed)
    if not expert:
        raise row.error("empty", column="expert", allowed="the expert's code")
    pair = next((one for one in PAIRS if set(one) == {left, right}), None)
    if pair is None:
        allowed = f"two different ones of {', '.join(DIMENSIONS)}"
        raise row.error(f"found {shown(left)} and {shown(right)}", column="left, right", allowed=allowed)
    if prefer not in {"left", "right", "equal"}:
        found = (
            f"found {shown(prefer)}" if prefer else f"{clean(expert)} left {' and '.join(pair)} unanswered"
        )
        raise row.error(found, column="prefer", allowed="left, right or equal")
    if strength not in ({"", "1"} if prefer == "equal" else set("23456789")):
        allowed = "1 or nothing" if prefer == "equal" else "a whole number from 2 to 9"
        raise row.error(f"found {shown(strength)} beside {prefer}", column="strength", allowed=allowed)
    ratio = Fraction(1 if prefer == "equal" else int(strength))
    preferred = left if prefer == "left" else right
    return pair, ratio if preferred == pair[0] else 1 / ratio
