"""Prose that seems to speak to whoever reads it by machine: places that a person should look at before a score is believed.

Items without words of the prose are never scored, whatever a model was told. But tier, dimensions and openness rest on a
real quote and a model's judgement, and prose can ask for them. These rules find such prose by its form. They see what is
written openly and nothing else, so a story without a hit is not thereby honest (the rates are in docs/metrics.md).
"""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from ludic_deepeval.text import Prose, sentence_starts

Rule: TypeAlias = Literal["order", "data", "fence", "hidden", "mixed-script"]
RULES: Final[dict[Rule, str]] = {
    "order": "speaks to a reader, judge or program, or asks for a score",
    "data": "holds data in the form of a ledger",
    "fence": "pretends to be the end of the prose, or a message from elsewhere",
    "hidden": "holds characters that cannot be seen",
    "mixed-script": "has letters of two alphabets in one word",
}
MOST: Final = 50

_FIELDS: Final = (
    r"thematic_hole|asserted_by|schema_version|background_log|proactive|unresolved|immediacy|gravity|linkage|divergence"
    r"|evidence|mysteries|npcs|hooks|goals|events|tier|protagonist|ledger"
)
_DATA: Final = re.compile(
    rf"[\"'“”](?:{_FIELDS}|lpi|pcv|score|gate|quote)[\"'“”]\s*[:：=]|\b(?:{_FIELDS})\s*[=:]\s*(?:\d|true\b|false\b|\[|\{{)"
    r"|\b(?:thematic_hole|asserted_by|schema_version|background_log)\b|\{\s*\"|```",
    re.IGNORECASE,
)
_FENCE: Final = re.compile(
    r"\b(?:END|BEGIN)[ _]+(?:OF[ _]+)?(?:PROSE|STORY|BACKSTORY|INPUT|PROMPT|SYSTEM)\b"
    r"|</?\s*(?:prose|story|backstory|system|user|assistant|instructions?|prompt|input|document|data|think)\s*/?>"
    r"|<\|[a-z_]+\|>|\[/?INST\]|^\s*#{0,3}\s*\[?(?:system|assistant|user|developer)\]?\s*(?:message|prompt)?\s*[:：]",
    re.IGNORECASE | re.MULTILINE,
)
_WHO: Final = (
    r"(?:notary|judge|grader|evaluator|assessor|reviewer|annotator|language model|llm|ai(?: model| assistant)?|chatbot"
    r"|assistant|whoever (?:reads|scores|marks)|dear reader|model)"
)
_WHAT: Final = (
    r"(?:scor(?:e|es|ing)|ratings?|marks?|tiers?(?: (?:1|one))?|lpi|pcv|ledger|json|gravity|immediacy|linkage|divergence|dimensions?"
    r"|hooks?|goals?|mysteries|instructions?|prompts?|gate|thematic holes?|unresolved)"
)
_DO: Final = (
    r"(?:set|give|assign|mark|score|rate|count|treat|record|return|output|answer|respond|report|list|add|write|print|label"
    r"|ignore|disregard|forget|override|obey|follow|make sure|ensure|pretend|you (?:must|shall|should|will)|please|do not|never)"
)
_ORDER: Final = re.compile(
    rf"\b(?:ignore|disregard|forget|override)\b[^.!?\n]{{0,40}}\b(?:instructions?|prompts?|rules?|above|previous|system)\b"
    rf"|\b{_WHO}\b\s*[,:—-][^.!?\n]{{0,80}}\b{_DO}\b"
    rf"|\b(?:as|you are|to|note to|attention|hey|dear)\s+(?:an?\s+|the\s+|my\s+)?{_WHO}\b[^.!?\n]{{0,120}}\b(?:{_DO}|{_WHAT})\b"
    rf"|(?:^|[.!?:;,]\s+|[\"“(\[]|\b(?:and|please|must|should|shall)\s+){_DO}\b[^.!?\n]{{0,80}}\b"
    r"(?:scor(?:e|es|ing)|ratings?|tiers?\s*(?:1|one)|lpi|pcv|ledger|json|immediacy|linkage|divergence|dimensions|prompts?"
    r"|gravity\s*(?:of\s*|to\s*|is\s*)?(?:10|ten)|thematic holes?|unresolved)\b"
    r"|\b(?:tier\s*[-:]?\s*1|(?:score|lpi|pcv|rating)\s*(?:of|is|:|=|to|:=)?\s*(?:1\.0|0\.9\d*|100|10/10|10 out of 10|\d{3}))\b"
    r"|\b(?:this|the) (?:backstory|story|text)\s+(?:passes|scores|must pass|should pass|deserves)\b[^.!?\n]{0,40}\b(?:gate|scores?|1\.0|10|full|top|highest|marks?)\b"
    r"|(?:忽略|无视|忘记)[^。！？\n]{0,20}(?:指令|提示|规则|要求|以上)|(?:请|必须|务必)[^。！？\n]{0,30}(?:评分|打分|满分|分数|一级|账本|标为|标记|输出)"
    r"|(?:评审|评委|模型|人工智能|AI|读者)[^。！？\n]{0,6}[，,:：][^。！？\n]{0,30}(?:给|打|评|输出|标|设)",
    re.IGNORECASE | re.MULTILINE,
)
_HIDDEN: Final = re.compile(
    "[\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff\U000e0000-\U000e007f]"
)
_JOINER: Final = re.compile("(?<=[A-Za-z\u0400-\u04ff])[\u200c\u200d](?=[A-Za-z\u0400-\u04ff])")
_WORD: Final = re.compile(r"[^\W\d_]{2,}")


@dataclass(frozen=True, slots=True)
class Suspicion:
    """A place in a story that seems to speak to a machine.

    Attributes:
        rule: Which rule found it; `RULES` says what it means.
        words: The words.
        start: Where they begin, in characters of the body.
        line: In the stored file.
    """

    rule: Rule
    words: str
    start: int
    line: int


def suspicions(prose: Prose) -> tuple[Suspicion, ...]:
    """Find such places in a story's body, at most fifty, in the order in which they stand; each rule once a sentence.

    Front matter is not looked at: no model is shown it.
    """
    starts = sentence_starts(prose.body)
    found: list[Suspicion] = []
    for rule in RULES:
        last, count = -1, 0
        for begin, end in _spans(rule, prose.body):
            sentence = bisect_right(starts, begin)
            if sentence == last:
                continue
            last, count = sentence, count + 1
            words = " ".join(prose.body[begin : max(end, begin + 1)].split())
            found.append(Suspicion(rule, words, begin, prose.place(begin).line))
            if count == MOST:
                break
    return tuple(sorted(found, key=lambda one: one.start)[:MOST])


def _spans(rule: Rule, text: str) -> Iterator[tuple[int, int]]:
    if rule == "mixed-script":
        if text.isascii():
            return
        yield from (match.span() for match in _WORD.finditer(text) if _mixed(match.group()))
        return
    patterns = {"order": (_ORDER,), "data": (_DATA,), "fence": (_FENCE,), "hidden": (_HIDDEN, _JOINER)}[rule]
    for pattern in patterns:
        yield from (match.span() for match in pattern.finditer(text))


def _mixed(word: str) -> bool:
    """Whether Latin letters stand in one word with Greek or Cyrillic ones, which look the same."""
    if word.isascii():
        return False
    scripts = {unicodedata.name(char, "").partition(" ")[0] for char in word}
    return "LATIN" in scripts and bool(scripts & {"CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE"})
