"""What every test of this package returns."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Result:
    """What a test or an estimate found. `float(result)` is its statistic.

    Attributes:
        statistic: The statistic; an estimate's own value where nothing is tested.
        df: Degrees of freedom, two for an F; None where there are none.
        p_value: From 0 to 1, two-sided unless the method says otherwise; None where nothing is tested.
        effect: The size of the effect, in the unit that the function names; None where it has none.
        interval: The confidence interval that the function names; None where it has none.
        method: Which procedure in which form, in words.
    """

    statistic: float
    df: float | tuple[float, float] | None = None
    p_value: float | None = None
    effect: float | None = None
    interval: tuple[float, float] | None = None
    method: str

    def __float__(self) -> float:
        return self.statistic
