"""How a measurement ends: with a value, or with the cause why there is none.

There is no third way. A failure to measure is never 0, NaN or a default.
"""

from dataclasses import dataclass
from typing import Generic, Literal, TypeAlias, TypeVar

T = TypeVar("T")

Cause: TypeAlias = Literal[
    "dimensions",  # an event has no I, G, V, D
    "script",  # the span is in a script whose names cannot be told
    "extraction",  # the Notary found nothing, or too much that is not in the prose
    "unread",  # no ledger, or prose that nobody has read since it changed
    "labels",  # the reuse judge told nothing reused or invented
    "outlines",  # too few outlines, or an empty one
    "selections",  # a reply's selections cannot be read, or are not valid
    "weights",  # the weight of a key sentence is not known
    "points",  # the points of a selected candidate are not known
    "data",  # too few values for a statistic, or none that differ
    "model",  # a model gave no usable answer
    "context",  # nothing was retrieved, or nobody looked
    "claims",  # the prose says nothing about the world that could be held against a bible
]


@dataclass(frozen=True, slots=True)
class Scored(Generic[T]):
    """A measurement that was made."""

    value: T


@dataclass(frozen=True, slots=True)
class Unscored:
    """A measurement that could not be made.

    Attributes:
        cause: One of a few words that a program can act on.
        reason: One line for people: what was missing and where.
    """

    cause: Cause
    reason: str


Outcome: TypeAlias = Scored[T] | Unscored
