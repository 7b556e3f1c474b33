"""Does a line of dialogue, or a backstory, fit this version of the world (LudicMetrics §6.3)?

Every statement is held against the whole bible. One that counts on what a version has retired (a trade hub destroyed, a person
dead, a law repealed), or that contradicts a node, is a fault which names node and version. Found without a model, by
`contradiction`; what that cannot see is measured in docs/lore.md. Openness is no fault.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from ludic_deepeval.bible import Bible, open_bible
from ludic_deepeval.errors import clean
from ludic_deepeval.findings import Finding, Placer
from ludic_deepeval.ledger import FactLedger
from ludic_deepeval.policy import Policy
from ludic_deepeval.sources import Story
from trulens_feedback.contradiction import Kind, contradictions
from trulens_feedback.setting import Setting
from trulens_feedback.statements import Background, Statement, split

RETIRED: Final = "retired-lore"
CONTRADICTED: Final = "contradicted-lore"
_SHOWN: Final = 300


@dataclass(frozen=True, slots=True)
class LoreFault:
    """One statement that does not fit the world.

    Attributes:
        code: `retired-lore` or `contradicted-lore`.
        kind: What is wrong: retired, denied, swapped, number, allegiance, law.
        node: The node's id.
        version: The version that retired it, or that says otherwise.
        bible: `BIBLE@VERSION` that the text was held against.
        reason: One line: what is wrong.
        says: The bible's own words.
        statement: The sentence, with its place in the text.
    """

    code: str
    kind: Kind
    node: str
    version: str
    bible: str
    reason: str
    says: str
    statement: Statement

    @property
    def message(self) -> str:
        """One line for people: what is wrong, node, version, and what the bible says."""
        return f"{clean(self.reason, limit=_SHOWN)} ({self.node}, {self.version}); {self.bible}: “{clean(self.says, limit=_SHOWN)}”"


def lore_faults(
    text: str, bible: Bible | Setting, *, ledger: FactLedger | None = None, policy: Policy | None = None
) -> tuple[LoreFault, ...]:
    """Find every statement of a text that counts on a retired node or contradicts one.

    Args:
        text: Prose, or a line of dialogue.
        bible: The version of the world that holds.
        ledger: The story's, for its mysteries.
        policy: For the threshold of Eq 11.

    Returns:
        The faults in the order of the text.
    """
    setting = bible if isinstance(bible, Setting) else Setting(bible)
    background = Background(ledger, policy=policy)
    found = []
    for statement in split(text):
        is_open = background.opens(statement, setting)
        for one in contradictions(statement.text, setting, is_open=is_open):
            code = RETIRED if one.kind == "retired" else CONTRADICTED
            found.append(
                LoreFault(code, one.kind, one.node, one.version, setting.id, one.reason, one.says, statement)
            )
    return tuple(found)


def assert_lore(text: str, bible: Bible | Setting | str | Path, *, where: str = "") -> None:
    """Fail when a text does not fit the world: for tests of dialogue and backstories.

    Args:
        text: The line or story.
        bible: The world: a `Bible`, or what `ludic check --bible` takes, such as `bible/ember-road@v2`.
        where: What to call the text in the message.

    Raises:
        AssertionError: One line for each fault, naming statement, node and version.
        InputError: There is no such bible.
    """
    world = bible if isinstance(bible, Bible | Setting) else open_bible(str(bible))
    faults = lore_faults(text, world)
    if faults:
        head = f"{where}: " if where else ""
        raise AssertionError(
            "\n".join(f"{head}“{clean(one.statement.text, limit=160)}” {one.message}" for one in faults)
        )


class LoreCheck:
    """What `ludic check --bible` adds to the findings of every story.

    Args:
        bible: The version of the world that holds.
    """

    def __init__(self, bible: Bible) -> None:
        self.bible = bible
        self._setting = Setting(bible)

    def findings(self, story: Story, ledger: FactLedger | None, policy: Policy) -> Sequence[Finding]:
        """Return an error for each fault, on its words."""
        return tuple(self._findings(story, ledger, policy))

    def _findings(self, story: Story, ledger: FactLedger | None, policy: Policy) -> Iterator[Finding]:
        placer = Placer(story.prose, ledger)
        for fault in lore_faults(story.prose.body, self._setting, ledger=ledger, policy=policy):
            said = fault.statement
            finding = placer.over(said.start, said.end, fault.code, clean(fault.reason, limit=_SHOWN))
            yield replace(finding, against=f"{fault.bible}, {fault.node} ({fault.version}): “{fault.says}”")
