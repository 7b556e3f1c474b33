"""What becomes of the hypotheses: supported, not supported, or not testable and why (LudicMetrics §4.6, 5.2–5.5).

Pure: a design with its hypotheses and the lines of a store in, verdicts out. An effect is the mean at `to` less that at `from`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias

from ludic_deepeval.errors import DataError
from ludic_deepeval.studies.hypotheses import (
    METRICS,
    BoundedNull,
    General,
    Hypothesis,
    Interaction,
    Overall,
    SignedPattern,
    SimpleEffect,
)
from ludic_deepeval.studies.numbers import Number, make, measured
from ludic_deepeval.studies.rows import Data, Levels, Row

Outcome: TypeAlias = Literal["supported", "not supported", "not testable"]
_TAILS: Final = {"lower": "Welch p, lower", "higher": "Welch p, higher"}


@dataclass(frozen=True)
class Verdict:
    """What became of a hypothesis.

    Attributes:
        hypothesis: Which.
        outcome: Whether it is supported.
        why: Why, in a sentence.
        numbers: What it rests on, each with its name.
        missing: How many of its trials are not there or not measured.
    """

    hypothesis: Hypothesis
    outcome: Outcome
    why: str
    numbers: tuple[tuple[str, Number], ...] = ()
    missing: int = 0


class _UntestableError(Exception):
    """Why a hypothesis cannot be tested."""


def adjudicate(data: Data) -> tuple[Verdict, ...]:
    """Give a verdict on every hypothesis of a study."""
    return tuple(map(_Judge(data).verdict, data.design.hypotheses))


@dataclass(frozen=True)
class _Judge:
    data: Data

    def verdict(self, one: Hypothesis) -> Verdict:
        """Give a verdict on one."""
        try:
            found = self._tested(one)
        except _UntestableError as error:
            found = Verdict(one, "not testable", str(error))
        except DataError as error:
            hint = f" ({error.hint})" if error.hint else ""
            found = Verdict(one, "not testable", f"{error.found}{hint}")
        return replace(found, why=found.why[:1].upper() + found.why[1:])

    def _tested(self, one: Hypothesis) -> Verdict:
        found: Verdict
        match one:
            case SimpleEffect():
                found = self._directional(one, one.at)
            case BoundedNull():
                found = self._bounded(one)
            case Interaction():
                found = self._interaction(one)
            case Overall():
                found = self._directional(one, self._all_but(one))
            case SignedPattern():
                found = self._pattern(one)
            case General():
                found = self._general(one)
        return found

    # What every kind asks

    def _path(self, one: Hypothesis) -> str:
        return f"measures.{one.metric}"

    def _groups(self, one: Hypothesis, at: Levels) -> tuple[tuple[Row, ...], tuple[Row, ...]]:
        """The measured rows of both sides at some levels."""
        before, after = (
            self.data.select({**at, one.factor: level}) for level in (one.from_level, one.to_level)
        )
        path = self._path(one)
        found = measured(before, path), measured(after, path)
        for level, rows in zip((one.from_level, one.to_level), found, strict=True):
            if len(rows) < 2:
                where = ", ".join(
                    [level, *(one if isinstance(one, str) else "/".join(one) for one in at.values())]
                )
                raise _UntestableError(
                    f"{METRICS[one.metric]} was measured in {len(rows)} trial{'s' * (len(rows) != 1)} of {where}; two are the least"
                )
        values = {row.value(path) for rows in found for row in rows}
        if len(values) == 1:
            raise _UntestableError(
                f"{METRICS[one.metric]} is {values.pop():g} in every trial: a measure at its ceiling or floor cannot show an effect"
            )
        return found

    def _effect(self, one: Hypothesis, at: Levels, name: str = "effect") -> list[tuple[str, Number]]:
        """The effect with its interval and test, two-sided."""
        groups, path = self._groups(one, at), self._path(one)
        head = f"{name}: " if name != "effect" else ""
        return _named(
            (f"{head}difference", make("difference of means", path, groups, sign=True)),
            (f"{head}interval from", make("interval of the difference, lower end", path, groups, sign=True)),
            (f"{head}to", make("interval of the difference, upper end", path, groups, sign=True)),
            (f"{head}t", make("Welch t", path, groups, digits=2, sign=True)),
            (f"{head}df", make("Welch df", path, groups, digits=1)),
            (f"{head}d", make("Cohen's d", path, groups, digits=2, sign=True)),
        )

    def _missing(self, one: Hypothesis, at: Levels) -> int:
        cells = [
            cell
            for cell in self.data.cells
            if cell[one.factor] in {one.from_level, one.to_level}
            and all(
                cell[name] in ({level} if isinstance(level, str) else set(level))
                for name, level in at.items()
            )
        ]
        there = sum(len(measured(self.data.select(cell), self._path(one))) for cell in cells)
        return len(cells) * len(self.data.design.seeds) - there

    def _all_but(self, one: Overall) -> Levels:
        return {
            factor: tuple(level for level in self.data.design.factors[factor] if level not in without)
            for factor, without in one.without.items()
        }

    # Each kind

    def _directional(self, one: SimpleEffect | Overall, at: Levels) -> Verdict:
        groups = self._groups(one, at)
        numbers = self._effect(one, at)
        p = _needed(make(_TAILS[one.direction], self._path(one), groups, digits="p"))
        right = (numbers[0][1].value < 0) == (one.direction == "lower") and numbers[0][1].value != 0
        holds = p.value < one.alpha
        why = (
            f"{METRICS[one.metric]} is {one.direction} at {one.to_level}, one-tailed p {_p(p)}"
            if holds
            else f"{METRICS[one.metric]} is {one.direction} as predicted, and not by enough: one-tailed p {_p(p)}"
            if right
            else f"{METRICS[one.metric]} is not {one.direction} at {one.to_level}: the difference is {numbers[0][1].text}"
        )
        return Verdict(one, _outcome(holds), why, (*numbers, ("one-tailed p", p)), self._missing(one, at))

    def _bounded(self, one: BoundedNull) -> Verdict:
        groups, path = self._groups(one, one.at), self._path(one)
        numbers = self._effect(one, one.at)
        difference, low, high = (number.value for _, number in numbers[:3])
        tost = _needed(make("TOST p", path, groups, digits="p", bound=one.bound))
        two = _needed(make("Welch p, two-sided", path, groups, digits="p"))
        holds = abs(difference) <= one.bound
        inside = -one.bound <= low and high <= one.bound
        within, its = "within" if holds else "outside", "too" if inside else "is not"
        why = (
            f"the difference of {numbers[0][1].text} is {within} ±{one.bound:g}, and its 95 % interval {its};"
            f" equivalence by TOST has p {_p(tost)}"
        )
        return Verdict(
            one,
            _outcome(holds),
            why,
            (*numbers, ("two-sided p", two), (f"TOST p, ±{one.bound:g}", tost)),
            self._missing(one, one.at),
        )

    def _anova(self, one: Hypothesis, by: str, levels: Sequence[str]) -> list[tuple[str, Number]]:
        path = self._path(one)
        rows = [
            self.data.select({one.factor: side, by: level})
            for side in (one.from_level, one.to_level)
            for level in levels
        ]
        return _named(
            ("interaction F", make("ANOVA interaction F", path, rows, digits=2, columns=len(levels))),
            ("df", make("ANOVA interaction df", path, rows, digits=0, columns=len(levels))),
            ("residual df", make("ANOVA interaction residual df", path, rows, digits=0, columns=len(levels))),
            ("interaction p", make("ANOVA interaction p", path, rows, digits="p", columns=len(levels))),
            ("partial eta squared", make("ANOVA interaction eta", path, rows, columns=len(levels))),
        )

    def _interaction(self, one: Interaction) -> Verdict:
        first = self._effect(one, {one.by: one.at_level}, one.at_level)
        other = self._effect(one, {one.by: one.than}, one.than)
        test = self._anova(one, one.by, (one.at_level, one.than))
        p = dict(test)["interaction p"]
        gap = first[0][1].value - other[0][1].value
        right = gap < 0 if one.direction == "lower" else gap > 0
        holds = right and p.value < one.alpha
        sides = f"{first[0][1].text} at {one.at_level} and {other[0][1].text} at {one.than}"
        why = (
            f"the effects differ as predicted ({sides}), p {_p(p)}"
            if holds
            else f"the effects lie as predicted ({sides}), and the interaction is not significant: p {_p(p)}"
            if right
            else f"the effects do not lie as predicted: {sides}"
        )
        missing = self._missing(one, {one.by: (one.at_level, one.than)})
        return Verdict(one, _outcome(holds), why, (*test, first[0], other[0]), missing)

    def _pattern(self, one: SignedPattern) -> Verdict:
        effects = {level: self._effect(one, {one.by: level}, level) for level in one.signs}
        test = self._anova(one, one.by, tuple(one.signs))
        p = dict(test)["interaction p"]
        wrong = []
        for level, sign in one.signs.items():
            value = effects[level][0][1].value
            fits = (
                abs(value) <= one.band
                if sign == "near-zero"
                else (value < 0 if sign == "lower" else value > 0)
            )
            if not fits:
                said = f"within ±{one.band:g}" if sign == "near-zero" else sign
                wrong.append(f"{level} was to be {said} and is {effects[level][0][1].text}")
        significant = p.value < one.alpha
        test_says = f"the interaction is {'' if significant else 'not '}significant (p {_p(p)})"
        why = f"{test_says}; " + ("; ".join(wrong) if wrong else "every sign is as predicted")
        others = [level for level in self.data.design.factors[one.by] if level not in one.signs]
        if others:
            why += f"; {', '.join(others)} {'is' if len(others) == 1 else 'are'} held out"
        shown = [number for parts in effects.values() for number in parts[:3]]
        return Verdict(
            one,
            _outcome(significant and not wrong),
            why,
            (*test, *shown),
            self._missing(one, {one.by: tuple(one.signs)}),
        )

    def _general(self, one: General) -> Verdict:
        numbers: list[tuple[str, Number]] = []
        held: dict[str, bool] = {}
        parts: list[tuple[str, tuple[str, ...]]] = [
            ("the ladder", one.ladder),
            *((level, (level,)) for level in one.controls),
        ]
        for name, levels in parts:
            at = {one.by: levels}
            groups = self._groups(one, at)
            p = _needed(make(_TAILS[one.direction], self._path(one), groups, digits="p"))
            numbers += [*self._effect(one, at, name)[:3], (f"{name}: one-tailed p", p)]
            held[name] = p.value < one.alpha
        ladder = held.pop("the ladder")
        failed = [name for name, holds in held.items() if not holds]
        metric = METRICS[one.metric]
        if ladder and not failed:
            why = f"{metric} is {one.direction} on the ladder, and {', '.join(held)} replicate{'s' * (len(held) == 1)} it"
        elif ladder:
            why = f"{metric} is {one.direction} on the ladder, and {', '.join(failed)} did not replicate it: it may not be called general"
        else:
            why = f"{metric} is not shown to be {one.direction} on the ladder"
        missing = self._missing(one, {one.by: (*one.ladder, *one.controls)})
        return Verdict(one, _outcome(ladder and not failed), why, tuple(numbers), missing)


def _outcome(holds: bool) -> Outcome:
    return "supported" if holds else "not supported"


def _p(number: Number) -> str:
    return number.text if number.text.startswith("<") else f"= {number.text}"


def _needed(number: Number | None) -> Number:
    if number is None:
        raise _UntestableError("a cell has no measured trial")
    return number


def _named(*pairs: tuple[str, Number | None]) -> list[tuple[str, Number]]:
    return [(name, _needed(number)) for name, number in pairs]
