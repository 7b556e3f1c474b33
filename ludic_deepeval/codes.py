"""The code of every finding, and how much it weighs unless a policy says otherwise. `ludic explain` has the rest."""

from typing import Final, Literal, NamedTuple, TypeAlias

Severity: TypeAlias = Literal["error", "warning", "note"]
SEVERITIES: Final[tuple[Severity, ...]] = ("error", "warning", "note")


class Code(NamedTuple):
    """One kind of finding.

    Attributes:
        severity: How much it weighs by default; an error fails a check.
        what: What is the matter, in half a line.
    """

    severity: Severity
    what: str


CODES: Final = {
    "dead-then-active": Code("error", "somebody dies and is alive or acting later"),
    "injury-vanished": Code("error", "a permanent injury is gone"),
    "age-fell": Code("error", "a stated age is lower than an earlier one"),
    "item-not-held": Code("error", "a thing is used or lost while not held"),
    "skill-not-had": Code("error", "a skill is used or lost while not had"),
    "against-log": Code("error", "the prose contradicts the background log"),
    "lore-violation": Code("error", "a law of the Story Bible is broken in the open"),
    "retired-lore": Code("error", "the prose counts on something that the Story Bible has ended"),
    "contradicted-lore": Code("error", "the prose contradicts the Story Bible"),
    "expectation": Code("error", "the story is not what its front matter expects"),
    "unused-mark": Code("error", "something is marked intentional that was not found"),
    "few-hooks": Code("warning", "too little is left open: LPI is below the gate"),
    "flat-events": Code("warning", "too little presses: PCV is below the gate"),
    "no-goal": Code("warning", "the protagonist pursues nothing"),
    "few-people": Code("warning", "fewer than three people have unfinished business with the protagonist"),
    "no-urgent-hook": Code("warning", "no open thread could drive the next scene"),
    "no-mystery": Code("warning", "nothing is left unexplained"),
    "too-many-mysteries": Code("warning", "more than three things are left unexplained"),
    "told-mystery": Code("warning", "a mystery names so much that it is an explanation"),
    "same-weight": Code("warning", "an event counts half, since two of its gravity are stronger"),
    "unknown-place": Code(
        "warning",
        "a practice in a place that the Story Bible does not have, so that no law can be looked up",
    ),
    "unlocked-sheet": Code("warning", "the mark sheet has changed since it was locked"),
    "unread": Code("warning", "no ledger lies beside the story"),
    "stale": Code("warning", "the prose has changed since it was read"),
    "new-paragraph": Code("warning", "a paragraph that nobody has read"),
    "no-quote": Code("warning", "an item that rests on no words of the prose"),
    "unscored": Code("warning", "something could not be measured"),
    "card-disagrees": Code("warning", "two cards in one image are not the same, or one cannot be used"),
    "fields-read": Code("note", "which fields of a card or a sheet were read, and which were not"),
    "bare-linkage": Code("note", "an event claims ties to the world that the Story Bible does not show"),
}
# What an item of `fail-on` makes an error; a code stands for itself.
GROUPS: Final = {
    "gate": frozenset({"few-hooks", "flat-events"}),
    "mysteries": frozenset({"told-mystery"}),
    "warnings": frozenset(code for code, (severity, _) in CODES.items() if severity == "warning"),
}
# Found only where the prose is held against a version of a bible: `ludic check --bible`.
LORE_CODES: Final = frozenset({"retired-lore", "contradicted-lore"})
# How the reading stands and not what it says: nobody can mean it, and no team can have learnt to live with it.
NEVER_MEANT: Final = frozenset(
    {
        "expectation",
        "unused-mark",
        "stale",
        "new-paragraph",
        "unlocked-sheet",
        "unscored",
        "unread",
        "no-quote",
        "card-disagrees",
        "fields-read",
    }
)
