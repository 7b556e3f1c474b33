"""What is asked about each mark: the questions of the mark sheet, one table for the page to draw.

A question has a `key` (the ledger's field), `ask` (the words), and a `kind`:
`text`; `list` (texts with commas between); `yesno`; `choice` (of `options`: value and words); `scale` (1 to 10, with a
word for some of them); `person` (one of those marked); `people` (who takes part in an event); `rows` (a list of small
records with `columns`, some of them `only` for some answers to the first). `more` puts it under "More", `need` says that it must be answered, `start` is the answer that a
new mark begins with, `unsaid` what the ledger takes for an answer where there is none.
"""

from typing import Any, Final, TypeAlias

Question: TypeAlias = dict[str, Any]

_STATUS: Final = [
    ["alive", "alive"],
    ["dead", "dead"],
    ["missing", "missing"],
    ["undead", "undead"],
    ["unknown", "nobody knows"],
]
_TIE: Final = [
    [word, word]
    for word in (
        "enemy", "rival", "ally", "family", "mentor", "lover", "debtor", "creditor", "patron", "other",
    )
]  # fmt: skip
_CHANGE: Final = [["gained", "gained"], ["lost", "lost"], ["used", "used"]]
_BODY: Final = ["injury", "scar", "disability", "other"]
_PLACE: Final[Question] = {
    "key": "location",
    "ask": "Where?",
    "kind": "text",
    "more": True,
    "known": "places",
}

PEOPLE: Final[list[Question]] = [
    {"key": "name", "ask": "Name", "kind": "text", "need": True, "help": "as it stands in the words you selected"},
    {"key": "status", "ask": "At the end of the story this person is", "kind": "choice", "options": _STATUS, "start": "alive", "unsaid": "unknown"},
    {"key": "tie", "ask": "To the protagonist", "kind": "choice", "options": _TIE, "start": "other", "unsaid": "other"},
    {"key": "unresolved", "ask": "Is something between the two still open?", "kind": "yesno", "start": True, "unsaid": False},
    {"key": "aliases", "ask": "Also called", "kind": "list", "more": True, "help": "other words for the same person, with commas between"},
    {"key": "faction", "ask": "Belongs to", "kind": "text", "more": True, "known": "factions"},
]  # fmt: skip

HOOKS: Final[list[Question]] = [
    {"key": "text", "ask": "What could play pick up here?", "kind": "text", "need": True, "help": "a few words, such as: he will come for the ledger"},
    {
        "key": "tier", "ask": "How soon?", "kind": "choice", "need": True,
        "options": [[1, "it could drive the very next scene"], [2, "it wants exploring first"], [3, "it is colour"]],
    },
    {"key": "open", "ask": "Is it still open?", "kind": "yesno", "start": True, "unsaid": True, "help": "no: it was settled in the story"},
    {"key": "npc", "ask": "Whose thread is it?", "kind": "person"},
    _PLACE,
]  # fmt: skip

GOALS: Final[list[Question]] = [
    {"key": "text", "ask": "What does the protagonist want?", "kind": "text", "need": True},
    {"key": "proactive", "ask": "Is it being pursued, now?", "kind": "yesno", "start": True, "unsaid": True},
]

MYSTERIES: Final[list[Question]] = [
    {
        "key": "thematic_hole", "ask": "Your own judgement: implied, but left unclear?", "kind": "yesno",
        "help": "The words themselves are measured: the fewer names, the better.",
    },
    {"key": "text", "ask": "The measured words, if not those selected", "kind": "text", "more": True},
]  # fmt: skip

EVENTS: Final[list[Question]] = [
    {"key": "summary", "ask": "What happens?", "kind": "text", "need": True, "help": "one plain sentence"},
    {
        "key": "phase", "ask": "When?", "kind": "choice", "need": True,
        "options": [["P1", "childhood"], ["P2", "youth"], ["P3", "adulthood, or now"]],
    },
    {"key": "immediacy", "ask": "Must this be answered next session?", "kind": "scale", "words": {"1": "centuries hence", "9": "at the door tonight"}},
    {"key": "gravity", "ask": "What is at stake?", "kind": "scale", "words": {"1": "a few coins", "10": "a curse that kills within the year"}},
    {"key": "linkage", "ask": "How much of the world is in it?", "kind": "scale", "words": {"1": "none of it", "9": "a faction, a place and a precedent"}},
    {"key": "divergence", "ask": "How many different things could come of it?", "kind": "scale", "words": {"2": "open the box or leave it", "8": "expose, blackmail, flee, join"}},
    {"key": "relations", "ask": "Who is in it?", "kind": "people", "help": "who is only remembered here as dead: dies, or is dead"},
    {**_PLACE, "more": False},
    {"key": "asserted_by", "ask": "Only somebody's claim, rumour or memory? Whose?", "kind": "text", "more": True},
    {
        "key": "physical", "ask": "Body and age", "kind": "rows", "more": True,
        "columns": [
            {"key": "kind", "ask": "kind", "kind": "choice", "options": [[word, word] for word in (*_BODY, "age")], "start": "injury"},
            {"key": "text", "ask": "what", "kind": "text", "only": _BODY},
            {"key": "age", "ask": "age in years", "kind": "number", "only": ["age"]},
            {"key": "permanent", "ask": "for good", "kind": "check", "start": False, "only": _BODY},
            {"key": "present", "ask": "there after this event", "kind": "check", "start": True, "only": _BODY},
        ],
    },
    {
        "key": "inventory", "ask": "Things the protagonist gets, loses or uses", "kind": "rows", "more": True,
        "columns": [{"key": "item", "ask": "thing", "kind": "text"}, {"key": "change", "ask": "change", "kind": "choice", "options": _CHANGE, "start": "gained"}],
    },
    {
        "key": "skills", "ask": "Skills the protagonist gets, loses or uses", "kind": "rows", "more": True,
        "columns": [{"key": "skill", "ask": "skill", "kind": "text"}, {"key": "change", "ask": "change", "kind": "choice", "options": _CHANGE, "start": "gained"}],
    },
    {
        "key": "practices", "ask": "What the setting's law may forbid", "kind": "rows", "more": True,
        "columns": [{"key": "practice", "ask": "practice", "kind": "text"}, {"key": "openly", "ask": "openly", "kind": "check", "start": False}],
    },
    {"key": "factions", "ask": "Factions in it", "kind": "list", "more": True, "known": "factions"},
]  # fmt: skip

SECTIONS: Final[list[dict[str, Any]]] = [
    {"key": "people", "one": "Person", "many": "People", "letter": "p", "means": "somebody tied to the protagonist", "questions": PEOPLE},
    {"key": "hooks", "one": "Hook", "many": "Hooks", "letter": "h", "means": "a thread that play could pick up", "questions": HOOKS},
    {"key": "goals", "one": "Goal", "many": "Goals", "letter": "g", "means": "what the protagonist wants", "questions": GOALS},
    {"key": "mysteries", "one": "Mystery", "many": "Mysteries", "letter": "m", "means": "something left unexplained", "questions": MYSTERIES},
    {"key": "events", "one": "Event", "many": "Events", "letter": "e", "means": "something that happened", "questions": EVENTS},
]  # fmt: skip
LABELS: Final = {
    (section["key"], question["key"]): question["ask"]
    for section in SECTIONS
    for question in section["questions"]
}
"""The words of a question by section and field, for errors that name the field."""
