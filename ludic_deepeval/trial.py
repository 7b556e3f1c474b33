"""One trial of the Architect on disk: a folder in which every draft, ledger and decision is kept.

    run.json             what was set before anything was asked; a run with other settings is refused
    draft-0.md           the draft, a story like any other
    draft-0.json         who wrote it: model, prompt, tokens, time
    draft-0.ledger.json  the Notary's reading, a lockfile like any other
    reading-0.json       what reading it took
    decision-0.json      its figures, what was decided, what the rewrite did
    result.json          how it ended, and the two failures of §5.5

Drafts, readings and lockfiles are what was asked for and paid; decisions and the result are worked out from them, the same
to the byte. A run that was broken off therefore goes on where it was.
"""

from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from ludic_deepeval.errors import InputError, ModelError, clean
from ludic_deepeval.files import dump_json, make_folder, read_bytes, write_atomic
from ludic_deepeval.ledger import Flag, Frozen, Offset, SchemaVersion, Text, load_model
from ludic_deepeval.llm.client import Completion, Kind, Producer
from ludic_deepeval.lockfile import Lockfile, Plain, Sha256, load_lockfile, verify, write_lockfile
from ludic_deepeval.prompts import Prompt
from ludic_deepeval.rewrite_failures import Cascade, Quiet
from ludic_deepeval.rewrites import Rewrite
from ludic_deepeval.sources import Story, read_story
from ludic_deepeval.text import Prose, has_pile

Arm: TypeAlias = Literal["architect", "control"]
World: TypeAlias = Literal["whole", "drawn", "none"]
Decision: TypeAlias = Literal["accept", "rewrite", "exhausted", "not-gated", "unscored"]
PLAN: Final = "run.json"
RESULT: Final = "result.json"


class PromptUsed(Frozen):
    """Which prompt: its role, version and hash."""

    role: Text
    version: int
    sha256: Sha256

    @classmethod
    def of(cls, prompt: Prompt) -> "PromptUsed":
        """Name a prompt."""
        return cls(role=prompt.role, version=prompt.version, sha256=prompt.sha256)


class Plan(Frozen):
    """All that is set before a trial begins (§4.5).

    Attributes:
        bible: Its id and version, as `faerun@v1`.
        bible_sha256: The hash of what it says.
        seed: Draws faction and place, and is the model's seed.
        arm: Which prompt the first draft is written to.
        gated: Whether a draft below the gate is rewritten.
        max_iter: The most rewrites.
        faction: The id of the faction drawn.
        location: The id of the place drawn.
        request: What is asked for beside.
        world: What the Architect is shown of the bible: the whole, the drawn nodes and the laws, or nothing but names.
        architect: Who writes, as `provider:model`.
        temperature: How it writes; None takes the server's own.
        max_tokens: The longest draft.
        notary: Who reads.
        notary_options: How it reads.
        prompts: Every prompt that may be used.
        policy: Every weight and threshold, as text.
    """

    schema_version: SchemaVersion = 1
    bible: Text
    bible_sha256: Sha256
    seed: int
    arm: Arm
    gated: Flag
    max_iter: Offset
    faction: Text
    location: Text
    request: str
    world: World = "whole"
    architect: Text
    temperature: float | None
    max_tokens: int
    notary: Text
    notary_options: Plain
    prompts: tuple[PromptUsed, ...]
    policy: dict[str, str]

    @property
    def passes(self) -> int:
        """The most drafts."""
        return 1 + self.max_iter if self.gated else 1


class Written(Frozen):
    """Who wrote a draft, and what it took.

    Attributes:
        prompt: Which prompt.
        asked_sha256: The hash of the prompt with its variables filled in.
        model: The model's name, as the server says it.
        kind: Whether a model, a script or a person gave it.
        client: The client and its version.
        text_sha256: The hash of the draft's body.
    """

    prompt: PromptUsed
    asked_sha256: Sha256
    model: str
    kind: Kind
    client: str
    text_sha256: Sha256
    prompt_tokens: int | None
    completion_tokens: int | None
    cached_tokens: int
    seconds: float
    ignored: tuple[str, ...]


class Cost(Frozen):
    """What something took in requests and tokens; nothing where it came from a recording."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0


class Read(Frozen):
    """What the Notary's reading took, and what had to be set right.

    Attributes:
        model: Who read.
        kind: Whether a model, a script or a person.
        asked_again: Items asked for a second time.
        ungrounded: Items that rest on no quote, kept apart.
        repairs: What had to be changed for the items to fit together.
        cost: Requests and tokens.
        seconds: From the first request to the last answer; None where nobody measured it.
    """

    model: Text
    kind: Kind
    asked_again: int
    ungrounded: int
    repairs: tuple[str, ...]
    cost: Cost
    seconds: float | None = None


class Decided(Frozen):
    """What was decided about a draft, and on what figures.

    Attributes:
        number: 0 for the first draft.
        decision: accept, rewrite, exhausted (below the gate, and no rewrite left), not-gated, or unscored.
        lpi: Exactly, as `251/300`; None when unscored.
        pcv: Likewise.
        figures: As in `ludic score --json`, with consistency beside them, which never decides.
        unscored: Why there are none.
        rewrite: What the rewrite did to the draft before it; None for the first.
    """

    number: Offset
    decision: Decision
    lpi: str | None
    pcv: str | None
    figures: Plain | None
    unscored: dict[str, str] | None
    rewrite: Rewrite | None


class Result(Frozen):
    """How a trial ended.

    Attributes:
        ended: The last draft's decision.
        passed: Whether the last draft passed the gate, asked for or not; None when unscored.
        rewrites: How many there were.
        cascade: The loud failure of §5.5; None where nothing was rewritten.
        quiet: The quiet one; likewise.
    """

    schema_version: SchemaVersion = 1
    ended: Decision
    passed: Flag | None
    rewrites: Offset
    cascade: Cascade | None = None
    quiet: Quiet | None = None


class TrialFolder:
    """Where a trial is kept.

    Args:
        path: The folder; made when the first thing is kept.
        bible: How its stories name their bible; empty when they could not find it from there.
    """

    def __init__(self, path: Path, *, bible: str = "") -> None:
        self.path = path
        self._bible = bible
        self._plan: Plan | None = None

    def begin(self, plan: Plan) -> None:
        """Take up a run: a new one, or one of the same settings that is there. Nothing is written before the first draft.

        Raises:
            InputError: A run with other settings, or a folder that holds something else.
        """
        file = self.path / PLAN
        self._plan = plan
        if not file.exists():
            if self.path.exists() and (not self.path.is_dir() or any(self.path.iterdir())):
                raise InputError(self.path, "there is something else in it", allowed="a new or empty folder")
            return
        was = load_model(Plan, read_bytes(file), file).model_dump(mode="json")
        now = plan.model_dump(mode="json")
        for name in now:
            if was[name] != now[name]:
                found = f"a run with another {name}: {_short(was[name])}, and now {_short(now[name])}"
                raise InputError(
                    file, found, hint="give another --out, or the run's own settings to go on with it"
                )

    def _make(self) -> None:
        make_folder(self.path)
        if self._plan is not None:
            write_atomic(self.path / PLAN, dump_json(self._plan.model_dump(mode="json")))

    def story(self, number: int) -> tuple[Story, Written] | None:
        """Return a draft that is there.

        Raises:
            InputError: It is not as it was written.
        """
        text, by = self.path / f"draft-{number}.md", self.path / f"draft-{number}.json"
        if not (text.exists() and by.exists()):
            return None
        story, written = read_story(text), load_model(Written, read_bytes(by), by)
        if story.prose.sha256 != written.text_sha256:
            raise InputError(
                text,
                "this is not the draft that was written",
                hint="a run's drafts are not edited: copy one elsewhere",
            )
        return story, written

    def keep_draft(
        self, number: int, completion: Completion, producer: Producer, prompt: Prompt, asked_sha256: str
    ) -> tuple[Story, Written]:
        """Keep a draft.

        Raises:
            ModelError: It is no prose.
        """
        text = completion.answer
        prose = draft_prose(text, completion.model)
        written = Written(
            prompt=PromptUsed.of(prompt),
            asked_sha256=asked_sha256,
            model=completion.model,
            kind=completion.kind if producer.kind == "model" else producer.kind,
            client=producer.client,
            text_sha256=prose.sha256,
            prompt_tokens=completion.prompt_tokens,
            completion_tokens=completion.completion_tokens,
            cached_tokens=completion.cached_tokens,
            seconds=completion.seconds,
            ignored=completion.ignored,
        )
        head = [f"title: Draft {number}", *([f"bible: {self._bible}"] if self._bible else [])]
        front = "\n".join(["---", *head, "---", "", ""])
        self._make()
        write_atomic(self.path / f"draft-{number}.md", f"{front}{prose.body}\n")
        write_atomic(self.path / f"draft-{number}.json", dump_json(written.model_dump(mode="json")))
        kept = self.story(number)
        if kept is None:
            raise InputError(
                self.path, "the draft is gone again", allowed="a folder that nothing else writes to"
            )
        return kept

    def lock(self, number: int, story: Story) -> tuple[Lockfile, Read] | None:
        """Return a reading that is there.

        Raises:
            InputError: It is not a reading of this draft.
        """
        file = self.path / f"reading-{number}.json"
        if not (story.lockfile.exists() and file.exists()):
            return None
        lock = load_lockfile(story.lockfile)
        verify(lock, story.prose, story.lockfile)
        return lock, load_model(Read, read_bytes(file), file)

    def keep_lock(self, number: int, story: Story, lock: Lockfile, read: Read) -> None:
        """Keep a reading."""
        write_atomic(self.path / f"reading-{number}.json", dump_json(read.model_dump(mode="json")))
        write_lockfile(lock, story.lockfile)

    def keep_decision(self, decided: Decided) -> None:
        """Keep what was decided."""
        file = self.path / f"decision-{decided.number}.json"
        write_atomic(file, dump_json(decided.model_dump(mode="json")))

    def keep_result(self, result: Result) -> None:
        """Keep how it ended."""
        write_atomic(self.path / RESULT, dump_json(result.model_dump(mode="json")))


def draft_prose(text: str, model: str) -> Prose:
    """A draft as prose; raise `ModelError` when it holds what no story may hold."""
    why = "a NUL character" if "\x00" in text else "a pile of accents" if has_pile(text) else ""
    if not why:
        try:
            text.encode("utf-8")
        except UnicodeEncodeError:
            why = "half a surrogate pair"
    if why:
        raise ModelError("malformed", model, f"the draft holds {why}")
    prose = Prose(text, front_matter=False)
    if not prose.body:
        raise ModelError("empty", model, "the draft has no prose")
    return prose


def _short(value: Any) -> str:
    return clean(str(value), limit=160)
