"""What every code means to a writer: why it matters at the table, an example, and how to mend it."""

from typing import Final, NamedTuple


class Explanation(NamedTuple):
    """The long text of one code.

    Attributes:
        why: Why it matters at the table.
        example: Words that would be found.
        mend: What to do.
    """

    why: str
    example: str
    mend: str


_LOG: Final = "or say in `background_log:` what happened between the two, if it happened off screen"

EXPLANATIONS: Final = {
    "dead-then-active": Explanation(
        "The table will remember the funeral. A dead person who walks in without a word makes players stop trusting"
        " what they are told, and the one who planned around the death has been cheated.",
        "Youth: “They buried Pip on the hill.” Adulthood: “Pip was letting out the robe of state.”",
        f"Change one of the two sentences, {_LOG} (kind: resurrection or return). If the death was only told, say who"
        " told it: `asserted_by`.",
    ),
    "injury-vanished": Explanation(
        "A wound that was to last is part of how a character is played. When it is gone without a word, either the"
        " wound or the later scene was never meant.",
        "“The fever took her left eye for good.” Later: “With both eyes she watched the harbour.”",
        f"Change one sentence, mark the injury as not permanent, {_LOG} (kind: healing).",
    ),
    "age-fell": Explanation(
        "Everything in a backstory hangs on when it happened: who was alive, who could have done it.",
        "“At nineteen he signed on.” Two pages on, after the voyage: “He was seventeen.”",
        f"Correct one of the numbers; if the order of events is wrong, correct the phase; {_LOG} (kind: other).",
    ),
    "item-not-held": Explanation(
        "Players write their inventory from the backstory. A thing that is used after it was lost is a quarrel at the"
        " first session.",
        "“She pawned her father's lantern.” Later: “She lit the lantern and went down.”",
        f"Let her get it back in the prose, change the later sentence, {_LOG} (kind: return).",
    ),
    "skill-not-had": Explanation(
        "What a character can do decides what they try. A skill used before it was learnt, or after it was lost, leaves"
        " the sheet and the story apart.",
        "“Nobody ever taught him to read.” Later, with no lesson between: “He read the warrant aloud.”",
        f"Show where it was learnt, change the later sentence, {_LOG} (kind: return, healing or other).",
    ),
    "against-log": Explanation(
        "The background log is what the designers have decided. Prose that says otherwise tells two tables two worlds.",
        "Log: the mill burned down in the character's youth. Prose, adulthood: “He still grinds at the mill.”",
        "Change the prose, or the log if the prose is the better idea; a later entry (return, resurrection) may bring"
        " the two together.",
    ),
    "lore-violation": Explanation(
        "A law that is broken in the open, and nobody minds, is no law. The world loses its teeth, and the one"
        " character who respects it looks foolish.",
        "Necromancy practised at noon in the market of a city whose law forbids it.",
        "Move it to a place where the law does not hold, or make it secret: a secret breach is no fault but a hook.",
    ),
    "retired-lore": Explanation(
        "Last season's city is gone, and somebody at the table was there when it burned. A line that sends them there to sell"
        " salt says that nothing they do lasts.",
        "The setting's second version has the trade hub destroyed. “Bring it to Ombrey, they pay double at the bridge.”",
        "Send them elsewhere, or let the speaker know what became of it: what is told of its end, or of the time before, is no"
        " fault. Found by `ludic check --bible`.",
    ),
    "contradicted-lore": Explanation(
        "Players learn the world from what people in it say. Two lines that give a town two masters cannot both be learnt.",
        "The Story Bible: Kestrel Ford belongs to the Glass Crown. “The League still owns Kestrel Ford.”",
        "Change the line, or the bible if the line is the better idea. If the speaker lies or errs, mark it `intentional:` with"
        " that reason. Found by `ludic check --bible`.",
    ),
    "expectation": Explanation(
        "The story's own front matter says what it is meant to score, and it does not.",
        "`expect: {gate: pass}` on a story whose last open thread was tied up in the last edit.",
        "Read the line: if the new figure is what you want, change `expect:`; if not, undo what changed it.",
    ),
    "unused-mark": Explanation(
        "A mark that excuses nothing will one day excuse what nobody meant.",
        "`intentional: [{code: dead-then-active, …}]` in a story whose dead now stay dead.",
        "Take the mark out of the front matter, or correct its quote if it was meant for another place.",
    ),
    "few-hooks": Explanation(
        "A story can be fine to read and leave nothing to play. The more is settled (dead enemies, paid debts, explained"
        " mysteries), the more the game master has to invent.",
        "“With the duke dead and his brother forgiven, he came home and was happy.”",
        "Leave something open that is closed now: an enemy alive, a debt unpaid, a question unanswered."
        " `ludic advise` names the smallest change.",
    ),
    "flat-events": Explanation(
        "Nothing in the past presses on the next session. Players will like the character and not know what to do.",
        "Events that were grave once and are over, or that press and do not matter.",
        "Give one event a consequence that must be answered soon, or add one that does. `ludic advise` says how much.",
    ),
    "no-goal": Explanation(
        "A character who wants nothing waits for the game master. One who is after something starts scenes.",
        "“Since the fire she has kept to herself.”",
        "Say what they are doing about it: “and she is copying out his ledgers, a page a night”.",
    ),
    "few-people": Explanation(
        "People with unfinished business are the cheapest scenes there are: they come in by themselves.",
        "One rival, and everybody else dead, thanked or forgotten.",
        "Leave a tie unresolved: a debt, a promise, a grudge, a letter without an answer.",
    ),
    "no-urgent-hook": Explanation(
        "Every open thread can wait, so it will.",
        "“One day she means to find out who sent the letters.”",
        "Put a date, a person or a consequence on one of them: “on Friday the assize sits”.",
    ),
    "no-mystery": Explanation(
        "Where everything is explained, there is nothing to find out, and finding out is half of play.",
        "A death with its culprit, motive and weapon in one sentence.",
        "Take out an explanation. What you know and do not write is still yours, and the game master's.",
    ),
    "too-many-mysteries": Explanation(
        "Past three, open questions stop being questions and become fog; nobody knows which one matters.",
        "Five things that nobody can explain, on one page.",
        "Answer one or two, or let two of them be the same.",
    ),
    "told-mystery": Explanation(
        "A passage that names who, where and when is an account of something, not a gap to play in.",
        "“On 4 Mirtul 1372 Kaelen Voss of Amn sold the map to Jhessail Ulph.”",
        "Take out names and dates until three words in ten or fewer are such; or mark another sentence as the mystery.",
    ),
    "same-weight": Explanation(
        "Three catastrophes of one size dull each other. Past the second of a kind an event counts half.",
        "A burnt village, a sunk ship and a fallen tower, all equally grave.",
        "Make one of them smaller and nearer, or much graver; variety counts in full.",
    ),
    "bare-linkage": Explanation(
        "An event that is said to be woven into the world names nothing of that world.",
        "Linkage 8, and neither faction nor place nor god of the bible in the sentence.",
        "Name what it is tied to, or answer the question about ties lower.",
    ),
    "unknown-place": Explanation(
        "The law of a place can only be looked up if the Story Bible knows the place.",
        "A rite in “Deepwater”, where the bible has “Waterdeep”.",
        "Correct the spelling, or add the place to the bible.",
    ),
    "unlocked-sheet": Explanation(
        "The mark sheet says something that the scored reading does not have yet.",
        "You answered a question in `tale.marks.yaml` and did not lock it.",
        "Run `ludic lock` on the story.",
    ),
    "card-disagrees": Explanation(
        "An image may hold its card twice, for older and for newer programs. Where the two differ, people who open it see"
        " different characters.",
        "A program that knows only `chara` edited a card that also has `ccv3`.",
        "Open the card in the program that you trust and export it anew.",
    ),
    "fields-read": Explanation(
        "A card or a sheet holds more than a backstory: greetings, examples, instructions. Only what tells who somebody is"
        " and where they stand is judged.",
        "“read description, scenario (412 words); skipped first_mes”",
        "Nothing is wrong. If something that matters stands in a field that was skipped, move it to one that is read.",
    ),
    "unread": Explanation(
        "Nobody has said yet who is in this story and what is open in it, so there is nothing to score.",
        "`tale.md` without `tale.ledger.json` beside it.",
        "Run `ludic annotate` on it, answer the questions, then `ludic lock`. No AI needed.",
    ),
    "stale": Explanation(
        "The reading is of an older text; a score of it would be a score of another story.",
        "You edited a sentence after locking.",
        "Run `ludic relock`: it moves the marks to where their words now stand and says what it could not place.",
    ),
    "new-paragraph": Explanation(
        "A paragraph that nobody has read may hold the contradiction, or the hook.",
        "A scene added since the last reading.",
        "Mark what is in it (`ludic annotate --force`), or say that nothing is: `ludic relock --read`.",
    ),
    "no-quote": Explanation(
        "Only what the text says is scored. An item without words to rest on may be somebody's invention.",
        "A rival in the reading whose name stands nowhere in the prose.",
        "Give it a quote of at least three words from the text, or take it out.",
    ),
    "unscored": Explanation(
        "Something could not be measured, and a wrong figure is worse than none.",
        "An event without its four answers; a mystery in a script in which names cannot be told.",
        "The message says what is missing.",
    ),
}
