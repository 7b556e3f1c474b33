"""Foundry VTT: a journal entry for each story, to be imported from its JSON."""

from collections.abc import Iterator
from hashlib import sha256
from html import escape
from typing import Any

from ludic_deepeval.engines import Exported
from ludic_deepeval.files import dump_json
from ludic_deepeval.quests import Quest

_TIERS = {1: "could open the next session", 2: "wants exploring", 3: "in the background"}


def files(stories: tuple[Exported, ...]) -> dict[str, str]:
    """Return `fvtt-JournalEntry-KEY.json` for every story, as Foundry's own "Export Data" names them."""
    return {f"fvtt-JournalEntry-{story.key}.json": dump_json(_entry(story)) for story in stories}


def _entry(story: Exported) -> dict[str, Any]:
    pages = [("What is open", "".join(_open(story))), ("People", "".join(_people(story)))]
    pages += [(f"{quest.kind}: {quest.title}"[:120], "".join(_quest(quest))) for quest in story.quests]
    return {
        "name": story.title,
        "pages": [_page(story, number, title, content) for number, (title, content) in enumerate(pages)],
        # What the journal was made from, for programs; Foundry keeps flags of modules it does not know.
        "flags": {"ludic-worth": {"ledger": story.ledger.model_dump(mode="json", exclude_defaults=True)}},
    }


def _page(story: Exported, number: int, title: str, content: str) -> dict[str, Any]:
    return {
        "_id": sha256(f"{story.key}/{number}/{title}".encode()).hexdigest()[:16],  # 16 letters or digits
        "name": title,
        "type": "text",
        "title": {"show": True, "level": 1},
        "text": {"format": 1, "content": content},
        "sort": number * 100_000,
    }


def _open(story: Exported) -> Iterator[str]:
    for heading, texts in (
        ("Threads", [f"{hook.text} ({_TIERS[hook.tier]})" for hook in story.ledger.hooks if hook.open]),
        ("Goals", [goal.text for goal in story.ledger.goals if goal.proactive]),
        ("Left unexplained", [mystery.text for mystery in story.ledger.mysteries]),
    ):
        if texts:
            yield f"<h2>{heading}</h2><ul>" + "".join(f"<li>{escape(text)}</li>" for text in texts) + "</ul>"


def _people(story: Exported) -> Iterator[str]:
    yield "<ul>"
    for npc in story.ledger.npcs:
        known = f" ({escape(', '.join(npc.aliases))})" if npc.aliases else ""
        side = f", {escape(npc.faction)}" if npc.faction else ""
        wants = "; unfinished business" if npc.unresolved and npc.status != "dead" else ""
        yield f"<li><strong>{escape(npc.name)}</strong>{known}: {npc.tie}, {npc.status}{side}{wants}</li>"
    yield "</ul>"


def _quest(quest: Quest) -> Iterator[str]:
    yield f"<p>{escape(quest.summary)}</p><table><tbody>"
    for one in quest.fields:
        yield f"<tr><th>{escape(one.name.replace('_', ' '))}</th><td>{escape(one.value)}</td><td><code>{escape(one.source)}</code></td></tr>"
    yield "</tbody></table>"
