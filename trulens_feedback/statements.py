"""A text as statements: its sentences, which of them are about the world, and which leave something open.

A statement is about the world when it names a node of the setting (or a place or faction of the ledger) and nobody's private
life: no person of the ledger, and no "I", "she" or "your". What is private is never held against a bible, though what it counts
on is. A statement opens a mystery when the ledger says so, or by its words, and passes Eq 11 (LudicMetrics §3.6).
"""

import itertools
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from ludic_deepeval.ledger import FactLedger
from ludic_deepeval.policy import Policy
from ludic_deepeval.text import folded, sentence_starts
from ludic_deepeval.vagueness import Names as KnownNames
from ludic_deepeval.vagueness import Vagueness, measure
from trulens_feedback.setting import Names, Setting

_OPENS: Final = re.compile(
    r"[?？]['\"”’」』]?\s*$|\b(?:nobody|no one|none(?: of \w+)?|not one of \w+) (?:\w+ )?(?:can|could|will|would|has|have|had|knows?|knew|said|says|asks?|asked|"
    r"tells?|told|saw|sees|remembers?|remembered|explains?|explained|agrees?|agreed|wrote|understands?|understood|found|ever)\b|"
    r"\bnever (?:\w+ )?(?:said|told|learn(?:t|ed)|explained|found(?: out)?|known|named|asked|written down|been seen|seen|solved|came to light)\b|"
    r"\b(?:unknown|unexplained|unsolved|a mystery|no telling|anybody's guess|not known|not say|can(?:not|'t) say|(?:does|do|did)(?: not|n't) know|"
    r"has yet to|remains to be|someone|somebody)\b|谁也|没有?人|无人|不知|说不清|不明|有人|某个|某种|为何|为什么|究竟",
    re.IGNORECASE,
)
_PRIVATE: Final = re.compile(
    r"\b(?:I|I'(?:m|ve|d|ll)|[Mm]e|[Mm]y|[Mm]yself|[Ww]e|us|[Oo]urs?|[Yy]ou|[Yy]ours?|[Ww]e'(?:re|ve|ll|d)|[Yy]ou'(?:re|ve|ll|d))\b|[我你您]"
)
_THIRD: Final = re.compile(r"\b(?:he|him|his|she|her|hers|himself|herself)\b|[他她]", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Statement:
    """One sentence.

    Attributes:
        text: Its words.
        start: Where it begins in the body, in characters.
        end: Where it ends, half-open.
    """

    text: str
    start: int
    end: int


def split(prose: str) -> tuple[Statement, ...]:
    """Split prose into its sentences; those without a letter are left out."""
    starts = [*sentence_starts(prose), len(prose)]
    found = []
    for begin, end in itertools.pairwise(starts):
        text = prose[begin:end].strip()
        if any(map(str.isalnum, text)):
            start = begin + prose[begin:end].index(text)
            found.append(Statement(text, start, start + len(text)))
    return tuple(found)


class Background:
    """What is known beside a bible: whose private life this is, and which names the story treats as the world's.

    Args:
        ledger: The story's ledger: its people are private, its places and factions the world's, its mysteries open.
        world: More names of the world, as those of the setting when chunks of another were retrieved.
        policy: Its `density` is the threshold of Eq 11 (0.30).
    """

    def __init__(
        self, ledger: FactLedger | None = None, *, world: Iterable[str] = (), policy: Policy | None = None
    ) -> None:
        self.ledger = ledger
        self._world = tuple(world)
        self.density = (policy or Policy()).density
        people: list[str] = []
        places = list(self._world)
        if ledger is not None:
            people = [ledger.protagonist, *(name for npc in ledger.npcs for name in npc.names)]
            people += [
                part for name in people for part in name.split() if part[:1].isupper() and len(part) > 2
            ]
            places += [name for event in ledger.events for name in (event.location, *event.factions) if name]
            places += [npc.faction for npc in ledger.npcs if npc.faction]
            places += [hook.location for hook in ledger.hooks if hook.location]
        self._known: dict[str, KnownNames] = {}
        self._people = Names(people)
        self._places = Names(name for name in places if name not in set(people))

    def world_names(self, text: str) -> tuple[str, ...]:
        """The names of the world in a text that need not be the bible's."""
        return tuple(dict.fromkeys(name for name, _, _ in self._places.find(text)))

    def is_private(self, text: str, setting: Setting) -> bool:
        """Whether a statement tells of somebody's own life."""
        plain = folded(text)
        if _PRIVATE.search(plain):
            return True
        somebody = {"people", "deities"} & {mention.kind for mention in setting.mentions(text)}
        if not somebody and _THIRD.search(plain):
            return True
        # Who has a bible's name is no private person, whatever the ledger says.
        known = {plain[mention.start : mention.end] for mention in setting.mentions(text)}
        return any(not any(name in one for one in known) for name, _, _ in self._people.find(text))

    def vagueness(self, text: str, setting: Setting) -> Vagueness | None:
        """Eq 10 of a statement; None in a script that cannot be measured."""
        if setting.id not in self._known:
            ledger = self.ledger or FactLedger(schema_version=1, protagonist="nobody")
            self._known[setting.id] = KnownNames(ledger, (*setting.bible.names, *self._world))
        found = measure(text, self._known[setting.id])
        return found if isinstance(found, Vagueness) else None

    def opens(self, statement: Statement, setting: Setting) -> bool:
        """Whether a statement opens a mystery that passes Eq 11."""
        if not (self._marked(statement) or _OPENS.search(folded(statement.text))):
            return False
        measured = self.vagueness(statement.text, setting)
        return measured is not None and measured.is_hole(self.density)

    def _marked(self, statement: Statement) -> bool:
        if self.ledger is None:
            return False
        mine = folded(statement.text)
        return any(mine in span or span in mine for span in self._spans)

    @cached_property
    def _spans(self) -> tuple[str, ...]:
        """The words of the ledger's mysteries. By words and not by offsets: the text may have been edited since."""
        mysteries = self.ledger.mysteries if self.ledger else ()
        return tuple(
            span
            for mystery in mysteries
            for span in map(folded, [mystery.text, *(one.quote for one in mystery.evidence)])
            if span
        )
