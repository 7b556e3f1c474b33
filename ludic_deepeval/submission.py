"""A player's submission: text and a reading of it in, a verdict out (LudicMetrics §6.4).

Pure and deterministic, and made for strangers' input: everything that costs time or memory is bounded by counts, so
that the same submission always gets the same answer. `ludic judge` is the command around it.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import Annotated, Any, Final, Literal, TypeAlias

from pydantic import StringConstraints

from ludic_deepeval.advice import Fix, cheapest_fixes
from ludic_deepeval.binding import bind
from ludic_deepeval.check import State, in_order
from ludic_deepeval.consistency import check_consistency
from ludic_deepeval.errors import InputError, LudicError, shown
from ludic_deepeval.findings import Finding, Placer, of_consistency, of_lock, of_play
from ludic_deepeval.judging import Reading, graded
from ludic_deepeval.ledger import FactLedger, Frozen, Mystery, SchemaVersion, load_model
from ludic_deepeval.lockfile import Lockfile, Notary, Ungrounded
from ludic_deepeval.marks import sheet_ledger
from ludic_deepeval.outcome import Unscored
from ludic_deepeval.policy import UNCALIBRATED_WORDS, Policy, Profile
from ludic_deepeval.scoring import Gate, ScoreCard, score_ledger
from ludic_deepeval.strict_json import load_json, require_bounded
from ludic_deepeval.text import Prose, han_share, has_pile, word_count

MAX_REQUEST_BYTES: Final = 2 * 1024 * 1024
MAX_TEXT_BYTES: Final = 256 * 1024
MAX_QUOTES: Final = 1000  # in all: each is looked for in the whole text
MAX_TRIES: Final = 100  # places looked at for one quote
MAX_NAME_WORK: Final = 50_000_000  # names times letters of mysteries, which are searched for them
MAX_ALIASES: Final = 10  # of one person: each of the person's quotes is searched for them
MAX_FIX_ITEMS: Final = 200  # no fix is searched for a reading of more; every trial touches them all
MAX_FIX_TRIALS: Final = 8000  # sets of changes that are tried at most
MAX_FINDINGS: Final = 50  # in an answer

VerdictWord: TypeAlias = Literal["accept", "revise", "contradiction"]
Language: TypeAlias = Literal["en", "zh"]
Reader: TypeAlias = Callable[[str], FactLedger]
"""Reads a text that comes without a ledger: a model's place. It may raise `LudicError` when it cannot."""


class Request(Frozen):
    """One submission to judge.

    Attributes:
        id: The platform's own name for it, given back in the answer.
        text: What the player wrote. All of it is prose: three dashes begin no front matter.
        ledger: A Fact Ledger of it with quotes; offsets may be left out.
        marks: Or a mark sheet, as `ludic annotate` writes them.
        profile: Which gate.
        language: Of the reply; by default that of most of the text.
    """

    version: SchemaVersion
    id: Annotated[str, StringConstraints(max_length=200)] | None = None
    text: str
    ledger: dict[str, Any] | None = None
    marks: dict[str, Any] | None = None
    profile: Profile | None = None
    language: Language | None = None


@dataclass(frozen=True)
class Verdict:
    """What there is to say of one submission.

    Attributes:
        id: The request's.
        state: `read`; `unread` (nobody has read it); `unscored` (it was read, but the gate could not be measured).
        word: `accept`; `revise` (it falls short of the gate); `contradiction` (it contradicts itself, whatever else);
            None when nothing was measured that could decide.
        policy: Weights, thresholds and profile.
        language: Of the reply.
        words: How long the text is; a Chinese character is half a word.
        reading: Ledger, scores and contradictions; None when unread.
        findings: As of `ludic check`, at most `MAX_FINDINGS`, errors first.
        more_findings: Whether there are more.
        fixes: The smallest fixes, as of `ludic advise`; none for a reading of more than `MAX_FIX_ITEMS` items.
        unscored: Why the state is not `read`.
    """

    id: str | None
    state: State
    word: VerdictWord | None
    policy: Policy
    language: Language
    words: int
    reading: Reading | None = None
    findings: tuple[Finding, ...] = ()
    more_findings: bool = False
    fixes: tuple[Fix, ...] = ()
    unscored: Unscored | None = None

    @property
    def caveat(self) -> str | None:
        """What nobody has calibrated about the figures; None when there is nothing to say."""
        if self.policy.profile == "submission" and self.words >= UNCALIBRATED_WORDS:
            return self.policy.weights_caveat or None
        return self.policy.caveat or None


def read_request(data: bytes) -> Request:
    """Read one request.

    Raises:
        InputError: It is larger than a request may be, not JSON, or no request.
    """
    if len(data) > MAX_REQUEST_BYTES:
        most = f"at most {MAX_REQUEST_BYTES // 1024:,} KiB"
        raise InputError("request", f"larger than {MAX_REQUEST_BYTES // 1024:,} KiB", allowed=most)
    value = load_json(data, "request")
    if not isinstance(value, dict):
        raise InputError("request", f"found {shown(value)}", allowed='an object with "version" and "text"')
    require_bounded({key: part for key, part in value.items() if key != "text"}, "request")
    request = load_model(Request, value, "request")
    if request.ledger is not None and request.marks is not None:
        raise InputError("request", "both a ledger and marks", allowed="one of the two")
    _require_readable(request.text)
    return request


def _require_readable(text: str) -> None:
    try:
        size = len(text.encode("utf-8"))
    except UnicodeEncodeError:
        raise InputError(
            "request", "half a surrogate pair", where="text", allowed="text that can be written in UTF-8"
        ) from None
    if size > MAX_TEXT_BYTES:
        most = f"{MAX_TEXT_BYTES // 1024} KiB"
        raise InputError("request", f"longer than {most}", where="text", allowed=f"at most {most} of UTF-8")
    if "\x00" in text:
        raise InputError("request", "a NUL character", where="text", allowed="text")
    if has_pile(text):
        raise InputError(
            "request", "more than 30 combining marks in a row", where="text", allowed="text that can be read"
        )


def judge_submission(request: Request, policy: Policy | None = None, reader: Reader | None = None) -> Verdict:
    """Judge one submission.

    Args:
        request: What was sent; see `read_request`.
        policy: Weights and thresholds, and the profile of a request that names none; by default `submission`.
        reader: Reads a text that comes without a ledger; without a reader it stays unread.

    Raises:
        InputError: The ledger or the mark sheet cannot be used.
    """
    policy = (policy or Policy(profile="submission")).with_profile(request.profile)
    prose = Prose(request.text, "text", front_matter=False)
    length = word_count(prose.body)
    latin, han, _ = han_share(prose.body)
    blank = Verdict(
        id=request.id,
        state="unread",
        word=None,
        policy=policy,
        language=request.language or ("zh" if han > latin else "en"),
        words=int(length),
    )
    # Where there is no word there is nothing that anybody could have overlooked.
    lock = _lock(prose, _NOTHING) if not length else _read(request, prose, reader)
    if isinstance(lock, Unscored):
        return replace(blank, state="unread" if lock.cause == "unread" else "unscored", unscored=lock)
    placer = Placer(prose, lock.ledger)
    aside = of_lock(lock, placer, prose)
    if gap := lock.too_little_grounded:
        findings, more = _told(aside, policy)
        return replace(blank, state="unscored", findings=findings, more_findings=more, unscored=gap)
    card, report = score_ledger(lock.ledger, policy), check_consistency(lock.ledger)
    findings, more = _told(
        chain(of_consistency(report, placer, lock.ledger), of_play(card, placer, lock.ledger, None), aside),
        policy,
    )
    gate = card.gate
    contradicts = any(policy.severity_of(fault.code) == "error" for fault in report.faults)
    passes = isinstance(gate, Gate) and gate.passed and not any(finding.fails for finding in findings)
    word: VerdictWord | None = "accept" if passes else "revise" if isinstance(gate, Gate) else None
    return replace(
        blank,
        state="read" if isinstance(gate, Gate) else "unscored",
        word="contradiction" if contradicts else word,
        reading=Reading(lock.ledger, card, report, ()),
        findings=findings,
        more_findings=more,
        fixes=_fixes(card),
        unscored=None if isinstance(gate, Gate) else gate,
    )


_NOTHING: Final = FactLedger(schema_version=1, protagonist="your character")


def _lock(
    prose: Prose,
    ledger: FactLedger,
    kind: Literal["hand", "model"] = "hand",
    ungrounded: tuple[Ungrounded, ...] = (),
) -> Lockfile:
    """What `ludic check` would find beside a story, without what serves edits."""
    return Lockfile(
        schema_version=1,
        source_sha256=prose.sha256,
        notary=Notary(kind=kind),
        ledger=ledger,
        ungrounded=ungrounded,
    )


def _read(request: Request, prose: Prose, reader: Reader | None) -> Lockfile | Unscored:
    """The reading that came with the text, or the reader's, or why there is none."""
    if request.marks is not None:
        _require_few(request.marks, "marks")
        return _lock(prose, sheet_ledger(request.marks, prose, "marks", tries=MAX_TRIES))
    if request.ledger is not None:
        return _grounded(request.ledger, prose, "ledger")
    if reader is None:
        why = "nobody has read this text: it came without a ledger and without marks, and no reader is set up"
        return Unscored("unread", why)
    try:
        found = reader(prose.body).model_dump(mode="json", exclude_defaults=True)
        require_bounded(found, "reader")
        return _grounded(found, prose, "reader")
    except LudicError as error:
        return Unscored("extraction", f"the reader could not read it: {error}")


def _grounded(data: dict[str, Any], prose: Prose, file: str) -> Lockfile:
    """Bind a ledger that came with a text, and that a model may have made."""
    _require_few(data, file)
    if data.get("background_log"):
        allowed = "none: what happened off-screen is the designer's to say"
        raise InputError(file, "a background log", where="background_log", allowed=allowed)
    ledger, ungrounded = bind(data, prose, file, tries=MAX_TRIES)
    return _lock(prose, ledger, "model", ungrounded)


def _require_few(data: dict[str, Any], file: str) -> None:
    """Refuse more quotes and names than can be looked for in a moment."""
    items = [
        item for part in data.values() if isinstance(part, list) for item in part if isinstance(item, dict)
    ]
    counts = (
        (sum(_count(item, "evidence") + _count(item, "quote") for item in items), MAX_QUOTES, "quotes"),
        (max((_count(item, "aliases") for item in items), default=0), MAX_ALIASES, "aliases of one person"),
    )
    for found, most, what in counts:
        if found > most:
            raise InputError(file, f"{found:,} {what}", allowed=f"at most {most:,}")
    names = sum(_count(item, "name", "aliases", "faction", "factions", "location") for item in items)
    letters = sum(len(str(item.get("text") or item.get("quote"))) for item in _mysteries(data))
    if names * letters > MAX_NAME_WORK:
        work = f"{names:,} names for mysteries of {letters:,} characters"
        raise InputError(file, work, allowed="fewer names, or fewer or shorter mysteries")


def _mysteries(data: dict[str, Any]) -> list[dict[str, Any]]:
    found = data.get("mysteries")
    return [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []


def _count(item: dict[str, Any], *keys: str) -> int:
    """How many entries fields have: one each, or those of a list."""
    values = [item[key] for key in keys if key in item]
    return sum(len(value) if isinstance(value, list) else 1 for value in values)


def _told(findings: Iterator[Finding], policy: Policy) -> tuple[tuple[Finding, ...], bool]:
    """The first findings in the order of `ludic check`, and whether there are more."""
    found = list(islice(findings, MAX_FINDINGS + 1))
    return in_order(graded(found[:MAX_FINDINGS], policy)), len(found) > MAX_FINDINGS


def _fixes(card: ScoreCard) -> tuple[Fix, ...]:
    """The smallest fixes, searched for only where each of the trials is cheap."""
    if sum(1 for _ in card.ledger.items()) > MAX_FIX_ITEMS:
        return ()
    # A mystery stays or stops being a hole whatever the trial: stand-ins spare reading its words 8000 times.
    stand_ins = tuple(
        Mystery(id=row.id, text="1" if row.hole is False else "unknown") for row in card.mysteries
    )
    settled = card.ledger.model_copy(update={"mysteries": stand_ins})
    return (
        () if isinstance(card.lpi, Unscored) else cheapest_fixes(settled, card.policy, trials=MAX_FIX_TRIALS)
    )
