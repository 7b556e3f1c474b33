"""Arrays as the statistics take them: whole, finite, and no ties broken by float noise."""

from collections.abc import Sequence
from typing import Any, Final, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ludic_deepeval.errors import DataError

Floats: TypeAlias = NDArray[np.float64]
Ties: TypeAlias = Literal["corrected", "uncorrected"]
Alternative: TypeAlias = Literal["two-sided", "less", "greater"]

_DIGITS: Final = 12  # of a row's largest value; noise of sums and quotients begins at the sixteenth
_NOISE: Final = 1e-12
_SPREAD: Final = 4  # powers of ten between rows that 64-bit integers bear: 10^(12 + 4), times the columns


def sample(values: ArrayLike, name: str, *, what: str = "the sample", least: int = 2) -> Floats:
    """Return a sample as a one-dimensional array of finite floats.

    Raises:
        DataError: It is not one, or holds too few values.
    """
    found = _numbers(values, name, what)
    if found.ndim != 1:
        raise DataError(name, f"{what} has {found.ndim} dimensions", allowed="a list of numbers")
    if len(found) < least:
        raise DataError(name, f"{what} has {_count(len(found), 'value')}", allowed=f"at least {least}")
    return found


def table(values: ArrayLike, name: str, *, rows: int = 2, columns: int = 2) -> Floats:
    """Return a problems × algorithms table of finite floats.

    Raises:
        DataError: It is not one, or is too small.
    """
    found = _numbers(values, name, "the table")
    if found.ndim != 2:
        raise DataError(name, f"{found.ndim} dimensions", allowed="problems × algorithms")
    if found.shape[0] < rows or found.shape[1] < columns:
        raise DataError(
            name,
            f"{_count(found.shape[0], 'problem')} of {_count(found.shape[1], 'algorithm')}",
            allowed=f"at least {rows} of {columns}",
        )
    return found


def _numbers(values: ArrayLike, name: str, what: str) -> Floats:
    try:
        found = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(name, f"{what} is no table of numbers with rows of one length") from error
    if not np.isfinite(found).all():
        raise DataError(
            name, f"{what} has a value that is missing or not finite", hint="leave out what was not measured"
        )
    return found


def varies(values: Floats) -> bool:
    """Whether values differ by more than float noise."""
    return bool(np.ptp(values) > _NOISE * np.abs(values).max())


def whole(rows: Floats) -> NDArray[Any]:
    """Return a table's values as whole numbers of one unit, rounded to twelve digits of their row's largest.

    0.1 + 0.2 and 0.3 become the same number, and sums and differences of the result are exact.
    """
    top = np.abs(rows).max(axis=1)
    exponents = np.zeros(len(rows), dtype=int)
    some = top > 0
    exponents[some] = np.floor(np.log10(top[some])).astype(int) + 1 - _DIGITS
    exponents[~some] = exponents[some].min() if some.any() else 0
    least = exponents.min()
    if exponents.max() - least <= _SPREAD and -200 < least < 200 and rows.shape[1] <= 100:
        scaled: NDArray[Any] = np.rint(rows / 10.0 ** exponents[:, None]).astype(np.int64)
        scaled *= 10 ** (exponents - least)[:, None]
        return scaled
    return np.array(
        [
            [_whole(value, int(exponent)) * 10 ** int(exponent - least) for value in row]
            for row, exponent in zip(rows.tolist(), exponents, strict=True)
        ],
        dtype=object,
    )


def _whole(value: float, exponent: int) -> int:
    """Return value / 10^exponent to the nearest whole number, however large or small the two are."""
    part, unit = value.as_integer_ratio()
    if exponent >= 0:
        unit *= 10**exponent
    else:
        part *= 10**-exponent
    return (2 * part + unit) // (2 * unit)


def codes(values: NDArray[Any]) -> NDArray[np.int64]:
    """Return for each value its place among the different values: what is equal has one place."""
    return np.unique(values, return_inverse=True)[1].reshape(values.shape).astype(np.int64)


def labels(values: Sequence[object], name: str, what: str) -> tuple[list[object], NDArray[np.int64]]:
    """Return the different labels in order of appearance, and for each position the label's number."""
    order: dict[object, int] = {}
    numbers = [order.setdefault(value, len(order)) for value in values]
    if len(order) < 2:
        raise DataError(name, f"{what} has {_count(len(order), 'level')}", allowed="at least 2")
    return list(order), np.array(numbers, dtype=np.int64)


def share(value: float, name: str, what: str) -> float:
    """Return a number between 0 and 1, both left out.

    Raises:
        DataError: It is not between.
    """
    if not 0 < value < 1:
        raise DataError(name, f"{what} is {value}", allowed="more than 0 and less than 1")
    return float(value)


def one_of(value: str, allowed: tuple[str, ...], name: str, what: str) -> None:
    """Refuse a word that is not among the allowed.

    Raises:
        DataError: It is not.
    """
    if value not in allowed:
        raise DataError(name, f"{what} is {value!r}", allowed=" or ".join(allowed))


def _count(count: int, word: str) -> str:
    return f"{count} {word}{'' if count == 1 else 's'}"
