"""A sheet for the table as JSON: everything, where the printed page leaves out what does not fit."""

from typing import Any

from ludic_deepeval.errors import InputError
from ludic_deepeval.party import Crossing, Party, Shared, Sheet, Side
from ludic_deepeval.table import Happening, NoPage, Page, Person, Said, Thread, Words


def sheet_json(sheet: Sheet, errors: tuple[InputError, ...] = ()) -> dict[str, Any]:
    """The result of `ludic hooks --json`."""
    data: dict[str, Any] = {
        "version": 1,
        "characters": [_page(page) for page in sheet.pages],
        "party": _party(sheet.party) if sheet.party else None,
    }
    if errors:
        data["errors"] = [str(error) for error in errors]
    return data


def _page(page: Page | NoPage) -> dict[str, Any]:
    head = {"path": page.path.as_posix(), "id": page.id, "title": page.title}
    if isinstance(page, NoPage):
        return head | {"read": False, "reason": page.reason}
    return head | {
        "read": True,
        "protagonist": page.protagonist,
        "idle": page.idle,
        "threads": [_thread(thread) for thread in page.threads],
        "pressing": [_event(event) for event in page.pressing],
        "people": [_person(person) for person in page.wanting],
        "unexplained": [_said(said) for said in page.unexplained],
        "goals": [_said(said) for said in page.goals],
    }


def _words(words: Words | None) -> dict[str, Any]:
    return {"line": words.line if words else None, "quote": words.quote if words else None}


def _thread(thread: Thread) -> dict[str, Any]:
    return {
        "number": thread.number,
        "id": thread.id,
        "text": thread.text,
        "tier": thread.tier,
        "person": thread.person.name if thread.person else None,
        "place": thread.place.name if thread.place else None,
    } | _words(thread.words)


def _event(event: Happening) -> dict[str, Any]:
    return {
        "id": event.id,
        "text": event.text,
        "immediacy": event.immediacy,
        "claim_of": event.claim_of,
        "place": event.place.name if event.place else None,
        "thread": event.thread,
    } | _words(event.words)


def _person(person: Person) -> dict[str, Any]:
    return {
        "id": person.id,
        "name": person.name,
        "tie": person.tie,
        "status": person.status,
        "faction": person.faction.name if person.faction else None,
        "threads": list(person.threads),
    } | _words(person.words)


def _said(said: Said) -> dict[str, Any]:
    return {"id": said.id, "text": said.text} | _words(said.words)


def _party(party: Party) -> dict[str, Any]:
    return {
        "characters": list(party.characters),
        "shared": [_shared(item) for item in party.shared],
        "crossings": [_crossing(item) for item in party.crossings],
        "idle": [{"who": item.who, "ways_in": [way.name for way in item.ways_in]} for item in party.idle],
        "missing": [page.path.as_posix() for page in party.missing],
    }


def _shared(item: Shared) -> dict[str, Any]:
    return {
        "kind": item.kind,
        "name": item.name,
        "certain": item.certain,
        "touches": item.touches,
        "sides": [_side(side) for side in item.sides],
    }


def _side(side: Side) -> dict[str, Any]:
    return {
        "who": side.who,
        "is_it": side.is_it,
        "people": [_person(person) for person in side.people],
        "threads": [_thread(thread) for thread in side.threads],
        "events": [_event(event) for event in side.events],
    }


def _crossing(item: Crossing) -> dict[str, Any]:
    return {
        "kind": item.kind,
        "name": item.name,
        "against": [{"who": who} | _person(person) for who, person in item.against],
        "beside": [{"who": who} | _person(person) for who, person in item.beside],
    }
