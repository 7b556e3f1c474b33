"""How often reuse labels are right on hand-labelled pairs, for people and for programs."""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, get_args

from ludic_deepeval.errors import clean
from ludic_deepeval.reuse_pairs import LABELS, Part, Result


def reuse_text(results: Mapping[str, Result], missing: Sequence[str]) -> Iterator[str]:
    """The lines that people read: for each labeller and part the confusion matrix, E_a and the traps."""
    for name, result in results.items():
        for part in get_args(Part):
            yield from _part_text(name, part, _of(result, part))
    for line in missing:
        yield f"not labelled: {clean(line, limit=400)}"


def _of(result: Result, part: str) -> Result:
    return result.only(lambda pair: pair.part == part)


def _part_text(name: str, part: str, result: Result) -> Iterator[str]:
    by = "by words alone" if name == "words" else f"by {clean(name, limit=100)}"
    yield f"{by}, {part} part: {result.right} of {len(result.pairs)} labels are the hand's"
    yield f"  {'by hand':<12}" + "".join(f"{f'said {label}':>16}" for label in LABELS)
    for hand in LABELS:
        yield f"  {hand:<12}" + "".join(f"{result.confusion[hand, said]:>16}" for said in LABELS)
    same, both = result.right_item
    yield f"  called reused by both: {both}, on the same item: {same}"
    told = result.only(lambda pair: pair.label != "ambiguous")
    hand_effort, said_effort = told.efforts
    yield (
        f"  E_a over what the hand told apart: {_two(hand_effort)} by hand, {_two(said_effort)} by these labels,"
        f" {_signed(result.bias)}"
    )
    rates = (f"{trap} {right} of {of}" for trap, (right, of) in result.by_trap().items())
    yield f"  right by kind: {', '.join(rates)}"
    yield ""


def _two(value: Fraction | None) -> str:
    return "nothing told" if value is None else f"{float(value):.2f}"


def _signed(value: Fraction | None) -> str:
    return "no difference to tell" if value is None else f"a difference of {float(value):+.2f}"


def reuse_json(results: Mapping[str, Result], missing: Sequence[str]) -> dict[str, Any]:
    """The same for programs."""
    return {
        "version": 1,
        "labellers": [
            {"name": name, "parts": {part: _part_json(_of(result, part)) for part in get_args(Part)}}
            for name, result in results.items()
        ],
        "missing": list(missing),
    }


def _part_json(result: Result) -> dict[str, Any]:
    same, both = result.right_item
    hand_effort, said_effort = result.only(lambda pair: pair.label != "ambiguous").efforts
    return {
        "pairs": len(result.pairs),
        "right": result.right,
        "confusion": {hand: {said: result.confusion[hand, said] for said in LABELS} for hand in LABELS},
        "same_item": {"right": same, "of": both},
        "effort": {"hand": _float(hand_effort), "labels": _float(said_effort), "bias": _float(result.bias)},
        "traps": {trap: {"right": right, "of": of} for trap, (right, of) in result.by_trap().items()},
    }


def _float(value: Fraction | None) -> float | None:
    return None if value is None else float(value)
