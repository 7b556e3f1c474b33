"""The judge that needs no model: it compares words, and finds contradictions by `contradiction`.

A baseline, with a baseline's limits: it knows no synonym, and what it calls supported has half of its content words in a chunk,
a threshold that nobody has calibrated. It is deterministic and free, and it never answers with `Unscored`.
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import Final

from ludic_deepeval.bible import Location
from ludic_deepeval.outcome import Outcome, Scored, Unscored
from trulens_feedback.lexicon import stems
from trulens_feedback.retrieval import Chunk
from trulens_feedback.setting import Mention, Setting
from trulens_feedback.statements import Background, Statement
from trulens_feedback.triad import Rated, Verdict, known_wrong

SUPPORT: Final = Fraction(1, 2)
_VERBATIM: Final = Fraction(7, 10)


class LexicalJudge:
    """Judges by words.

    Args:
        support: The share of a statement's content words that a chunk must hold to support it.
    """

    name = "lexical"

    def __init__(self, support: Fraction = SUPPORT) -> None:
        self.support = support

    def relevance(self, query: str, chunks: Sequence[Chunk], setting: Setting) -> Outcome[tuple[Rated, ...]]:
        """1 for a chunk whose node the query names, else the share of the chunk's content words that the query has."""
        asked = frozenset(stems(query))
        named = {mention.node.id for mention in setting.mentions(query)}
        rated = []
        for chunk in chunks:
            words = frozenset(stems(chunk.text))
            shared = asked & words
            if chunk.node in named:
                rated.append(Rated(Fraction(1), f"the query names {chunk.name}"))
            else:
                share = Fraction(len(shared), len(words)) if words else Fraction(0)
                rated.append(
                    Rated(share, f"{len(shared)} of its {len(words)} content words are in the query")
                )
        return Scored(tuple(rated))

    def verdicts(
        self,
        statements: Sequence[Statement],
        chunks: Sequence[Chunk],
        setting: Setting,
        background: Background,
    ) -> Outcome[tuple[Verdict, ...]]:
        """Judge each statement by itself."""
        return Scored(tuple(self._verdict(one, chunks, setting, background) for one in statements))

    def _verdict(
        self, statement: Statement, chunks: Sequence[Chunk], setting: Setting, background: Background
    ) -> Verdict:
        text = statement.text
        if wrong := known_wrong(text, chunks, setting):
            at = next(chunk for chunk in chunks if chunk.node == wrong[0].node)
            return Verdict("contradicted", at.id, wrong[0].told)
        words = setting.content(text)
        mentions = setting.mentions(text)
        best = max(
            ((_share(words, chunk), chunk) for chunk in _about(mentions, chunks, setting)),
            key=lambda pair: pair[0],
            default=None,
        )
        named = [mention.node.name for mention in mentions] or list(background.world_names(text))
        verbatim = best is not None and best[0] >= _VERBATIM and len(words) >= 3
        if not verbatim and (not named or background.is_private(text, setting)):
            about = "tells of somebody's own life" if named else "names nothing of the setting"
            return Verdict("private", None, about)
        if belongs := _belongs(text, chunks, setting):
            return Verdict("supported", belongs.id, f"as {belongs.name} has it")
        if best is not None and best[0] >= self.support:
            shared = round(best[0] * max(len(words), 1))
            what = (
                f"{shared} of its {len(words)} content words stand"
                if words
                else "it says no more than its name stands"
            )
            return Verdict("supported", best[1].id, f"{what} in {best[1].name}")
        return Verdict(
            "unsupported", None, f"no retrieved chunk says this of {named[0] if named else 'the setting'}"
        )

    def fulfilment(self, request: str, prose: str) -> Outcome[Rated]:
        """The share of the request's content words that the prose has: a weak sign, and blind to whatever is put otherwise."""
        wanted = frozenset(stems(request))
        if not wanted:
            return Unscored("claims", "the request has no content words")
        have = frozenset(stems(prose))
        missing = sorted(wanted - have)
        told = f"; without {', '.join(missing[:6])}" if missing else ""
        return Scored(
            Rated(
                Fraction(len(wanted & have), len(wanted)),
                f"{len(wanted & have)} of the request's {len(wanted)} content words{told}",
            )
        )


def _about(mentions: Sequence[Mention], chunks: Sequence[Chunk], setting: Setting) -> list[Chunk]:
    """The chunks of the nodes that a statement names, or that name them; every chunk when it names none."""
    named = {mention.node.id for mention in mentions}
    return [
        chunk
        for chunk in chunks
        if not named or chunk.node in named or named & {one.node.id for one in setting.mentions(chunk.text)}
    ]


def _share(words: frozenset[str], chunk: Chunk) -> Fraction:
    """The share of a statement's content words that a chunk has. One that says nothing but names is had by none."""
    if not words:
        return Fraction(0)
    return Fraction(len(words & frozenset(stems(chunk.search))), len(words))


def _belongs(text: str, chunks: Sequence[Chunk], setting: Setting) -> Chunk | None:
    """The chunk of a place that a statement gives to the faction it belongs to."""
    mentions = setting.mentions(text)
    factions = {mention.node.id for mention in mentions if mention.kind == "factions"}
    for chunk in chunks:
        node = next((one.node for one in mentions if one.node.id == chunk.node), None)
        if isinstance(node, Location) and node.allegiance in factions and len(setting.content(text)) <= 1:
            return chunk
    return None
