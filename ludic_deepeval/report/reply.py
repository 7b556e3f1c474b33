"""What a moderator can paste to the player: what works, then the one or two smallest fixes, in plain words.

No figures, codes or terms of this project; at most `MAX_WORDS` words, in English or Chinese. Names and quotes are the
player's own, cleaned and cut short, and can call nobody (@) and open no tag (<) wherever they are pasted.
"""

from collections.abc import Iterator
from typing import Final, NamedTuple

from ludic_deepeval.advice_changes import Change
from ludic_deepeval.errors import clean
from ludic_deepeval.faults import Fault
from ludic_deepeval.judging import Reading
from ludic_deepeval.ledger import FactLedger, Npc
from ludic_deepeval.outcome import Unscored
from ludic_deepeval.report.reply_words import WORDS, Words
from ludic_deepeval.submission import Verdict
from ludic_deepeval.text import word_count, words

MAX_WORDS: Final = 120  # a Chinese character is half a word
_QUOTE: Final = (16, 110)  # words and letters
_NAME: Final = (6, 40)
_SHORT_NAME: Final = 24  # letters; a longer one is said once
_MOST_WORKS: Final = 3
_MOST_IDEAS: Final = 2
_HARMLESS: Final = str.maketrans("@<>", "＠‹›")
_PUSHING: Final = ("enemy", "rival", "creditor")  # who can make a move against the character


class _Part(NamedTuple):
    """One sentence, and how soon it goes where the reply would be too long; at 0 never."""

    text: str
    drop: int = 0


def reply_to(verdict: Verdict) -> str | None:
    """The reply to a submission; None where nothing was measured that could be told."""
    if verdict.word is None or verdict.reading is None:
        return None
    say, reading = WORDS[verdict.language], verdict.reading
    if verdict.word == "revise" and not any(True for _ in reading.ledger.items()):
        return say.join([say.thanks_anyway, say.nobody_yet])
    who = _name(reading.ledger.protagonist)
    works = list(_works(reading, who if len(who) <= _SHORT_NAME else say.your_character, say))
    tell = {"accept": _accepted, "revise": _to_revise, "contradiction": _contradictory}[verdict.word]
    return _fitted(
        [_Part(say.thanks.format(who=who)), *tell(verdict, reading, works[:_MOST_WORKS], say)], say
    )


def _fitted(parts: list[_Part], say: Words) -> str:
    """The parts as one text of at most `MAX_WORDS`."""
    while word_count(text := say.join([part.text for part in parts])) > MAX_WORDS:
        soonest = max(parts, key=lambda part: part.drop)
        if not soonest.drop:
            break
        parts = [part for part in parts if part is not soonest]
    return text


def _accepted(verdict: Verdict, reading: Reading, works: list[str], say: Words) -> list[_Part]:
    ideas = list(_missing(verdict, reading, say))
    parts = [_Part(say.as_it_is if ideas else say.ready)]
    if works:
        parts.append(_Part(say.sentence(works), drop=1))
    if ideas:
        return [*parts, _Part(say.join([say.if_you_like, ideas[0]]), drop=2)]
    return [*parts, _Part(say.no_change)]


def _to_revise(verdict: Verdict, reading: Reading, works: list[str], say: Words) -> list[_Part]:
    first, *more = _ideas(verdict, reading, say)
    return [
        *(_praise(works[:2], say) or [_Part(say.holds_together)]),
        *_not_yet(reading, say),
        _Part(first),
        *(_Part(idea, drop=3) for idea in more),
        _Part(say.again, drop=2),
    ]


def _contradictory(verdict: Verdict, reading: Reading, works: list[str], say: Words) -> list[_Part]:
    fault, *more = reading.consistency.faults
    here, there = (_cut(quote, *_QUOTE) for quote in fault.quotes)
    parts = [
        *_praise(works[:1], say),
        _Part(say.two_places.format(first=here, second=there)),
        _Part(_explained(fault, reading.ledger, say)),
    ]
    if more:
        parts.append(_Part(say.counted(say.more_places, len(more)), drop=1))
    parts.append(_Part(say.mend))
    lacking = _not_yet(reading, say)
    if lacking:
        parts.append(_Part(say.join([lacking[0].text, _ideas(verdict, reading, say)[0]]), drop=3))
    return parts


def _praise(works: list[str], say: Words) -> list[_Part]:
    return [_Part(say.works.format(works=say.listed(works)), drop=1)] if works else []


def _not_yet(reading: Reading, say: Words) -> list[_Part]:
    """What the gate misses, in a sentence; nothing where it is passed or was not measured."""
    card, policy = reading.card, reading.card.policy
    closed = not isinstance(card.lpi, Unscored) and card.lpi < policy.lpi_threshold
    flat = not isinstance(card.pcv, Unscored) and card.pcv < policy.pcv_threshold
    return [_Part(say.not_yet[closed, flat])] if closed or flat else []


# What works


def _works(reading: Reading, who: str, say: Words) -> Iterator[str]:
    counts = reading.card.counts
    active = _active(reading.ledger)
    if active:
        yield say.people([_name(npc.name) for npc in active], who)
    if counts.tiers[0]:
        yield say.counted(say.urgent, counts.tiers[0])
    if counts.goals:
        yield say.counted(say.goals, counts.goals)
    if counts.holes:
        yield say.counted(say.holes, counts.holes)


def _active(ledger: FactLedger) -> list[Npc]:
    return [npc for npc in ledger.npcs if npc.unresolved and npc.status != "dead"]


# What would help


def _ideas(verdict: Verdict, reading: Reading, say: Words) -> list[str]:
    """One or two ideas: the paper's own where nobody presses the character, then the smallest fix."""
    ideas = [] if _pusher(reading.ledger) else [say.debt]
    if verdict.fixes:
        ideas += [_idea(change, reading, say) for change in verdict.fixes[0].changes]
    ideas += _missing(verdict, reading, say)
    return list(dict.fromkeys(ideas))[:_MOST_IDEAS] or [say.another_hook]


def _pusher(ledger: FactLedger) -> Npc | None:
    """Who is against the character and could make a move: enemies first."""
    against = [npc for npc in _active(ledger) if npc.tie in _PUSHING]
    return min(against, key=lambda npc: _PUSHING.index(npc.tie), default=None)


def _missing(verdict: Verdict, reading: Reading, say: Words) -> Iterator[str]:
    counts = reading.card.counts
    if verdict.policy.severity_of("told-mystery") == "error":
        for row in reading.card.mysteries:
            if row.hole is False:
                yield say.edits["blur-mystery"].format(quote=_words_of(row.id, "mysteries", reading.ledger))
    if not counts.active:
        yield say.debt
    if not counts.goals:
        wish = next(iter(reading.ledger.goals), None)
        quote = _words_of(wish.id, "goals", reading.ledger) if wish else ""
        yield say.edits["pursue-goal"].format(quote=quote) if wish else say.first_goal
    if not counts.tiers[0]:
        yield say.first_hook
    if counts.holes == 0:
        yield say.first_mystery


_EDITED: Final = {
    "reopen-tie": "npcs", "pursue-goal": "goals", "make-urgent": "hooks", "reopen-hook": "hooks",
    "blur-mystery": "mysteries", "raise-immediacy": "events", "raise-gravity": "events",
}  # fmt: skip


def _idea(change: Change, reading: Reading, say: Words) -> str:
    """A change, as somebody would put it who liked the story."""
    if change.kind in _EDITED:
        quote = _words_of(change.target, _EDITED[change.kind], reading.ledger)
        return say.edits[change.kind].format(quote=quote)
    counts, pusher = reading.card.counts, _pusher(reading.ledger)
    first_event = say.catch_up.format(npc=_name(pusher.name)) if pusher else say.debt
    return {
        "add-event": first_event if change.target == "new-event-1" else say.second_event,
        "add-person": say.another_person if counts.active else say.debt,
        "add-goal": say.another_goal if counts.goals else say.first_goal,
        "add-hook": say.another_hook if counts.tiers[0] else say.first_hook,
        "add-mystery": say.another_mystery if counts.holes else say.first_mystery,
        "answer-mystery": say.fewer_mysteries,
    }[change.kind]


def _words_of(item_id: str, name: str, ledger: FactLedger) -> str:
    """The player's own words for an item; for a person the name."""
    item = next(item for listed, _, item in ledger.items() if listed == name and item.id == item_id)
    return _name(item.name) if isinstance(item, Npc) else _cut(item.evidence[0].quote, *_QUOTE)


# What contradicts what


def _explained(fault: Fault, ledger: FactLedger, say: Words) -> str:
    events = {event.id: event for event in ledger.events}
    first, second = (events.get(event_id) for event_id in fault.events)
    if fault.code == "dead-then-active" and first and second:
        died = {relation.npc for relation in first.relations if relation.status == "dead"}
        back = {relation.npc for relation in second.relations if relation.status in {"alive", None}}
        name = next((npc.name for npc in ledger.npcs if npc.id in died & back), "")
        if name:
            return say.back_from_death.format(npc=_name(name))
    return say.faults.get(fault.code, say.both)


# The player's words


def _name(text: str) -> str:
    return _cut(text, *_NAME)


def _cut(text: str, most_words: int, most_letters: int) -> str:
    """The player's words on one line, harmless wherever they are pasted, cut after a whole word where there is one."""
    line = " ".join(text.split())
    weight, end = 0.0, len(line)
    for word in words(line):
        weight += word_count(word.group())
        if weight > most_words or word.end() > most_letters:
            end = word.start() or most_letters
            break
    cut = line[:end].rstrip() + ("…" if end < len(line) else "")
    return clean(cut, limit=most_letters + 1).translate(_HARMLESS)
