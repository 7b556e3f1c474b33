"""What a statement gets wrong about a Story Bible, found without a model.

Six kinds: it counts on something *retired* (a city destroyed, a person dead, a law repealed) as if it still were; it *denies*
what the bible says; it puts one node in the *place of another*; it gives another *number*; it gives a place to the wrong
*allegiance*; it allows what a *law* forbids, or says that the law does not hold. The first, fifth and sixth rest on the bible's
fields; the others on a clause that says nearly the same in the bible's own words. Said in other words, a contradiction is not
seen: docs/lore.md has how often.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from ludic_deepeval.bible import How, Location, Node, Retired, Rule
from ludic_deepeval.text import folded
from trulens_feedback.lexicon import clauses, denials, numbers, stems
from trulens_feedback.setting import Mention, Said, Setting

Kind: TypeAlias = Literal["retired", "denied", "swapped", "number", "allegiance", "law"]

_WINDOW: Final = 300  # characters: what is farther off belongs to another thought
_NEIGHBOURS: Final = 3  # names to either side
_STOP: Final = re.compile(r"[;:.!?。；：！？]|, (?:but|and|so|while) ")
_FATE: Final = (
    r"destroyed|burn(?:ed|t|ing|s)?|fell|fallen|sank|sunk|drown(?:ed|ing)|ruins?|ruined|ash|ashes|rubble|cinders|wreck(?:ed)?|gone|lost|razed|"
    r"dead|death|died|dies|killed|slain|murdered|the late|graves?|buried|funeral|mourn(?:ed|s|ing)?|dissolved|disbanded|abolished|repealed|ended|"
    r"closed|former|formerly|memory|remembered|no longer|no more|is over|broken|collapsed|vanished|fire that took"
)
_IS_FATE: Final = re.compile(
    rf"\b(?:{_FATE}|(?:left|remains) of)\b|[毁焚烧沉淹亡死殁灭塌废]|废除|解散|遗址", re.IGNORECASE
)
_FATE_DENIED: Final = re.compile(
    rf"\b(?:never|not|nothing|no one|nobody|hardly)\s+(?:\w+\s+)?(?:{_FATE})\b|n't\s+(?:\w+\s+)?(?:{_FATE}|burn|fall|die|sink|end|close)\b"
    r"|\b(?:never|not)\s+(?:burn|fall|die|sink|end|close)\b|\bstill (?:stands?|standing|holds?|alive|lives?|open|there|in force)\b"
    r"|\b(?:is|are) (?:alive|back|rebuilt|open again)\b|\bsurvived\b|[没未](?:有)?(?:被)?[毁焚烧沉淹亡死灭塌废]|还活着|尚在|仍在",
    re.IGNORECASE,
)
_PAST: Final = re.compile(
    r"\b(?:was|were|wasn't|weren't|had|hadn't|did|didn't|used to|once|ago|before|formerly|back when|in those days|(?!need|feed|seed|speed|hundred|indeed|shed|breed|exceed|bleed|weed|embed)\w{2,}ed|"
    r"swept|wept|crept|felt|dealt|meant|dreamt|lent|spent|bent|learnt|thought|taught|caught|sought|fought|bought|brought|drank|sang|swam|"
    r"began|rang|ran|came|became|gave|forgave|ate|drove|rode|rose|wrote|spoke|broke|woke|froze|stole|chose|wore|bore|swore|tore|grew|knew|"
    r"threw|blew|flew|drew|shook|took|stood|sold|told|held|found|bound|hung|hid|lit|met|fed|led|fled|sat|got|forgot|shot|lost|left|slept|kept|"
    r"leapt|stuck|struck|swung|clung|dug|won|saw|went|made|paid|said|laid|heard|built|sent)\b|[曾]|从前|当年|昔日|以前|过去|原先|那时|那年",
    re.IGNORECASE,
)
_PRESENT: Final = re.compile(
    r"\b(?:is|are|am|isn't|aren't|has|have|hasn't|do|does|doesn't|don't|will|won't|shall|can|can't|may|must|now|today|tonight|tomorrow|"
    r"nowadays|these days|this (?:week|morning|evening|month|season|year)|last (?:week|night)|yesterday|every (?:day|week|night|month))\b|"
    r"'(?:re|ll|ve)\b|现在|如今|今天|今日|明天|眼下|正在|每天",
    re.IGNORECASE,
)
_OWNS: Final = (
    r"belongs? to|belong(?:s|ed)? now to|is (?:a |the )?(?:\w+ )?(?:town|city|place|seat|possession|property|holding|port) of|"
    r"is (?:now )?(?:ruled|held|governed|owned|controlled|run|kept|taxed|commanded) by|answers? to|is under|is in the hands of|swears? to|obeys?|pays? its tolls? to|属于|归|听命于"
)
_OWNED: Final = (
    r"(?:now )?(?:rules?|holds?|governs?|owns?|controls?|runs?|commands?|took|has|占着|控制着?|统治着?|管着)"
)
_ALLOWED: Final = re.compile(
    r"\b(?:allowed|legal|lawful|permitted|free to|welcome to|no (?:law|crime|offence|fine)|nobody (?:minds|is fined|objects)|"
    r"may (?:now |freely |openly )?|no one (?:minds|objects)|unpunished|within the law|perfectly legal|not (?:a crime|forbidden|illegal|banned))\b"
    r"|允许|合法|准许|可以",
    re.IGNORECASE,
)
_FORBIDDEN: Final = re.compile(
    r"\b(?:forbidden|illegal|banned|prohibited|unlawful|a crime|against the law|may not|nobody may|no one may|fined)\b|禁止|不准|违法",
    re.IGNORECASE,
)
_NO_FORCE: Final = re.compile(
    r"\b(?:does not|doesn't|no longer|never|not) (?:hold|holds|appl(?:y|ies)|bind|binds|exist|exists|enforced|count|counts)\b|\b(?:is|was) (?:void|dead letter|repealed|abolished|lifted|not enforced)\b",
    re.IGNORECASE,
)


_HOW: Final[dict[How, str]] = {
    "destroyed": "destroyed in",
    "dead": "dead since",
    "dissolved": "dissolved in",
    "lost": "lost in",
    "repealed": "repealed in",
    "other": "no more since",
}


@dataclass(frozen=True, slots=True)
class Contradiction:
    """One thing that a statement gets wrong.

    Attributes:
        kind: What is wrong.
        node: The node that it is about.
        version: The version that retired the node; else the version of the bible.
        reason: One line: what is wrong.
        says: The bible's own words.
    """

    kind: Kind
    node: str
    version: str
    reason: str
    says: str

    @property
    def told(self) -> str:
        """Reason and the bible's words in one line."""
        return f"{self.reason}: “{self.says}”"


def contradictions(text: str, setting: Setting, *, is_open: bool = False) -> tuple[Contradiction, ...]:
    """Find what a statement gets wrong.

    Args:
        text: One statement.
        setting: The bible.
        is_open: The statement leaves something unexplained. Then only what it presupposes is looked at: that a thing still
            is, whom a place belongs to, what a law allows. That it denies or asks is its business.

    Returns:
        One for each node and kind, in the order in which they are told.
    """
    mentions = setting.mentions(text)
    found = [
        *_retired(text, mentions),
        *_allegiance(text, mentions, setting),
        *_laws(text, mentions, setting),
    ]
    if not is_open:
        found += _aligned(text, mentions, setting)
    return tuple({(one.kind, one.node): one for one in reversed(found)}.values())[::-1]


def counts_on(text: str, mention: Mention) -> bool:
    """Whether a statement counts on something that it names as still being there.

    It does unless the clause speaks of its end, or is about the past. A present verb or a word for now outweighs the past.
    """
    plain = folded(text)
    clause = _around(plain, mention)
    if _FATE_DENIED.search(clause):
        return True
    if _IS_FATE.search(clause):
        return False
    after = plain[mention.end : mention.end + _WINDOW].lstrip("'s ")
    follows = re.match(r"(\w+)", after)
    if follows and re.fullmatch(r"(?!was\b|his\b|its\b|as\b|this\b|us\b)\w{2,}[^s]s", follows[1]):
        return True
    if _PRESENT.search(clause):
        return True
    return not _PAST.search(clause)


def _around(plain: str, mention: Mention) -> str:
    """The part of a sentence, between its larger stops, that holds a mention; of a very long one what is near."""
    before = plain[max(0, mention.start - _WINDOW) : mention.start]
    after = plain[mention.end : mention.end + _WINDOW]
    begin = max((match.end() for match in _STOP.finditer(before)), default=0)
    end = _STOP.search(after)
    return before[begin:] + plain[mention.start : mention.end] + (after[: end.start()] if end else after)


def _retired(text: str, mentions: tuple[Mention, ...]) -> Iterator[Contradiction]:
    told: set[str] = set()
    for mention in mentions:
        gone = mention.node.retired
        if gone is None or mention.node.id in told or not counts_on(text, mention):
            continue
        if isinstance(mention.node, Rule) and _NO_FORCE.search(folded(text)):
            continue
        told.add(mention.node.id)
        yield _gone(mention.node, gone)


def _gone(node: Node, gone: Retired) -> Contradiction:
    what = _HOW[gone.how]
    return Contradiction(
        "retired", node.id, gone.version, f"counts on {node.name}, {what} {gone.version}", gone.text
    )


def _allegiance(text: str, mentions: tuple[Mention, ...], setting: Setting) -> Iterator[Contradiction]:
    plain = folded(text)
    for at, place in enumerate(mentions):
        if not isinstance(place.node, Location) or place.node.retired is not None:
            continue
        holder = setting.holder(place.node)
        if holder is None:
            continue
        for faction in mentions[max(0, at - _NEIGHBOURS) : at + _NEIGHBOURS + 1]:
            if faction.kind != "factions" or (claims := _claims(plain, place, faction)) is None:
                continue
            if claims != (faction.node is holder):
                reason = f"{place.node.name} belongs to {holder.name}"
                yield Contradiction(
                    "allegiance", place.node.id, setting.bible.version, reason, place.node.text
                )
                break


def _claims(plain: str, place: Mention, faction: Mention) -> bool | None:
    """Whether the words between say that the place is the faction's (True), that it is not (False), or neither (None)."""
    if place.end <= faction.start:
        between, pattern = plain[place.end : faction.start], _OWNS
    else:
        between, pattern = plain[faction.end : place.start], _OWNED
    if len(between) > _WINDOW:
        return None
    denied = re.search(r"\b(?:not|never|no longer)\b|n't\b|不", between) is not None
    bare = re.sub(
        r"\b(?:does|do|did) (?:not|never)\b|n't\b|\b(?:not|never|no longer|now|still) ?", "", between
    )
    bare = re.sub(r"\bdoes\b ?|[并已早]?不再?", "", " ".join(bare.split()))
    if not re.fullmatch(
        rf"\W*(?:\w+ ){{0,2}}?(?:{pattern}|belong to|hold|rule|own)(?: the| a| old| great)*\W*",
        bare.strip() + " ",
    ):
        return None
    return not denied


def _laws(text: str, mentions: tuple[Mention, ...], setting: Setting) -> Iterator[Contradiction]:
    plain = folded(text)
    words = frozenset(stems(text))
    named = {mention.node.id for mention in mentions}
    for rule in setting.bible.rules:
        practised = any(
            (wanted := frozenset(stems(practice))) and wanted <= words
            for practice in (rule.practice, *rule.aliases)
        )
        if not practised and rule.id not in named:
            continue
        if rule.retired is not None:
            if (
                practised
                and rule.id not in named
                and _FORBIDDEN.search(plain)
                and not _denied(plain, _FORBIDDEN)
            ):
                yield _gone(rule, rule.retired)
            continue
        scope = setting.scope(rule)
        here = scope is None or any(place.id in named for place in scope)
        allows = (
            practised
            and here
            and ((_ALLOWED.search(plain) and not _denied(plain, _ALLOWED)) or _denied(plain, _FORBIDDEN))
            and not re.search(r"\b(?:may not|nobody may|no one may)\b", plain, re.IGNORECASE)
        )
        void = (
            rule.id in named
            and _NO_FORCE.search(plain)
            and (here or not any(m.kind == "locations" for m in mentions))
        )
        if allows or void:
            yield Contradiction("law", rule.id, setting.bible.version, f"goes against {rule.name}", rule.text)


def _denied(plain: str, pattern: re.Pattern[str]) -> bool:
    """Whether the words are there and all denied: "not allowed", "never forbidden"."""
    found = list(pattern.finditer(plain))
    return bool(found) and all(
        re.search(
            r"\b(?:not|never|no longer|hardly|isn't|aren't|nothing|nor)\b(?: \w+)? ?$",
            plain[max(0, match.start() - _WINDOW) : match.start()],
        )
        for match in found
    )


def _aligned(text: str, mentions: tuple[Mention, ...], setting: Setting) -> Iterator[Contradiction]:
    named = {mention.node.id: mention for mention in mentions}
    for clause in clauses(text):
        words = setting.content(clause)
        said = _nearest(words, setting, set(named))
        if said is None or not said.now:
            continue
        version = setting.bible.version
        name, text = said.node.name, said.text
        if denials(clause) % 2 != said.denials % 2:
            yield Contradiction("denied", said.node.id, version, f"denies what is said of {name}", text)
        elif said.numbers and not numbers(setting.nameless(clause)) <= said.numbers:
            yield Contradiction("number", said.node.id, version, f"gives another number for {name}", text)
        elif (other := _in_its_place(clause, said, setting)) is not None:
            yield Contradiction(
                "swapped", said.node.id, version, f"says of {other.name} what is true of {name}", text
            )


def _nearest(words: frozenset[str], setting: Setting, named: set[str]) -> Said | None:
    """The clause of the bible that says nearly the same as these words, if there is one.

    Two thirds of either must be shared; of a node that the statement does not name, more, and at least four words.
    """
    best: tuple[float, Said] | None = None
    for said in setting.said:
        shared = len(words & said.stems)
        least = 2 if said.node.id in named else 3
        if shared < least:
            continue
        share = min(shared / len(words), shared / len(said.stems))
        if share >= (0.6 if said.node.id in named else 0.7) and (best is None or share > best[0]):
            best = (share, said)
    return best[1] if best else None


def _in_its_place(clause: str, said: Said, setting: Setting) -> Node | None:
    """Another node of the same kind that the clause names where the bible has this one."""
    there = list(setting.mentions(clause))
    own = {mention.node.id for mention in setting.mentions(said.text)} | {said.node.id}
    if any(mention.node is said.node for mention in there):
        return None
    kind = setting.kinds[said.node.id]
    first = next((mention for mention in there if mention.kind == kind), None)
    return first.node if first and first.node.id not in own else None
