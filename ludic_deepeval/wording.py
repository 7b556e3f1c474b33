"""How advice and verdicts are worded. A genre may say it otherwise; what is meant stays the same."""

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal, TypeAlias

ChangeKind: TypeAlias = Literal[
    "add-goal", "pursue-goal", "add-person", "reopen-tie", "add-hook", "make-urgent", "reopen-hook",
    "add-mystery", "blur-mystery", "answer-mystery", "raise-immediacy", "raise-gravity", "add-event",
]  # fmt: skip

WORDS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "reopen-tie": "leave something unresolved with {name}",
        "add-person": "one more living person with unfinished business",
        "pursue-goal": "have the goal '{name}' pursued now",
        "add-goal": "a {ordinal} goal",
        "make-urgent": "make the hook '{name}' urgent",
        "reopen-hook": "leave the thread '{name}' open",
        "add-hook": "one more urgent thread",
        "blur-mystery": "name less in the mystery '{name}'",
        "add-mystery": "one more thing left unexplained",
        "answer-mystery": "explain the mystery '{name}'",
        "raise-immediacy": "make '{name}' more pressing (immediacy {now} → {value})",
        "raise-gravity": "make '{name}' graver (gravity {now} → {value})",
        "add-event": "one more event that presses (immediacy and gravity {value}, linkage and divergence 5)",
        "flat-events": "too little presses on the next session",
        "verdict-campaign-ready": "ready to play",
        "verdict-rich-lore-flat-play": "rich lore, flat play: plenty is open, too little presses",
        "verdict-explosive-but-shallow": "explosive but shallow: it starts with a bang and then has little left",
        "verdict-unplayable-draft": "not playable yet: too little is open and too little presses",
    }
)
_HOLE: Final = re.compile(r"\{([a-z]*)\}")


def holes(words: str) -> frozenset[str]:
    """The places of a wording that a value is put into."""
    return frozenset(_HOLE.findall(words))


def worded(words: str, **values: object) -> str:
    """Put values into a wording, once: braces in a value stay as they are."""
    return _HOLE.sub(lambda hole: str(values[hole[1]]), words)
