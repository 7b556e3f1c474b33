"""The Stress-Tester and the reuse judge (LudicMetrics §4.4): what would a game master have to invent for session 1?

The tester plans a session from the prose alone, once for each of three fixed player seeds. Another model then labels every
person and thread of the plans as reused from the ledger, invented, or ambiguous. It sees ids, names and texts of the ledger,
never tiers, dimensions or scores. An answer that cannot be used is asked for once more; if that cannot be used either, the
trial is unscored, since a label that nobody gave would be a guess.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeVar

from ludic_deepeval.errors import InputError, ModelError, clean
from ludic_deepeval.genre_prompts import prompt_for
from ludic_deepeval.ledger import FactLedger
from ludic_deepeval.llm.budget import Meter, Preview, preview, read_at_most
from ludic_deepeval.llm.client import ChatModel, Completion, Request, unscored
from ludic_deepeval.outcome import Unscored
from ludic_deepeval.policy import Policy
from ludic_deepeval.prompts import Prompt, load_prompt
from ludic_deepeval.session import (
    MOST,
    Asked,
    Emitted,
    Known,
    Outline,
    Seed,
    Session,
    Told,
    Versioned,
    Why,
    known_items,
    load_seeds,
)
from ludic_deepeval.stress_answers import (
    OUTLINE,
    UnusableError,
    emitted_lines,
    json_lines,
    labels_schema,
    read_labels,
    read_outline,
)
from ludic_deepeval.text import Prose

ANSWER: Final = 6_000  # tokens: an outline or a list of labels is some 600; thinking models think before it
_USELESS: Final = frozenset({"malformed", "empty", "truncated"})  # answers that may be better the second time
_ENDS_ALL: Final = frozenset({"budget", "unrecorded"})

T = TypeVar("T")


@dataclass(frozen=True)
class Settings:
    """How tester and judge are asked.

    Attributes:
        temperature: None takes the server's own.
        seed: The model's seed; None takes none. It is not the player's.
        max_tokens: The longest answer, thinking included.
    """

    temperature: float | None = 0.0
    seed: int | None = 0
    max_tokens: int = ANSWER

    def for_repetition(self, repetition: int) -> "Settings":
        """The same with the next seed for each further repetition: the same seed may give the same answer again."""
        return self if self.seed is None else replace(self, seed=self.seed + repetition - 1)


def require_two(tester: ChatModel, judge: ChatModel, *, same_model: bool) -> None:
    """Refuse that one model labels its own plan, unless that is meant.

    Raises:
        InputError: Both are one model.
    """
    if not same_model and _is_same(tester, judge):
        raise InputError(
            "--judge",
            f"{judge.name} would label what it planned itself",
            allowed="another model than --tester",
            hint="or --same-model, if that is meant",
        )


def _is_same(tester: ChatModel, judge: ChatModel) -> bool:
    one, two = tester.producer, judge.producer
    return tester.name == judge.name or (one.kind, one.model) == (two.kind, two.model)


async def stress(  # noqa: PLR0913  # what is tested, by whom, and how
    story: str,
    prose: Prose,
    ledger: FactLedger,
    tester: ChatModel,
    judge: ChatModel,
    settings: Settings | None = None,
    *,
    meter: Meter | None = None,
    repetition: int = 1,
    same_model: bool = False,
    policy: Policy | None = None,
) -> Session:
    """Plan three sessions from a story, and label what is in them.

    Args:
        story: Its id.
        prose: What the tester reads, and all that it reads.
        ledger: What the judge sees, but for its numbers.
        tester: Who plans.
        judge: Who labels.
        settings: How they are asked.
        meter: What may be spent, for both together.
        repetition: Which of several trials this is, from 1; each is recorded apart, and asked with the next seed.
        same_model: Let one model do both.
        policy: Whose genre says what kind of session it is; None for the campaign's.

    Returns:
        The session. It is unscored (`session.unscored`) when an answer could not be used at the second asking either:
        `outlines` for the tester's, `labels` for the judge's; or `model` when a model refused or a server failed.

    Raises:
        InputError: Tester and judge are one model.
        ModelError: Nothing can be asked at all: no server, no such model, no key, no budget left, no recording.
    """
    require_two(tester, judge, same_model=same_model)
    known = known_items(ledger)
    trial = _Trial((settings or Settings()).for_repetition(repetition), meter, repetition)
    planning, judging = _Role(tester, prompt_for("stress", policy)), _Role(judge, load_prompt("reuse"))
    seeds = load_seeds()
    plans: list[Outline] = []
    labels: list[tuple[Told, ...]] = []
    why: Unscored | None = None
    try:
        plans = await _together([trial.plan(planning, prose, seed) for seed in seeds.seeds])
        labels = await _together([trial.judge(judging, known, plan.emitted) for plan in plans])
    except UnusableError as error:
        why = Unscored("labels" if plans else "outlines", str(error))
    except ModelError as error:
        if error.for_all or error.kind in _ENDS_ALL:
            raise
        why = unscored(error)
    return Session(
        schema_version=1,
        story=story,
        source_sha256=prose.sha256,
        repetition=repetition,
        options={"temperature": trial.settings.temperature, "seed": trial.settings.seed},
        tester=planning.asked,
        judge=judging.asked,
        same_model=_is_same(tester, judge),
        seeds=Versioned(version=seeds.version, sha256=seeds.sha256),
        prompts={"stress": planning.version, "reuse": judging.version},
        known=known,
        outlines=tuple(plans),
        labels=tuple(labels),
        unscored=None if why is None else Why(cause=why.cause, reason=clean(why.reason, limit=1000)),
    )


async def label(
    emitted: Sequence[Emitted],
    known: Sequence[Known],
    judge: ChatModel,
    settings: Settings | None = None,
    *,
    meter: Meter | None = None,
    repetition: int = 1,
) -> tuple[Told, ...] | Unscored:
    """Have a reuse judge label people and threads against what a ledger holds, in one call.

    Returns:
        A label for each, or `Unscored("labels")` when no answer could be used.

    Raises:
        ModelError: The judge gave no answer.
    """
    trial = _Trial((settings or Settings()).for_repetition(repetition), meter, repetition)
    try:
        return await trial.judge(_Role(judge, load_prompt("reuse")), known, emitted)
    except UnusableError as error:
        return Unscored("labels", str(error))


async def _together(asked: Sequence[Any]) -> list[Any]:
    """Await all, also when one fails, so that nothing is still being asked when the trial has ended."""
    found = await asyncio.gather(*asked, return_exceptions=True)
    failed = [one for one in found if isinstance(one, BaseException)]
    # What ends the whole run comes before what ends this trial.
    failed.sort(key=lambda error: not (isinstance(error, ModelError) and error.kind == "budget"))
    if failed:
        raise failed[0]
    return found


@dataclass
class _Role:
    """A model in one of the two roles, and what its answers took."""

    model: ChatModel
    prompt: Prompt
    calls: int = 0
    read: int = 0
    written: int = 0
    again: int = 0
    ignored: set[str] = field(default_factory=set)

    def count(self, request: Request, completion: Completion) -> None:
        read, written = completion.prompt_tokens, completion.completion_tokens
        self.calls += completion.requests
        self.read += read_at_most(request) if read is None else read
        self.written += written or 0
        self.ignored.update(completion.ignored)

    @property
    def version(self) -> Versioned:
        return Versioned(version=self.prompt.version, sha256=self.prompt.sha256)

    @property
    def asked(self) -> Asked:
        by = self.model.producer
        return Asked(
            name=self.model.name,
            kind=by.kind,
            provider=by.provider,
            model=by.model,
            client=by.client,
            calls=self.calls,
            prompt_tokens=self.read,
            completion_tokens=self.written,
            again=self.again,
            ignored=tuple(sorted(self.ignored)),
        )


@dataclass(frozen=True)
class _Trial:
    settings: Settings
    meter: Meter | None
    repetition: int

    async def plan(self, role: _Role, prose: Prose, seed: Seed) -> Outline:
        return await self._usable(
            role,
            lambda again: self.plan_request(role.prompt, prose, seed, again),
            lambda answer: read_outline(answer, seed.id),
        )

    def plan_request(self, prompt: Prompt, prose: Prose, seed: Seed, again: str = "") -> Request:
        return self._request(prompt, OUTLINE, prose=prose.body, seed=seed.text, again=again)

    async def judge(
        self, role: _Role, known: Sequence[Known], emitted: Sequence[Emitted]
    ) -> tuple[Told, ...]:
        if not emitted:
            return ()
        ids = frozenset(item.id for item in known)
        return await self._usable(
            role,
            lambda again: self.judge_request(role.prompt, known, emitted, again),
            lambda answer: read_labels(answer, len(emitted), ids),
        )

    def judge_request(
        self, prompt: Prompt, known: Sequence[Known], emitted: Sequence[Emitted], again: str = ""
    ) -> Request:
        schema = labels_schema(frozenset(item.id for item in known), len(emitted))
        shown = json_lines([item.line for item in known])
        return self._request(prompt, schema, ledger=shown, emitted=emitted_lines(emitted), again=again)

    def _request(self, prompt: Prompt, schema: Mapping[str, Any], **values: str) -> Request:
        return Request(
            prompt=prompt.render(**values),
            system=prompt.system,
            schema=schema,
            temperature=self.settings.temperature,
            seed=self.settings.seed,
            max_tokens=self.settings.max_tokens,
            repetition=self.repetition,
        )

    async def _usable(self, role: _Role, request: Callable[[str], Request], read: Callable[[Any], T]) -> T:
        """Ask, and once more where the answer cannot be used."""
        why = await self._try(role, request(""), read)
        if isinstance(why, _Useless):
            role.again += 1
            again = f"\nYour last answer could not be used: {why.reason}. Answer anew, whole.\n"
            why = await self._try(role, request(again), read)
        if isinstance(why, _Useless):
            raise UnusableError(f"{role.model.name} gave no usable answer when asked twice: {why.reason}")
        return why

    async def _try(self, role: _Role, request: Request, read: Callable[[Any], T]) -> "T | _Useless":
        try:
            completion = await role.model.ask(request, self.meter)
        except ModelError as error:
            role.calls += error.requests
            if error.kind in _USELESS:
                return _Useless(error.found)
            raise
        role.count(request, completion)
        try:
            return read(completion.json(role.model.name))
        except ModelError as error:
            return _Useless(error.found)
        except UnusableError as error:
            return _Useless(str(error))


@dataclass(frozen=True)
class _Useless:
    """Why an answer cannot be used."""

    reason: str


def preview_of(
    prose: Prose, ledger: FactLedger, settings: Settings | None = None, *, policy: Policy | None = None
) -> Preview:
    """Say what a trial would take at most if no answer has to be asked for again: six calls."""
    trial, known = _Trial(settings or Settings(), None, 1), known_items(ledger)
    planning, judging = prompt_for("stress", policy), load_prompt("reuse")
    plans = [trial.plan_request(planning, prose, seed) for seed in load_seeds().seeds]
    # An outline is at most twelve people and twelve threads, and in practice half of that.
    longest = [Emitted("npc", "x" * 40, "x" * 160)] * MOST + [Emitted("hook", "x" * 200)] * MOST
    return preview([*plans, *[trial.judge_request(judging, known, longest)] * 3])
