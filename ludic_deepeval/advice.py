"""The cheapest changes that would clear the gate, found by trying them on the real scoring function.

A change is something a writer can do: one more goal, a hook made urgent, a tie left unresolved, an event moved closer.
LPI and PCV share no term, so the smallest set for the gate is a smallest set for each, put together.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations_with_replacement, islice, product
from typing import Final, Literal, TypeAlias

from ludic_deepeval.advice_changes import STRONG, Change, applied
from ludic_deepeval.ledger import Event, FactLedger
from ludic_deepeval.outcome import Unscored
from ludic_deepeval.policy import Policy
from ludic_deepeval.scoring import ScoreCard, decimal, score_ledger
from ludic_deepeval.wording import ChangeKind, worded

MAX_CHANGES: Final = 8
MAX_FIXES: Final = 5
_Raise: TypeAlias = Literal["raise-immediacy", "raise-gravity"]
_SLIGHT: Final = 4  # an event weaker than this would be padding


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
        after = score_ledger(applied(ledger, changes), policy, names=names)
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
        return score_ledger(applied(self.ledger, changes), self.policy, names=self.names)


def apply_fix(ledger: FactLedger, fix: Fix) -> FactLedger:
    """Return the ledger as it would be with every change of a fix made."""
    return FactLedger.model_validate(applied(ledger, fix.changes).model_dump())


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
    return [*_people_and_goals(ledger, policy), *_hooks(ledger, policy), *_mysteries(ledger, policy, names)]


def _people_and_goals(ledger: FactLedger, policy: Policy) -> Iterator[list[Change]]:
    words = policy.words
    yield [
        Change("reopen-tie", npc.id, worded(words["reopen-tie"], name=npc.name))
        for npc in ledger.npcs
        if not npc.unresolved and npc.status != "dead"
    ] + [Change("add-person", f"new-person-{n + 1}", words["add-person"]) for n in range(policy.active_cap)]
    have = len(ledger.goals)
    yield [
        Change("pursue-goal", goal.id, worded(words["pursue-goal"], name=goal.text))
        for goal in ledger.goals
        if not goal.proactive
    ] + [
        Change("add-goal", f"new-goal-{n + 1}", worded(words["add-goal"], ordinal=_ordinal(have + n + 1)))
        for n in range(policy.goal_cap)
    ]


def _hooks(ledger: FactLedger, policy: Policy) -> Iterator[list[Change]]:
    words = policy.words
    yield [
        Change("make-urgent", hook.id, worded(words["make-urgent"], name=hook.text))
        for hook in sorted(ledger.hooks, key=lambda hook: -hook.tier)
        if hook.open and hook.tier > 1
    ]
    yield [
        Change("reopen-hook", hook.id, worded(words["reopen-hook"], name=hook.text))
        for hook in sorted(ledger.hooks, key=lambda hook: hook.tier)
        if not hook.open
    ]
    yield [Change("add-hook", f"new-hook-{n + 1}", words["add-hook"]) for n in range(MAX_CHANGES)]


def _mysteries(ledger: FactLedger, policy: Policy, names: tuple[str, ...]) -> Iterator[list[Change]]:
    words = policy.words
    rows = score_ledger(ledger, policy, names=names).mysteries
    yield [
        Change("blur-mystery", row.id, worded(words["blur-mystery"], name=row.id))
        for row in rows
        if row.hole is False
    ] + [Change("add-mystery", f"new-mystery-{n + 1}", words["add-mystery"]) for n in range(policy.hole_peak)]
    holes = [row for row in rows if row.hole]
    yield [
        Change("answer-mystery", row.id, worded(words["answer-mystery"], name=row.id))
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
            _raise("raise-immediacy", event, STRONG, policy),
            *(_raise("raise-gravity", event, value, policy) for value in _band_tops(policy)),
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
                changes = (*raised, *(_new_event(n, value, policy) for n, value in enumerate(values)))
                if reached(changes):
                    found.append(changes)
        if found:
            modest = dict.fromkeys(_modest(changes, reached, trial) for changes in found[: 4 * MAX_FIXES])
            yield from sorted(modest, key=_weight)[:MAX_FIXES]
            return


def _band_tops(policy: Policy) -> list[int]:
    """The strongest gravity of each band, strongest first: where a band is full, the one below may bring more."""
    return [
        value
        for value in range(STRONG, 0, -1)
        if value == STRONG or (value + 1) // policy.band_width != value // policy.band_width
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


def _modest(
    changes: tuple[Change, ...], reached: Callable[[tuple[Change, ...]], bool], trial: _Trials
) -> tuple[Change, ...]:
    """Ask for no higher number than is needed, the first change last.

    From the lowest upwards: a higher gravity can fall into a fuller band and count less, so that what misses lies
    between what reaches.
    """
    for index in reversed(range(len(changes))):
        for value in range(1, changes[index].value or 1):
            weaker = _with_value(changes[index], value, trial)
            if weaker is None:
                continue
            tried = (*changes[:index], weaker, *changes[index + 1 :])
            if reached(tried):
                changes = tried
                break
    return changes


def _raise(kind: _Raise, event: Event, value: int, policy: Policy) -> Change | None:
    now = event.immediacy if kind == "raise-immediacy" else event.gravity
    if now is None or value <= now:
        return None
    return Change(kind, event.id, worded(policy.words[kind], name=event.summary, now=now, value=value), value)


def _new_event(n: int, value: int, policy: Policy) -> Change:
    return Change("add-event", f"new-event-{n + 1}", worded(policy.words["add-event"], value=value), value)


def _with_value(change: Change, value: int, trial: _Trials) -> Change | None:
    """The same change with a lower number; None when it would change nothing."""
    if change.kind == "raise-immediacy" or change.kind == "raise-gravity":  # noqa: PLR1714  # mypy narrows this form
        event = next(event for event in trial.ledger.events if event.id == change.target)
        return _raise(change.kind, event, value, trial.policy)
    if value < _SLIGHT:
        return None
    return _new_event(int(change.target.rpartition("-")[2]) - 1, value, trial.policy)
