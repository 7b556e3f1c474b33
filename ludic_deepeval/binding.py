"""Finding the quotes of a ledger that somebody sends: one of a wrong shape is refused (a model's reading, see `grounding`, is not).

An item that rests on no words of the prose is *ungrounded*: kept apart with its reason, never scored.
"""

from itertools import chain
from typing import Any, Final

from ludic_deepeval.errors import shown
from ludic_deepeval.ledger import Extracted, FactLedger, load_ledger
from ludic_deepeval.lockfile import Ungrounded, evidence_problem, quote_problem
from ludic_deepeval.reanchor import without_dangling
from ludic_deepeval.text import Prose

_CONTENT: Final = {"evidence"}


def bind(
    data: dict[str, Any], prose: Prose, file: object = "ledger", *, tries: int | None = None
) -> tuple[FactLedger, tuple[Ungrounded, ...]]:
    """Bind a ledger to its prose.

    Args:
        data: The ledger as loaded from JSON. Offsets of evidence may be left out; where they are given, they only
            choose between several places of a quote. Without them the first place is taken.
        prose: What was read.
        file: What to call the ledger in errors.
        tries: Look at so many places a quote at most (see `Prose.places`).

    Returns:
        The ledger of the items that rest on words of the prose, each with the quotes that do, and the other items. What
        referred to a person who is ungrounded refers to nobody.

    Raises:
        InputError: The ledger is not one.
    """
    problems: dict[tuple[str, int], str] = {}
    located = dict(data)
    for name in FactLedger.LISTS:
        if isinstance(data.get(name), list):
            located[name] = [
                _located(item, (name, index), prose, problems, tries) for index, item in enumerate(data[name])
            ]
    whole = load_ledger(located, file)
    lists: dict[str, list[Any]] = {name: [] for name in FactLedger.LISTS}
    ungrounded: list[Ungrounded] = []
    for name, index, item in whole.items():
        standing, problem = _standing(item, prose)
        if standing is not None:
            lists[name].append(standing)
            continue
        content = item.model_dump(mode="json", exclude_defaults=True, exclude=_CONTENT)
        reason = problems.get((name, index)) or problem or "no quote"
        ungrounded.append(Ungrounded(list=name, item=content, reason=reason))
    return without_dangling(whole, lists) if ungrounded else _with(whole, lists), tuple(ungrounded)


def _with(ledger: FactLedger, lists: dict[str, list[Any]]) -> FactLedger:
    return ledger.model_copy(update={name: tuple(items) for name, items in lists.items()})


def _located(
    item: object,
    key: tuple[str, int],
    prose: Prose,
    problems: dict[tuple[str, int], str],
    tries: int | None,
) -> object:
    """The item with offsets in its evidence; a quote that cannot be placed is left out and its reason noted."""
    if not isinstance(item, dict) or not isinstance(item.get("evidence"), list):
        return item
    placed: list[object] = []
    for entry in item["evidence"]:
        quote = entry.get("quote") if isinstance(entry, dict) else None
        if not isinstance(quote, str) or not quote.strip():
            placed.append(entry)  # for the ledger's model to refuse
            continue
        problem = quote_problem(quote)
        places = iter(()) if problem else prose.places(quote, tries=tries)
        first = next(places, None)
        if first is None:
            problems.setdefault(key, problem or f"the quote {shown(quote)} is not in the prose")
            continue
        meant = entry.get("start", first[0])
        start, end = next((span for span in chain([first], places) if span[0] == meant), first)
        placed.append({**entry, "quote": prose.body[start:end], "start": start, "end": end})
    return {**item, "evidence": placed}


def _standing(item: Extracted, prose: Prose) -> tuple[Extracted | None, str | None]:
    """The item with those of its quotes that hold, or None and what is wrong with the first."""
    problem = None
    holding = []
    for evidence in item.evidence:
        fault = evidence_problem(item.model_copy(update={"evidence": (evidence,)}), prose.body)
        problem = problem or fault
        if fault is None:
            holding.append(evidence)
    return (item.model_copy(update={"evidence": tuple(holding)}) if holding else None), problem
