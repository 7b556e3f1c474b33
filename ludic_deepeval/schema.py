"""JSON Schemas, generated from the models so that nothing is typed twice."""

from collections.abc import Callable
from typing import Any, Final

from ludic_deepeval.ledger import FactLedger
from ludic_deepeval.lockfile import Lockfile


def ledger_schema() -> dict[str, Any]:
    """The Fact Ledger's schema."""
    return FactLedger.model_json_schema()


def notary_schema() -> dict[str, Any]:
    """What a model fills in: the ledger without the background log, with quotes but no offsets."""
    schema = ledger_schema()
    del schema["properties"]["background_log"]
    del schema["$defs"]["BackgroundEvent"]
    evidence = schema["$defs"]["Evidence"]
    for offset in ("start", "end"):
        del evidence["properties"][offset]
    evidence["required"] = ["quote"]
    evidence["description"] = "Exact words of the prose that an item rests on."
    for name in ("Npc", "Event", "Hook", "Goal", "Mystery"):
        part = schema["$defs"][name]
        part["required"] = [*part["required"], "evidence"]
        part["properties"]["evidence"].pop("default", None)
        part["properties"]["evidence"]["minItems"] = 1
    return schema


def bible_schema() -> dict[str, Any]:
    """A Story Bible's schema, written as one file."""
    from ludic_deepeval.bible import Bible  # noqa: PLC0415  # a Notary needs none, and starts sooner without

    return Bible.model_json_schema()


SCHEMAS: Final[dict[str, Callable[[], dict[str, Any]]]] = {
    "ledger": ledger_schema,
    "lockfile": Lockfile.model_json_schema,
    "bible": bible_schema,
    "notary": notary_schema,
}
