"""The Fact Ledger: what a backstory says, as frozen, checked values (LudicMetrics §4.1).

`FactLedger` holds the protagonist, the people, the events by life phase, and the hooks, goals and mysteries. In a
lockfile every extracted item carries the quotes that it rests on; a ledger that is scored directly needs none.
"""

from collections.abc import Iterator
from typing import Annotated, Any, ClassVar, Final, Literal, Self, TypeAlias, TypeVar, get_args, get_origin

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    model_validator,
)

from ludic_deepeval.errors import InputError, clean, shown
from ludic_deepeval.vagueness import Span

Phase: TypeAlias = Literal["P1", "P2", "P3"]
Status: TypeAlias = Literal["alive", "dead", "missing", "undead", "unknown"]
Tie: TypeAlias = Literal[
    "enemy", "rival", "ally", "family", "mentor", "lover", "debtor", "creditor", "patron", "other"
]
PHASES: Final[tuple[Phase, ...]] = ("P1", "P2", "P3")
PHASE_NAMES: Final[dict[Phase, str]] = {
    "P1": "childhood",
    "P2": "youth",
    "P3": "adulthood",
}  # a writer's words

MAX_ITEMS: Final = 1000


def _whole(value: object) -> object:
    """Let whole numbers alone through: JSON's 7.0 and true, and YAML's "7", are somebody's mistake."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError("not a whole number")  # noqa: TRY004  # pydantic reports only ValueError
    return value


Text: TypeAlias = Annotated[str, StringConstraints(min_length=1, max_length=4000, pattern=r"\S")]
Id: TypeAlias = Annotated[str, StringConstraints(min_length=1, max_length=80, pattern=r"^\S+$")]
Flag: TypeAlias = Annotated[bool, Field(strict=True)]
Dimension: TypeAlias = Annotated[int, Field(strict=True, ge=1, le=10)]
Tier: TypeAlias = Annotated[Literal[1, 2, 3], BeforeValidator(_whole)]
SchemaVersion: TypeAlias = Annotated[Literal[1], BeforeValidator(_whole)]
Score01: TypeAlias = Annotated[Literal[0, 1], BeforeValidator(_whole)]
Age: TypeAlias = Annotated[int, Field(strict=True, ge=0, le=100_000)]
Offset: TypeAlias = Annotated[int, Field(strict=True, ge=0)]


class Frozen(BaseModel):
    """Base of every model here: immutable, and nothing in it that it does not know."""

    # A validator is built when it is first used: a program that reads a lockfile builds one, not twenty.
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class Evidence(Frozen):
    """Words of the prose that an item rests on: half-open offsets in characters of the body."""

    quote: Text
    start: Offset
    end: Offset


class Item(Frozen):
    """What was extracted from prose."""

    evidence: Annotated[tuple[Evidence, ...], Field(max_length=50)] = ()


class Npc(Item):
    """A person tied to the protagonist."""

    id: Id
    name: Text
    aliases: tuple[Text, ...] = ()
    status: Status = "unknown"
    tie: Tie = "other"
    faction: Text | None = None
    unresolved: Flag = False

    @property
    def names(self) -> tuple[str, ...]:
        """The name and every alias."""
        return (self.name, *self.aliases)


class Practice(Frozen):
    """A practice that lore may forbid, and whether it is shown openly."""

    practice: Text
    openly: Flag


class Physical(Frozen):
    """A change of the protagonist's body, or an age that the prose states."""

    kind: Literal["injury", "scar", "disability", "age", "other"]
    text: Text | None = None
    permanent: Flag = False
    present: Flag = True
    age: Age | None = None

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if self.kind == "age" and self.age is None:
            raise ValueError("an age without a number")
        if self.kind != "age" and self.text is None:
            raise ValueError("a body change without a text that names it")
        return self


class Relation(Frozen):
    """A person met in an event. Without a status the person is taken to act in it; a dead one remembered is `dead`."""

    npc: Id
    status: Status | None = None
    tie: Tie | None = None


class Possession(Frozen):
    """A change of what the protagonist holds."""

    item: Text
    change: Literal["gained", "lost", "used"]


class Ability(Frozen):
    """A change of what the protagonist can do or knows."""

    skill: Text
    change: Literal["gained", "lost", "used"]


class Event(Item):
    """Something that happened in a life phase, with the four dimensions of PCV (§3.5) or none of them."""

    id: Id
    phase: Phase
    summary: Text
    immediacy: Dimension | None = None
    gravity: Dimension | None = None
    linkage: Dimension | None = None
    divergence: Dimension | None = None
    location: Text | None = None
    factions: tuple[Text, ...] = ()
    practices: tuple[Practice, ...] = ()
    asserted_by: Text | None = None
    physical: tuple[Physical, ...] = ()
    relations: tuple[Relation, ...] = ()
    inventory: tuple[Possession, ...] = ()
    skills: tuple[Ability, ...] = ()

    @model_validator(mode="after")
    def _all_or_none(self) -> Self:
        missing = [name for name in DIMENSIONS if getattr(self, name) is None]
        if missing and len(missing) < len(DIMENSIONS):
            raise ValueError(f"no {' and no '.join(missing)}: all four dimensions or none")
        return self


DIMENSIONS: Final = ("immediacy", "gravity", "linkage", "divergence")


class Hook(Item):
    """A thread that play could pick up (§3.4). Tier 1 can drive the first scene, 2 wants exploring, 3 is ambient."""

    id: Id
    text: Text
    tier: Tier
    open: Flag = True
    npc: Id | None = None
    location: Text | None = None


class Goal(Item):
    """Something that the protagonist wants; `proactive` when it is being pursued."""

    id: Id
    text: Text
    proactive: Flag = True


class Mystery(Item):
    """A span of prose that leaves something unexplained. `thematic_hole` is the reader's own mark, kept beside Eq 11."""

    id: Id
    text: Annotated[Text, AfterValidator(Span)]
    thematic_hole: Flag | None = None


class BackgroundEvent(Frozen):
    """An off-screen event that the designer has decided. Never written by a model."""

    id: Id
    phase: Phase
    kind: Literal["death", "resurrection", "injury", "healing", "loss", "return", "destruction", "other"]
    subject: Text
    text: Text


_Identified = TypeVar("_Identified", Npc, Event, Hook, Goal, Mystery, BackgroundEvent)
Extracted: TypeAlias = Npc | Event | Hook | Goal | Mystery
_Many = Field(max_length=MAX_ITEMS)


class FactLedger(Frozen):
    """What one backstory says.

    Raises:
        pydantic.ValidationError: On construction; `load_ledger` turns it into one line for people.
    """

    LISTS: ClassVar[tuple[str, ...]] = ("npcs", "events", "hooks", "goals", "mysteries")

    schema_version: SchemaVersion
    protagonist: Text
    npcs: Annotated[tuple[Npc, ...], _Many] = ()
    events: Annotated[tuple[Event, ...], _Many] = ()
    hooks: Annotated[tuple[Hook, ...], _Many] = ()
    goals: Annotated[tuple[Goal, ...], _Many] = ()
    mysteries: Annotated[tuple[Mystery, ...], _Many] = ()
    background_log: Annotated[tuple[BackgroundEvent, ...], _Many] = ()

    @model_validator(mode="after")
    def _references(self) -> Self:
        known = _unique("npcs", self.npcs)
        events = _unique("events", self.events)
        for path in ("hooks", "goals", "mysteries"):
            _unique(path, getattr(self, path))
        # A fault names two events by id, so a log event may not be called like one of the prose.
        if shared := sorted(events & _unique("background_log", self.background_log)):
            raise ValueError(f"@background_log@the id {shown(shared[0])} is also that of an event")
        allowed = f"the id of one of npcs: {', '.join(sorted(known)[:12]) or 'there are none'}"
        for index, hook in enumerate(self.hooks):
            if hook.npc is not None and hook.npc not in known:
                raise ValueError(f"@hooks[{index}].npc@{shown(hook.npc)} is nobody; allowed: {allowed}")
        for index, event in enumerate(self.events):
            for at, relation in enumerate(event.relations):
                if relation.npc not in known:
                    path = f"events[{index}].relations[{at}].npc"
                    raise ValueError(f"@{path}@{shown(relation.npc)} is nobody; allowed: {allowed}")
        return self

    @model_validator(mode="after")
    def _last_status(self) -> Self:
        last: dict[str, tuple[Status, str]] = {}
        for event in self.in_order():
            if event.asserted_by is None:
                last.update((r.npc, (r.status, event.id)) for r in event.relations if r.status is not None)
        for index, npc in enumerate(self.npcs):
            if npc.id in last and last[npc.id][0] != npc.status:
                status, event_id = last[npc.id]
                raise ValueError(
                    f"@npcs[{index}].status@'{npc.status}', but event {shown(event_id)} is the last to give"
                    f" {shown(npc.name)} a status and says '{status}'; allowed: '{status}'"
                )
        return self

    def in_order(self) -> Iterator[Event]:
        """Yield the events by phase, within a phase as they are listed."""
        return iter(sorted(self.events, key=lambda event: event.phase))

    def items(self) -> Iterator[tuple[str, int, Extracted]]:
        """Yield every extracted item as (list, index, item)."""
        for name in self.LISTS:
            for index, item in enumerate(getattr(self, name)):
                yield name, index, item

    def compact(self) -> str:
        """Return the ledger without evidence as short text (see `compact`)."""
        from ludic_deepeval.compact import compact  # noqa: PLC0415  # scoring needs none of it

        return compact(self)


def _unique(path: str, items: tuple[_Identified, ...]) -> set[str]:
    seen: set[str] = set()
    for index, item in enumerate(items):
        if item.id in seen:
            raise ValueError(
                f"@{path}[{index}].id@the id {shown(item.id)} is used twice; allowed: ids unique in {path}"
            )
        seen.add(item.id)
    return seen


Model = TypeVar("Model", bound=BaseModel)


def load_model(model: type[Model], data: bytes | str | dict[str, Any], file: object) -> Model:
    """Validate JSON (bytes or str) or a mapping as `model`; raise `InputError` with one line for people."""
    try:
        return (
            model.model_validate_json(data) if isinstance(data, bytes | str) else model.model_validate(data)
        )
    except ValidationError as error:
        raise _for_people(model, error, file) from None
    except RecursionError:
        raise InputError(file, "nested too deeply", allowed="a flat ledger") from None


def load_ledger(data: bytes | str | dict[str, Any], file: object = "ledger") -> FactLedger:
    """Validate a Fact Ledger; raise `InputError` naming the JSON path, what was found and what is allowed."""
    return load_model(FactLedger, data, file)


def _for_people(model: type[BaseModel], error: ValidationError, file: object) -> InputError:
    first, *others = error.errors(include_url=False)
    more = f"{len(others)} more fault{'s' * (len(others) > 1)}" if others else ""
    kind, location = first["type"], first["loc"]
    message = str(first["msg"])
    if kind == "json_invalid":
        return InputError(file, f"not valid JSON: {clean(message.removeprefix('Invalid JSON: '), limit=160)}")
    if kind in {"value_error", "assertion_error"}:
        text = message.partition(", ")[2] or message
        path, sep, said = text.removeprefix("@").partition("@") if text.startswith("@") else ("", "", text)
        found, _, allowed = said.partition("; allowed: ")
        if found == "not a whole number":
            found, allowed = f"found {shown(first['input'])}", _allowed(model, location, kind, {})
        where = ".".join(part for part in (_path(location), path) if part) if sep else _path(location)
        return InputError(file, found, where=where, allowed=allowed, hint=more)
    if kind == "missing":
        return InputError(
            file, "missing", where=_path(location), allowed=_allowed(model, location, kind, {}), hint=more
        )
    if kind in {"extra_forbidden", "invalid_key"}:
        place = (*location[:-1], str(location[-1]))
        return InputError(
            file, "unknown field", where=_path(place), allowed=_fields_at(model, location[:-1]), hint=more
        )
    allowed = _allowed(model, location, kind, first.get("ctx", {}))
    return InputError(
        file, f"found {shown(first['input'])}", where=_path(location), allowed=allowed or message, hint=more
    )


def _path(location: tuple[int | str, ...]) -> str:
    text = ""
    for part in location:
        if isinstance(part, int):
            text += f"[{part}]"
        elif "[" not in part:  # pydantic adds the branch of a union that it tried
            text += f".{clean(part)}"
    return text.removeprefix(".")


def _allowed(
    model: type[BaseModel], location: tuple[int | str, ...], kind: str, ctx: dict[str, Any]
) -> str:  # a table
    name = next((part for part in reversed(location) if isinstance(part, str)), "")
    if name in DIMENSIONS:
        return "a whole number from 1 to 10"
    if name == "tier" and (kind in {"value_error", "missing"} or "expected" in ctx):
        return "1, 2 or 3"
    if name == "schema_version":
        return "1"
    if "expected" in ctx:
        return str(ctx["expected"])
    if kind in {"model_type", "model_attributes_type", "dict_type"}:
        return f"a mapping with {_fields_at(model, location)}" if location else "a mapping"
    return {
        "bool_type": "true or false",
        "int_type": "a whole number",
        "string_type": "text",
        "string_too_short": "text that is not empty",
        "string_pattern_mismatch": "text that is not blank" if name != "id" else "text without blanks",
        "tuple_type": "a list",
        "too_short": f"at least {ctx.get('min_length')} of them",
        "too_long": f"at most {ctx.get('max_length')} items",
        "string_too_long": f"at most {ctx.get('max_length')} characters",
        "greater_than_equal": f"{_sort(ctx.get('ge'))} of at least {ctx.get('ge')}",
        "less_than_equal": f"{_sort(ctx.get('le'))} of at most {ctx.get('le')}",
        "greater_than": f"a number above {ctx.get('gt')}",
        "missing": "",
        "recursion_loop": "a flat ledger",
    }.get(kind, "")


def _sort(bound: object) -> str:
    """Pydantic gives the bound of a float as a float."""
    return "a number" if isinstance(bound, float) else "a whole number"


def _fields_at(model: type[BaseModel], location: tuple[int | str, ...]) -> str:
    """Name the fields of the model that a pydantic location leads to."""
    current: type[BaseModel] = model
    for part in location:
        if isinstance(part, str) and part in current.model_fields:
            inner = _model_in(current.model_fields[part].annotation)
            current = inner or current
    return ", ".join(current.model_fields)


def _model_in(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and get_origin(annotation) is None:
        return annotation if issubclass(annotation, BaseModel) else None
    return next((found for part in get_args(annotation) if (found := _model_in(part))), None)
