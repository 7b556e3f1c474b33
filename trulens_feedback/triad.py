"""The RAG triad (LudicMetrics §4.3) over a Story Bible: context relevance, groundedness, answer relevance.

Groundedness counts world-facts only: supported / (supported + unsupported + contradicted). Private biography is not counted. A
statement that opens a mystery which passes Eq 11 is set apart as *open* and never charged as ungrounded; only what it presupposes
is looked at, by code and not by the judge: that a thing it counts on still is, whose a place is, what a law allows. So adding a
mystery never lowers groundedness, unless the mystery itself counts on something that the bible has ended.

Who judges is a `Judge`: `lexical.LexicalJudge` without a model, `judge.ModelJudge` over any model. What could not be judged is
`Unscored`, never 0.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import Final, Literal, Protocol, TypeAlias, get_args

from ludic_deepeval.ledger import Phase
from ludic_deepeval.outcome import Outcome, Scored, Unscored
from trulens_feedback.contradiction import Contradiction, contradictions
from trulens_feedback.retrieval import Chunk
from trulens_feedback.setting import Setting
from trulens_feedback.statements import Background, Statement, split

Standing: TypeAlias = Literal["supported", "unsupported", "contradicted", "open", "private"]
STANDINGS: Final[tuple[Standing, ...]] = get_args(Standing)


@dataclass(frozen=True, slots=True)
class Rated:
    """A rating with its reason.

    Attributes:
        score: In [0, 1], higher is better.
        reason: One line.
    """

    score: Fraction
    reason: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a judge says of one statement.

    Attributes:
        standing: Never `open`: that is for code to say.
        chunk: The id of the chunk that it rests on, or contradicts.
        reason: One line.
        opens: Whether the judge holds that it leaves something unexplained; code then asks Eq 11.
    """

    standing: Literal["supported", "unsupported", "contradicted", "private"]
    chunk: str | None
    reason: str
    opens: bool = False


class Judge(Protocol):
    """Who judges. Each answer is for every item asked about, in order, or `Unscored`."""

    @property
    def name(self) -> str:
        """`lexical`, or `provider:model`."""

    def relevance(self, query: str, chunks: Sequence[Chunk], setting: Setting) -> Outcome[tuple[Rated, ...]]:
        """Rate how well each chunk informs what is being told."""

    def verdicts(
        self,
        statements: Sequence[Statement],
        chunks: Sequence[Chunk],
        setting: Setting,
        background: Background,
    ) -> Outcome[tuple[Verdict, ...]]:
        """Say of each statement what it rests on."""

    def fulfilment(self, request: str, prose: str) -> Outcome[Rated]:
        """Rate how far the prose does what was asked."""


@dataclass(frozen=True, slots=True)
class Judged:
    """One statement and where it stands.

    Attributes:
        text: Its words.
        start: Where it begins in the body.
        end: Where it ends, half-open.
        standing: supported, unsupported, contradicted, open or private.
        chunk: The chunk that it rests on or contradicts, by id.
        node: The node that it contradicts.
        version: The version that retired that node, or the bible's.
        reason: One line.
        unbacked: Of an open statement: names of the world that it presupposes and of which nothing was retrieved. Told, and
            not charged.
    """

    text: str
    start: int
    end: int
    standing: Standing
    chunk: str | None
    node: str | None
    version: str | None
    reason: str
    unbacked: tuple[str, ...] = ()


@dataclass(frozen=True)
class Groundedness:
    """How far what a text says about the world rests on what was retrieved.

    Attributes:
        score: supported / (supported + unsupported + contradicted), in [0, 1], higher is better, exact. `Unscored`: cause
            `context` when nobody retrieved anything, `claims` when nothing is said about the world, `model` when the judge gave
            no usable answer.
        statements: Every statement, in the order of the text; empty when the judge failed.
        judge: Who judged.
    """

    score: Outcome[Fraction]
    statements: tuple[Judged, ...]
    judge: str

    @property
    def counts(self) -> Mapping[Standing, int]:
        """How many statements stand where."""
        found = Counter(one.standing for one in self.statements)
        return MappingProxyType({standing: found[standing] for standing in STANDINGS})

    @property
    def shares(self) -> Mapping[Standing, Fraction]:
        """The share of each standing among all statements; empty when there are none."""
        whole = len(self.statements)
        return MappingProxyType(
            {standing: Fraction(count, whole) for standing, count in self.counts.items()} if whole else {}
        )


@dataclass(frozen=True)
class ContextRelevance:
    """How well what was retrieved informs what is being told.

    Attributes:
        score: The mean of the chunks' ratings, in [0, 1], higher is better. `Unscored` (`context`) when nothing was retrieved.
        chunks: Each chunk's id and rating, in the order of retrieval.
        judge: Who judged.
    """

    score: Outcome[Fraction]
    chunks: tuple[tuple[str, Rated], ...]
    judge: str


def context_relevance(
    query: str, chunks: Sequence[Chunk] | None, setting: Setting, judge: Judge
) -> ContextRelevance:
    """Rate each retrieved chunk for one life phase.

    Args:
        query: What is being told: `retrieval.phase_queries`.
        chunks: What was retrieved; None when nobody looked.
        setting: The bible that the chunks come from.
        judge: Who judges.
    """
    if not chunks:
        why = "nothing was retrieved" if chunks is not None else "there was no retrieval"
        return ContextRelevance(Unscored("context", why), (), judge.name)
    found = judge.relevance(query, chunks, setting)
    if isinstance(found, Unscored):
        return ContextRelevance(found, (), judge.name)
    rated = tuple((chunk.id, one) for chunk, one in zip(chunks, found.value, strict=True))
    mean = sum((one.score for _, one in rated), Fraction(0)) / len(rated)
    return ContextRelevance(Scored(mean), rated, judge.name)


def phase_relevance(
    queries: Mapping[Phase, str], found: Mapping[Phase, Sequence[Chunk]], setting: Setting, judge: Judge
) -> Mapping[Phase, ContextRelevance]:
    """Rate the chunks of every phase of a life that has a query."""
    return MappingProxyType(
        {
            phase: context_relevance(query, found.get(phase), setting, judge)
            for phase, query in queries.items()
        }
    )


def groundedness(
    prose: str,
    chunks: Sequence[Chunk] | None,
    setting: Setting,
    judge: Judge,
    *,
    background: Background | None = None,
) -> Groundedness:
    """Say of each statement of a text whether it rests on a retrieved chunk.

    Args:
        prose: The text.
        chunks: What was retrieved. Empty when retrieval found nothing, so that no world-fact can rest on anything; None when
            there was no retrieval, which is `Unscored`.
        setting: The bible that the chunks come from; a contradiction counts when a chunk of its node was retrieved.
        judge: Who judges.
        background: The story's ledger, and names of the world.
    """
    if chunks is None:
        return Groundedness(Unscored("context", "there was no retrieval"), (), judge.name)
    known = background or Background()
    statements = split(prose)
    if not statements:
        return Groundedness(Unscored("claims", "there is no statement in the text"), (), judge.name)
    found = judge.verdicts(statements, chunks, setting, known)
    if isinstance(found, Unscored):
        return Groundedness(found, (), judge.name)
    judged = tuple(
        _settled(statement, verdict, chunks, setting, known)
        for statement, verdict in zip(statements, found.value, strict=True)
    )
    counts = Counter(one.standing for one in judged)
    whole = counts["supported"] + counts["unsupported"] + counts["contradicted"]
    score: Outcome[Fraction] = (
        Scored(Fraction(counts["supported"], whole))
        if whole
        else Unscored(
            "claims", "nothing in the text is a fact about the world that can be held against the bible"
        )
    )
    return Groundedness(score, judged, judge.name)


def _settled(
    statement: Statement, verdict: Verdict, chunks: Sequence[Chunk], setting: Setting, background: Background
) -> Judged:
    """The standing of one statement: code decides over openness, whoever judges."""
    is_open = background.opens(statement, setting) or (
        verdict.opens
        and (measured := background.vagueness(statement.text, setting)) is not None
        and measured.is_hole(background.density)
    )
    text, start, end = statement.text, statement.start, statement.end
    if not is_open:
        at = next((one for one in chunks if one.id == verdict.chunk), None)
        wrong = at if verdict.standing == "contradicted" else None
        node, version = (wrong.node, wrong.retired or wrong.version) if wrong else (None, None)
        return Judged(
            text, start, end, verdict.standing, at.id if at else None, node, version, verdict.reason
        )
    if found := known_wrong(text, chunks, setting, is_open=True):
        first = found[0]
        at = next(one for one in chunks if one.node == first.node)
        return Judged(text, start, end, "contradicted", at.id, first.node, first.version, first.told)
    names = _unbacked(text, chunks, setting, background)
    more = f"; nothing was retrieved of {', '.join(names)}" if names else ""
    reason = f"leaves something unexplained (Eq 11){more}"
    return Judged(text, start, end, "open", None, None, None, reason, names)


def _unbacked(
    text: str, chunks: Sequence[Chunk], setting: Setting, background: Background
) -> tuple[str, ...]:
    """The names of the world in a text of which no chunk was retrieved."""
    nodes = {chunk.node for chunk in chunks}
    mentions = setting.mentions(text)
    missing = [one.node.name for one in mentions if one.node.id not in nodes]
    missing += [name for name in background.world_names(text) if setting.bible.find(name) is None]
    return tuple(dict.fromkeys(missing))


def known_wrong(
    text: str, chunks: Sequence[Chunk], setting: Setting, *, is_open: bool = False
) -> tuple[Contradiction, ...]:
    """The contradictions of a statement with nodes of which a chunk was retrieved."""
    nodes = {chunk.node for chunk in chunks}
    return tuple(one for one in contradictions(text, setting, is_open=is_open) if one.node in nodes)


def answer_relevance(request: str, prose: str, judge: Judge) -> Outcome[Rated]:
    """Rate how far prose does what its design prompt asked, in [0, 1], higher is better.

    `Unscored` when there is no request, no prose, or no usable answer of the judge.
    """
    if not request.strip() or not prose.strip():
        return Unscored(
            "context" if not request.strip() else "claims",
            "there is no request" if not request.strip() else "there is no text",
        )
    return judge.fulfilment(request, prose)
