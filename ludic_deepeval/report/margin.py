"""What an editor would write in the margin: the words of a metric's reason."""

from ludic_deepeval.advice import cheapest_fixes
from ludic_deepeval.judging import Reading
from ludic_deepeval.scoring import ScoreCard


def fix_note(reading: Reading) -> str:
    """The smallest fix as a sentence to append; empty when there is none."""
    fixes = cheapest_fixes(reading.ledger, reading.card.policy, names=reading.names)
    return f" Smallest fix: {fixes[0]}." if fixes else ""


def inventory(card: ScoreCard, who: str) -> str:
    """What was found, in a writer's words."""
    counts = card.counts
    threads = sum(counts.tiers)
    return (
        f"{who} has {count(counts.active, 'person', 'people')} with unfinished business,"
        f" {count(threads, 'open thread', 'open threads')} ({counts.tiers[0]} urgent),"
        f" {count(counts.goals, 'goal', 'goals')} pursued and"
        f" {count(counts.holes or 0, 'thing', 'things')} left unexplained."
    )


def count(number: int, one: str, many: str) -> str:
    """A number with its noun; "no" for 0."""
    return f"{number or 'no'} {one if number == 1 else many}"
