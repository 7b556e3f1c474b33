"""Edits of a text made by rule: unresolved mysteries, facts of a bible, and contradictions of it, none of them picked by hand.

Sentences come from templates and from the bible's own clauses; which, and where they go, a seed decides. So what the triad must do
with them is known: a mystery costs no groundedness, a contradiction always does.
"""

import itertools
import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from ludic_deepeval.bible import Bible, Location, Node, Rule
from ludic_deepeval.text import sentence_starts
from trulens_feedback.contradiction import Kind
from trulens_feedback.lexicon import clauses, numbers, stems
from trulens_feedback.setting import Setting
from trulens_feedback.statements import Background, Statement

_OPENINGS: Final = (
    "Nobody has ever said why {name} {did}.",
    "Why {name} {did}, no one can tell.",
    "Who it was that {did} near {name}, nobody knows.",
    "Somebody {did} on the way to {name}, and was never seen again.",
    "What {name} wanted with {thing}, no one would say.",
    "How {thing} had come to {name} was never explained.",
    "To this day nobody has found out who sent {thing}.",
    "Whose {thing} it was, and why it {did}, is still unknown.",
    "And who had left {thing} on the stair?",
    "Someone {did} in the night, and no one has asked who.",
)
_DID: Final = (
    "turned back at the first light", "went silent that winter", "paid the debt twice", "sent the letters back unread", "lit no fire",
    "kept the door locked", "wept at the sight of the box", "took the long way round", "would not give the name",
)  # fmt: skip
_THINGS: Final = (
    "the second key", "a child's shoe", "the grey box", "an empty frame", "the other half of the letter", "a lamp without oil",
    "the drowned man's coat", "the missing page", "a ring that fits nobody",
)  # fmt: skip
_COUNTS_ON: Final[dict[str, tuple[str, ...]]] = {
    "locations": (
        "Take your goods to {name}, they pay best.",
        "{name} is where every caravan stops.",
        "There are three inns in {name} now.",
        "We can be in {name} by tomorrow.",
        "Every road leads to {name} these days.",
        "The market at {name} opens at dawn.",
    ),
    "people": (
        "Go and ask {name}.",
        "{name} will see you in the morning.",
        "{name} has the only copy.",
        "The letter is for {name}, and she is waiting for it.",
    ),
    "factions": ("{name} pays well.", "You can join {name} tomorrow.", "{name} has a house in every town."),
    "deities": ("{name} hears every prayer.", "Pray to {name}, it helps."),
    "history": (
        "{name} still holds.",
        "Under {name} both sides are safe.",
        "Thanks to {name} there is no war.",
    ),
    "entries": ("{name} is where it always was.", "Everybody knows {name}."),
    "rules": ("{name} forbids it.", "By {name} you will be fined.", "{name} is strict."),
}
_BELONGS: Final = (
    "{place} belongs to {other}.", "{place} is ruled by {other}.", "{place} answers to {other}.", "{place} is held by {other}.",
    "{other} rules {place}.", "{other} owns {place}.", "{place} does not belong to {holder}.", "{place} is a town of {other}.",
)  # fmt: skip
_ALLOWED: Final = (
    "{practice} is allowed{where}.", "Nobody minds {practice}{where}.", "{practice} is no crime{where}.",
    "{practice} is perfectly legal{where}.", "{practice} is not forbidden{where}.", "{law} does not hold{where}.",
)  # fmt: skip
_DENIED: Final = (
    "It is not true that {clause}.",
    "It is false that {clause}.",
    "It is untrue that {clause}.",
)
_TURNED: Final = (
    (r"\b(is|are|was|were|may|has|have|can|will)\b(?! no\b| not\b| never\b)", r"\1 not"),
    (r"\bnever\b", "always"),
    (r"\b[Nn]obody\b", "Everybody"),
    (r"\bno (?=[a-z]+\b)", "a great "),
    (r"\bnothing\b", "everything"),
)
_OTHER_NUMBERS: Final = "two three four five seven nine eleven thirty forty sixty ninety".split()
_ORDINALS: Final = "third fourth fifth sixth seventh eighth ninth tenth".split()


@dataclass(frozen=True, slots=True)
class Edit:
    """A sentence to be put into a text.

    Attributes:
        what: `open`, `fact`, or the kind of contradiction.
        text: The sentence.
        node: The node that it is about, where there is one.
    """

    what: str
    text: str
    node: str | None = None


def inserted(prose: str, edits: Sequence[Edit], rng: random.Random) -> str:
    """Return the prose with each edit between two of its sentences, or at either end."""
    for edit in edits:
        starts = [*sentence_starts(prose), len(prose)] if prose.strip() else [0]
        at = rng.choice(starts)
        head, tail = prose[:at], prose[at:]
        gap = "" if not head or head[-1].isspace() else " "
        prose = f"{head}{gap}{edit.text}{' ' if tail and not tail[0].isspace() else ''}{tail}"
    return prose


def opening(setting: Setting, rng: random.Random, *, names: Sequence[str] = ()) -> Edit:
    """An unresolved mystery about something that the setting has, or about one of the names given."""
    current = [
        node.name
        for kind, _, node in setting.bible.nodes()
        if node.retired is None and kind not in {"rules", "history"}
    ]
    name = rng.choice([*current, *names] or ["the road"])
    text = rng.choice(_OPENINGS).format(name=name, did=rng.choice(_DID), thing=rng.choice(_THINGS))
    return Edit("open", _sentence(text))


def fact(setting: Setting, rng: random.Random) -> Edit:
    """A sentence of the bible that holds, with the node's name for its pronoun."""
    node, text = rng.choice(facts(setting))
    return Edit("fact", _sentence(text), node.id)


@lru_cache(maxsize=8)
def facts(setting: Setting) -> tuple[tuple[Node, str], ...]:
    """Every such sentence, with its node."""
    background = Background()
    return tuple(
        (node, text)
        for node in _current(setting.bible)
        for text in _sentences(node)
        if any(mention.node is node for mention in setting.mentions(text))
        and not background.opens(Statement(text, 0, len(text)), setting)  # a bible may leave things open, too
    )


@lru_cache(maxsize=8)
def contradiction_kinds(setting: Setting) -> tuple[Kind, ...]:
    """The kinds of contradiction that can be made of a bible."""
    return tuple(kind for kind, make in _MAKERS.items() if make(setting, random.Random(0)) is not None)  # noqa: S311  # no secret


def contradiction(setting: Setting, rng: random.Random, kind: Kind | None = None) -> Edit:
    """A sentence that contradicts the bible.

    Args:
        setting: The bible; it must have something that can be contradicted.
        rng: Decides.
        kind: Which kind; by default any that the bible allows.
    """
    chosen = kind if kind is not None else rng.choice(contradiction_kinds(setting))
    made = _MAKERS[chosen](setting, rng)
    if made is None:
        raise ValueError(f"nothing in {setting.id} can be contradicted by '{chosen}'")
    return made


def _current(bible: Bible) -> list[Node]:
    return [node for _, _, node in bible.nodes() if node.retired is None]


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def _sentences(node: Node) -> list[str]:
    """The sentences of a node's text, each beginning with its name where it began with a pronoun."""
    starts = [*sentence_starts(node.text), len(node.text)]
    found = []
    for begin, end in itertools.pairwise(starts):
        text = node.text[begin:end].strip()
        text = re.sub(r"^(?:They|It|She|He)\b", lambda _: node.name, text)
        text = re.sub(r"^(?:Their|Its|Her|His)\b", lambda _: f"{node.name}'s", text)
        found.append(text)
    return found


def _clauses(node: Node) -> list[str]:
    """The first clause of each of a node's sentences that has enough in it to be recognised and names the node."""
    found = []
    for sentence in _sentences(node):
        clause = clauses(sentence)[0]
        if (
            node.name.casefold().removeprefix("the ") in clause.casefold()
            and len(_own_words(clause, node)) >= 3
        ):
            found.append(clause)
    return found


def _own_words(clause: str, node: Node) -> frozenset[str]:
    return frozenset(stems(clause)) - frozenset(stems(" ".join(node.names)))


def _retired(setting: Setting, rng: random.Random) -> Edit | None:
    bible = setting.bible
    gone = [(kind, node) for kind, _, node in bible.nodes() if node.retired is not None]
    if not gone:
        return None
    kind, node = rng.choice(gone)
    return Edit("retired", _sentence(rng.choice(_COUNTS_ON[kind]).format(name=node.name)), node.id)


def _denied(setting: Setting, rng: random.Random) -> Edit | None:
    bible = setting.bible
    made = []
    for node in _current(bible):
        for clause in _clauses(node):
            low = clause if clause.startswith(node.name) else clause[:1].lower() + clause[1:]
            made += [Edit("denied", template.format(clause=low), node.id) for template in _DENIED]
            for pattern, other in _TURNED:
                turned, count = re.subn(pattern, other, clause, count=1)
                if count:
                    made.append(Edit("denied", _sentence(f"{turned}."), node.id))
    return rng.choice(made) if made else None


def _swapped(setting: Setting, rng: random.Random) -> Edit | None:
    bible = setting.bible
    made = []
    for kind, _, node in bible.nodes():
        if node.retired is not None or kind == "rules":
            continue
        others = [other for other in _current(bible) if setting.kinds[other.id] == kind and other is not node]
        for clause in _clauses(node):
            if not clause.casefold().startswith(
                (node.name.casefold(), node.name.casefold().removeprefix("the "))
            ):
                continue
            rest = clause[len(node.name) :] if clause.startswith(node.name) else clause.partition(" ")[2]
            if any(mention.node is not node for mention in setting.mentions(rest)):
                continue
            made += [Edit("swapped", _sentence(f"{other.name}{rest}."), node.id) for other in others]
    return rng.choice(made) if made else None


def _number(setting: Setting, rng: random.Random) -> Edit | None:
    bible = setting.bible
    made = []
    for node in _current(bible):
        for clause in _clauses(node):
            for word in clause.split():
                plain = word.strip(",.").casefold()
                pool = _OTHER_NUMBERS if plain in _OTHER_NUMBERS else _ORDINALS if plain in _ORDINALS else ()
                made += [
                    Edit("number", _sentence(f"{clause.replace(word, other, 1)}."), node.id)
                    for other in pool
                    if numbers(other) != numbers(plain)
                ]
    return rng.choice(made) if made else None


def _allegiance(setting: Setting, rng: random.Random) -> Edit | None:
    bible = setting.bible
    held = [(place, setting.holder(place)) for place in bible.locations if place.retired is None]
    pairs = [(place, holder, other) for place, holder in held if holder for other in _others(bible, holder)]
    if not pairs:
        return None
    place, holder, other = rng.choice(pairs)
    text = rng.choice(_BELONGS).format(place=place.name, other=other.name, holder=holder.name)
    return Edit("allegiance", _sentence(text), place.id)


def _others(bible: Bible, holder: Node) -> list[Node]:
    return [other for other in bible.factions if other is not holder and other.retired is None]


def _law(setting: Setting, rng: random.Random) -> Edit | None:
    bible = setting.bible
    made: list[tuple[Rule, Location | None]] = []
    for rule in bible.rules:
        scope = setting.scope(rule)
        if rule.retired is None:
            made += [
                (rule, place)
                for place in (scope if scope is not None else (None, *bible.locations))
                if place is None or place.retired is None
            ]
    if not made:
        return None
    rule, place = rng.choice(made)
    text = rng.choice(_ALLOWED).format(
        practice=rng.choice((rule.practice, *rule.aliases)),
        law=rule.name,
        where=f" in {place.name}" if place else "",
    )
    return Edit("law", _sentence(text), rule.id)


_MAKERS: Final[dict[Kind, Callable[[Setting, random.Random], Edit | None]]] = {
    "retired": _retired,
    "denied": _denied,
    "swapped": _swapped,
    "number": _number,
    "allegiance": _allegiance,
    "law": _law,
}
