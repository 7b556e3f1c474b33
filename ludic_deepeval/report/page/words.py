"""What the page calls things: a writer's words, with the letter and the class that go with each."""

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple, get_args

from ludic_deepeval.check import StoryResult
from ludic_deepeval.faults import FaultCode
from ludic_deepeval.findings import Finding
from ludic_deepeval.outcome import Scored, Unscored
from ludic_deepeval.report.as_text import counted
from ludic_deepeval.scoring import Quadrant
from ludic_deepeval.wording import WORDS


class Kind(NamedTuple):
    """A kind of thing that is marked in the prose.

    Attributes:
        letter: What stands before its words; in lower case its class and the beginning of its keys.
        one: What one is called.
        many: What several are called.
    """

    letter: str
    one: str
    many: str

    @property
    def css(self) -> str:
        """Its class."""
        return self.letter.lower()


KINDS: Final[dict[str, Kind]] = {
    "npcs": Kind("P", "person", "people"),
    "hooks": Kind("H", "hook", "hooks"),
    "goals": Kind("G", "goal", "goals"),
    "mysteries": Kind("M", "mystery", "mysteries"),
    "events": Kind("E", "event", "events"),
}
TIERS: Final = {1: "urgent", 2: "wants exploring", 3: "in the background"}


class Verdict(NamedTuple):
    """How a story stands.

    Attributes:
        css: The class of its badge.
        name: In a few words.
        meaning: In a sentence; empty when the story's own reason says it.
    """

    css: str
    name: str
    meaning: str


QUADRANTS: Final[dict[Quadrant, Verdict]] = {
    "campaign-ready": Verdict(
        "ready", "ready to play", "Plenty is open, and enough presses on the next session."
    ),
    "rich-lore-flat-play": Verdict(
        "flat", "rich lore, flat play", "Plenty is open; too little presses on the next session."
    ),
    "explosive-but-shallow": Verdict(
        "shallow", "explosive but shallow", "It starts with a bang; too little is left open after it."
    ),
    "unplayable-draft": Verdict(
        "draft", "not playable yet", "Too little is open, and too little presses on the next session."
    ),
}
NO_VERDICT: Final = Verdict("none", "no verdict", "")
UNREAD: Final = Verdict("none", "not read yet", "")
STALE: Final = Verdict("none", "changed since it was read", "")
VERDICTS: Final = (*QUADRANTS.values(), NO_VERDICT, UNREAD, STALE)

CONTRADICTIONS: Final = frozenset(get_args(FaultCode))
SEVERITY: Final = {"error": "to mend", "warning": "to look at", "note": "good to know"}
STATUS: Final = {"intentional": "meant", "expected": "expected", "known": "known"}


def verdict_of(story: StoryResult) -> Verdict:
    """Return how a story stands."""
    if story.state == "unread":
        return STALE if any(finding.code == "stale" for finding in story.findings) else UNREAD
    if isinstance(story.outcome, Scored):
        card = story.outcome.value.card
        if not isinstance(card.quadrant, Unscored):
            return _in_its_genre(QUADRANTS[card.quadrant], f"verdict-{card.quadrant}", card.policy.words)
    return NO_VERDICT


def _in_its_genre(verdict: Verdict, key: str, words: Mapping[str, str]) -> Verdict:
    if words[key] == WORDS[key]:
        return verdict
    name, _, meaning = words[key].partition(": ")
    return Verdict(verdict.css, name, f"{meaning[:1].upper()}{meaning[1:]}." if meaning else verdict.meaning)


def told(story: StoryResult) -> tuple[Finding, ...]:
    """Return the findings but for the one that only says why there is no verdict, which the page says first."""
    return tuple(finding for finding in story.findings if finding.code not in {"unread", "stale", "unscored"})


def is_open(finding: Finding) -> bool:
    """Whether a finding asks for something: nobody has said that it is meant, expected or known."""
    return finding.status == "open"


def contradictions(findings: Iterable[Finding]) -> int:
    """Count the contradictions that ask for something."""
    return sum(is_open(finding) and finding.code in CONTRADICTIONS for finding in findings)


def message_of(finding: Finding) -> str:
    """Return the message without the ending that says its status, which the page says apart."""
    ending = f" ({finding.status}"
    return (
        finding.message.rpartition(ending)[0] or finding.message if not is_open(finding) else finding.message
    )


def clashes_of(story: StoryResult) -> str:
    """Say how many contradictions ask for something: "1 contradiction"; nothing when there are none."""
    count = contradictions(told(story))
    return counted(count, "contradiction", "contradictions") if count else ""


def summary(story: StoryResult) -> list[str]:
    """Say in a few words what there is besides contradictions: "2 to look at", "1 meant or expected"."""
    findings = told(story)
    asking = [finding for finding in findings if is_open(finding) and finding.code not in CONTRADICTIONS]
    errors = sum(finding.severity == "error" for finding in asking)
    warnings = sum(finding.severity == "warning" for finding in asking)
    settled = sum(not is_open(finding) for finding in findings)
    parts = [
        (errors, f"{errors} to mend"),
        (warnings, f"{warnings} to look at"),
        (settled, f"{settled} meant or expected"),
    ]
    return [words for number, words in parts if number]


def wants_work(story: StoryResult) -> bool:
    """Whether there is something to do: not read, not scored, or an open error or warning."""
    return story.state != "read" or any(
        is_open(finding) and finding.severity != "note" for finding in story.findings
    )
