"""The cheapest changes that would clear the gate, found by trying them on the real scoring function.

A change is something a writer can do: one more goal, a hook made urgent, a tie left unresolved, an event moved closer.
LPI and PCV share no term, so the smallest set for the gate is a smallest set for each, put together.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations_with_replacement, islice, product
from typing import Any, Final, Literal, TypeAlias

from ludic_deepeval.ledger import Event, FactLedger, Goal, Hook, Mystery, Npc
from ludic_deepeval.outcome import Unscored
from ludic_deepeval.policy import Policy
from ludic_deepeval.scoring import ScoreCard, decimal, score_ledger

ChangeKind: TypeAlias = Literal[
    "add-goal", "pursue-goal", "add-person", "reopen-tie", "add-hook", "make-urgent", "reopen-hook",
    "add-mystery", "blur-mystery", "answer-mystery", "raise-immediacy", "raise-gravity", "add-event",
]  # fmt: skip

MAX_CHANGES: Final = 8
MAX_FIXES: Final = 5
_STRONG: Final = 9  # "at the door tonight": the most that advice asks of an event
_SLIGHT: Final = 4  # an event weaker than this would be padding


@dataclass(frozen=True, slots=True)
class Change:
    """One thing to do.

    Attributes:
        kind: What kind of change.
        target: The id of the item to change; of the item to add, for additions.
        text: What to do, for people.
        value: The new immediacy or gravity, where that is what changes.
    """

    kind: ChangeKind
    target: str
    text: str
    value: int | None = None


@dataclass(frozen=True, slots=True)
class Fix:
    """A smallest set of changes that clears the gate, and the scores that it gives.

    Attributes:
        changes: What to do, all of it.
        before: The score card as it is.
        after: The score card of `apply_fix(ledger, fix)`.
    """

    changes: tuple[Change, ...]
    before: ScoreCard
    after: ScoreCard

    @property
    def todo(self) -> tuple[str, ...]:
        """What to do, one entry for each different thing: "2 × one more urgent thread"."""
        times: dict[str, int] = {}
        for change in self.changes:
            times[change.text] = times.get(change.text, 0) + 1
        return tuple(f"{count} × {text}" if count > 1 else text for text, count in times.items())

    @property
    def effect(self) -> str:
        """What moves: "LPI 0.66 → 0.74"."""
        policy = self.before.policy
        pairs = (
            ("LPI", self.before.lpi, self.after.lpi, policy.lpi_gate, 2),
            ("PCV", self.before.pcv, self.after.pcv, policy.pcv_threshold, 0),
        )
        return ", ".join(
            f"{name} {decimal(old, threshold, places=places)} → {decimal(new, threshold, places=places)}"
            for name, old, new, threshold, places in pairs
            if isinstance(old, Fraction) and isinstance(new, Fraction) and old != new
        )

    def __str__(self) -> str:
        """One line: "a fourth goal: LPI 0.66 → 0.74"."""
        return f"{'; '.join(self.todo)}: {self.effect}"


def cheapest_fixes(
    ledger: FactLedger,
    policy: Policy | None = None,
    *,
    names: tuple[str, ...] = (),
    trials: int | None = None,
) -> tuple[Fix, ...]:
    """Find the smallest sets of changes that clear the gate.

    Args:
        ledger: The ledger as it is.
        policy: Weights and thresholds.
        names: Known names from a Story Bible, as for `score_ledger`.
        trials: How many sets to score at most before giving up; None for as many as it takes, which grows with the
            square of the number of events.

    Returns:
        At most five fixes of the same, smallest size, the least exaggerated first; empty when the gate is passed
        already, cannot be measured, or is out of reach of `MAX_CHANGES` changes to either score, or of `trials`. Applying a fix with
        `apply_fix` gives exactly the score that it promises.
    """
    policy = policy or Policy()
    before = score_ledger(ledger, policy, names=names)
    if isinstance(before.lpi, Unscored) or isinstance(before.pcv, Unscored):
        return ()
    trial = _Trials(ledger, policy, names, trials)
    try:
        lpi_sets = list(_lpi_sets(trial)) if before.lpi < policy.lpi_threshold else [()]
        pcv_sets = list(_pcv_sets(trial)) if before.pcv < policy.pcv_threshold else [()]
    except _OutOfTrials:
        return ()
    if (lpi_sets, pcv_sets) == ([()], [()]):
        return ()
    fixes = []
    for first, second in islice(product(lpi_sets, pcv_sets), MAX_FIXES * MAX_FIXES):
        changes = (*first, *second)
        after = score_ledger(_applied(ledger, changes), policy, names=names)
        fixes.append(Fix(changes, before, after))
    return tuple(_varied(fixes))


class _OutOfTrials(Exception):  # noqa: N818  # no error: the search ends here
    """The search has scored as many sets as it may."""


@dataclass(slots=True)
class _Trials:
    """Scores a ledger with changes made, as often as it may (None: always)."""

    ledger: FactLedger
    policy: Policy
    names: tuple[str, ...]
    left: int | None

    def __call__(self, changes: tuple[Change, ...]) -> ScoreCard:
        if self.left is not None:
            if self.left <= 0:
                raise _OutOfTrials
            self.left -= 1
        return score_ledger(_applied(self.ledger, changes), self.policy, names=self.names)


def apply_fix(ledger: FactLedger, fix: Fix) -> FactLedger:
    """Return the ledger as it would be with every change of a fix made."""
    return FactLedger.model_validate(_applied(ledger, fix.changes).model_dump())


def _varied(fixes: list[Fix]) -> list[Fix]:
    """Keep few: first one that begins with each different change."""
    seen: set[tuple[ChangeKind, str]] = set()
    first: list[Fix] = []
    rest: list[Fix] = []
    for fix in fixes:
        key = (fix.changes[0].kind, fix.changes[-1].kind)
        (rest if key in seen else first).append(fix)
        seen.add(key)
    return (first + rest)[:MAX_FIXES]


# LPI


def _lpi_sets(trial: _Trials) -> Iterator[tuple[Change, ...]]:
    """Yield up to MAX_FIXES change sets of the smallest size that reaches the LPI gate."""
    policy = trial.policy
    options = [kind for kind in _lpi_options(trial.ledger, policy, trial.names) if kind]
    for size in range(1, MAX_CHANGES + 1):
        found: list[tuple[Fraction, tuple[Change, ...]]] = []
        for combination in combinations_with_replacement(range(len(options)), size):
            if any(combination.count(kind) > len(options[kind]) for kind in set(combination)):
                continue
            changes = tuple(
                options[kind][n]
                for kind in dict.fromkeys(combination)
                for n in range(combination.count(kind))
            )
            lpi = trial(changes).lpi
            if isinstance(lpi, Fraction) and lpi >= policy.lpi_threshold:
                found.append((lpi, changes))
        if found:
            yield from (changes for _, changes in sorted(found, key=lambda pair: -pair[0])[:MAX_FIXES])
            return


def _lpi_options(ledger: FactLedger, policy: Policy, names: tuple[str, ...]) -> list[list[Change]]:
    """List what can be done, each kind in the order in which it should be advised.

    Editing what is there and adding the like of it score the same, so they are one kind: the edit is asked for while
    there is one.
    """
    return [*_people_and_goals(ledger, policy), *_hooks(ledger), *_mysteries(ledger, policy, names)]


def _people_and_goals(ledger: FactLedger, policy: Policy) -> Iterator[list[Change]]:
    yield [
        Change("reopen-tie", npc.id, f"leave something unresolved with {npc.name}")
        for npc in ledger.npcs
        if not npc.unresolved and npc.status != "dead"
    ] + [
        Change("add-person", f"new-person-{n + 1}", "one more living person with unfinished business")
        for n in range(policy.active_cap)
    ]
    have = len(ledger.goals)
    yield [
        Change("pursue-goal", goal.id, f"have the goal '{goal.text}' pursued now")
        for goal in ledger.goals
        if not goal.proactive
    ] + [
        Change("add-goal", f"new-goal-{n + 1}", f"a {_ordinal(have + n + 1)} goal")
        for n in range(policy.goal_cap)
    ]


def _hooks(ledger: FactLedger) -> Iterator[list[Change]]:
    yield [
        Change("make-urgent", hook.id, f"make the hook '{hook.text}' urgent")
        for hook in sorted(ledger.hooks, key=lambda hook: -hook.tier)
        if hook.open and hook.tier > 1
    ]
    yield [
        Change("reopen-hook", hook.id, f"leave the thread '{hook.text}' open")
        for hook in sorted(ledger.hooks, key=lambda hook: hook.tier)
        if not hook.open
    ]
    yield [Change("add-hook", f"new-hook-{n + 1}", "one more urgent thread") for n in range(MAX_CHANGES)]


def _mysteries(ledger: FactLedger, policy: Policy, names: tuple[str, ...]) -> Iterator[list[Change]]:
    rows = score_ledger(ledger, policy, names=names).mysteries
    yield [
        Change("blur-mystery", row.id, f"name less in the mystery '{row.id}'")
        for row in rows
        if row.hole is False
    ] + [
        Change("add-mystery", f"new-mystery-{n + 1}", "one more thing left unexplained")
        for n in range(policy.hole_peak)
    ]
    holes = [row for row in rows if row.hole]
    yield [
        Change("answer-mystery", row.id, f"explain the mystery '{row.id}'")
        for row in holes[policy.hole_peak :]
    ]


def _ordinal(number: int) -> str:
    words = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
    return words[number - 1] if number <= len(words) else "further"


# PCV


def _pcv_sets(trial: _Trials) -> Iterator[tuple[Change, ...]]:
    """Yield up to MAX_FIXES change sets of the smallest size that reaches the PCV gate."""
    policy = trial.policy

    def reached(changes: tuple[Change, ...]) -> bool:
        pcv = trial(changes).pcv
        return isinstance(pcv, Fraction) and pcv >= policy.pcv_threshold

    options: list[Change] = [
        change
        for event in trial.ledger.events
        for change in (
            _raise("raise-immediacy", event, _STRONG),
            *(_raise("raise-gravity", event, value) for value in _band_tops(policy)),
        )
        if change is not None
    ]
    strengths = [value for value in _band_tops(policy) if value >= _SLIGHT]
    for size in range(1, MAX_CHANGES + 1):
        found = []
        for added in range(size + 1):
            for raised, values in product(
                _subsets(options, size - added), combinations_with_replacement(strengths, added)
            ):
                changes = (*raised, *(_new_event(n, value) for n, value in enumerate(values)))
                if reached(changes):
                    found.append(changes)
        if found:
            modest = dict.fromkeys(_modest(changes, reached) for changes in found[: 4 * MAX_FIXES])
            yield from sorted(modest, key=_weight)[:MAX_FIXES]
            return


def _band_tops(policy: Policy) -> list[int]:
    """The strongest gravity of each band, strongest first: where a band is full, the one below may bring more."""
    return [
        value
        for value in range(_STRONG, 0, -1)
        if value == _STRONG or (value + 1) // policy.band_width != value // policy.band_width
    ]


def _weight(changes: tuple[Change, ...]) -> tuple[int, int]:
    """Changing what is there comes before writing more, and the lower numbers before the higher."""
    return sum(change.kind == "add-event" for change in changes), sum(change.value or 0 for change in changes)


def _subsets(options: list[Change], size: int) -> Iterator[tuple[Change, ...]]:
    if size > 2:  # three events moved is a rewrite; from there on advise new ones
        return
    if size == 0:
        yield ()
    elif size == 1:
        yield from ((option,) for option in options)
    else:
        yield from ((a, b) for at, a in enumerate(options) for b in options[at + 1 :])


def _modest(changes: tuple[Change, ...], reached: Callable[[tuple[Change, ...]], bool]) -> tuple[Change, ...]:
    """Ask for no higher number than is needed, the first change last.

    From the lowest upwards: a higher gravity can fall into a fuller band and count less, so that what misses lies
    between what reaches.
    """
    for index in reversed(range(len(changes))):
        for value in range(1, changes[index].value or 1):
            weaker = _with_value(changes[index], value)
            trial = changes if weaker is None else (*changes[:index], weaker, *changes[index + 1 :])
            if weaker is not None and reached(trial):
                changes = trial
                break
    return changes


def _raise(kind: Literal["raise-immediacy", "raise-gravity"], event: Event, value: int) -> Change | None:
    now = event.immediacy if kind == "raise-immediacy" else event.gravity
    if now is None or value <= now:
        return None
    what = "more pressing (immediacy" if kind == "raise-immediacy" else "graver (gravity"
    return Change(kind, event.id, f"make '{event.summary}' {what} {now} → {value})", value)


def _new_event(n: int, value: int) -> Change:
    text = f"one more event that presses (immediacy and gravity {value}, linkage and divergence 5)"
    return Change("add-event", f"new-event-{n + 1}", text, value)


def _with_value(change: Change, value: int) -> Change | None:
    """The same change with a lower number; None when it would change nothing."""
    if change.kind == "add-event":
        if value < _SLIGHT:
            return None
        return _new_event(int(change.target.rpartition("-")[2]) - 1, value)
    head, _, tail = change.text.rpartition(" → ")
    now = int(head.rpartition(" ")[2])
    return Change(change.kind, change.target, f"{head} → {value})", value) if value > now and tail else None


# Applying


def _applied(ledger: FactLedger, changes: tuple[Change, ...]) -> FactLedger:
    """The ledger with the changes made; nothing here can make a valid ledger invalid."""
    lists: dict[str, list[Any]] = {name: list(getattr(ledger, name)) for name in FactLedger.LISTS}
    for change in changes:
        name, key, update = _edit(change)
        if isinstance(update, dict):
            lists[name] = [item.model_copy(update=update) if item.id == key else item for item in lists[name]]
        elif update is None:
            lists[name] = [item for item in lists[name] if item.id != key]
        else:
            lists[name].append(update.model_copy(update={"id": _free_id(key, lists[name])}))
    return ledger.model_copy(update={name: tuple(items) for name, items in lists.items()})


def _free_id(wanted: str, items: list[Any]) -> str:
    taken = {item.id for item in items}
    while wanted in taken:
        wanted += "-"
    return wanted


def _edit(change: Change) -> tuple[str, str, dict[str, Any] | Npc | Goal | Hook | Mystery | Event | None]:  # noqa: C901, PLR0911, PLR0912  # a table
    """Return the list, the id, and what to do there: fields to set, an item to add, or None to drop."""
    key = change.target
    match change.kind:
        case "reopen-tie":
            return "npcs", key, {"unresolved": True}
        case "add-person":
            return "npcs", key, Npc(id=key, name="(a new person)", status="alive", unresolved=True)
        case "pursue-goal":
            return "goals", key, {"proactive": True}
        case "add-goal":
            return "goals", key, Goal(id=key, text="(a new goal)", proactive=True)
        case "make-urgent":
            return "hooks", key, {"tier": 1}
        case "reopen-hook":
            return "hooks", key, {"open": True}
        case "add-hook":
            return "hooks", key, Hook(id=key, text="(a new hook)", tier=1, open=True)
        case "blur-mystery":
            return "mysteries", key, {"text": "somebody did something, for a reason that nobody will say"}
        case "add-mystery":
            return (
                "mysteries",
                key,
                Mystery(id=key, text="somebody did something, for a reason that nobody will say"),
            )
        case "answer-mystery":
            return "mysteries", key, None
        case "raise-immediacy":
            return "events", key, {"immediacy": change.value}
        case "raise-gravity":
            return "events", key, {"gravity": change.value}
        case "add-event":
            value = change.value or _STRONG
            event = Event(
                id=key,
                phase="P3",
                summary="(a new event)",
                immediacy=value,
                gravity=value,
                linkage=5,
                divergence=5,
            )
            return "events", key, event
