"""A statistic that refuses its data, as a measurement that could not be made."""

from ludic_deepeval.errors import DataError
from ludic_deepeval.outcome import Unscored


def unscored(error: DataError, *names: str) -> Unscored:
    """Return the cause, with the names of what was asked of and what would have been enough."""
    said = f"{' with '.join(names)}: {error.found}" if names else error.found
    return Unscored("data", f"{said} (needed: {error.allowed})" if error.allowed else said)
