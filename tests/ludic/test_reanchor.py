import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ludic_deepeval.errors import InputError
from ludic_deepeval.ledger import load_ledger
from ludic_deepeval.lockfile import (
    Lockfile,
    Notary,
    Ungrounded,
    load_lockfile,
    make_lockfile,
    verify,
    write_lockfile,
)
from ludic_deepeval.reanchor import accept, relock
from ludic_deepeval.text import Prose, folded

PATH = Path("tale.ledger.json")

ENGLISH = [
    "Odo Marsh still signs the ledgers at the mill, in a hand like barbed wire. He signs them late.",
    "The winter the river froze, somebody had paid for the bell not to ring. Nobody drowned, they say.",
    "She learned to read lips in the loft above the tannery, where talk was a luxury and the smell was free.",
    "Her brother Piet walked out on the ice with a lantern. The lantern was found standing upright, and lit.",
    "Now she means to stand before the judge with the ledger under her coat, if the thaw will wait for her.",
]
ENGLISH_QUOTES = [
    "Odo Marsh still signs the ledgers",
    "somebody had paid for the bell not to ring",
    "She learned to read lips in the loft above the tannery",
    "Her brother Piet walked out on the ice",
    "The lantern was found standing upright, and lit.",
    "she means to stand before the judge",
]
CHINESE = [
    "葛含烟站在台口，手里没有刀。台下的人都不说话。",
    "十七岁那年，督军府送来一张合影，要把第二排的账房修掉。",
    "她在暗房里坐到半夜，末了把铅笔放回了匣子里。",
    "那只手小指外侧蹭着一抹铅灰，是常年修底片的人才会有的。",
]
CHINESE_QUOTES = [
    "葛含烟站在台口，手里没有刀",
    "要把第二排的账房修掉",
    "她在暗房里坐到半夜",
    "小指外侧蹭着一抹铅灰",
]


def lock_of(body: str, quotes: list[str], *, nth: int = 0) -> Lockfile:
    """A lockfile with one goal for each quote; a quote that stands more often is taken at its nth place."""
    prose = Prose(body)
    goals = []
    for index, quote in enumerate(quotes):
        start, end = prose.find(quote)[nth if len(prose.find(quote)) > 1 else 0]
        evidence = [{"quote": prose.body[start:end], "start": start, "end": end}]
        goals.append({"id": f"g{index}", "text": f"goal {index}", "evidence": evidence})
    facts = load_ledger({"schema_version": 1, "protagonist": "Ysolde", "goals": goals})
    return make_lockfile(prose, facts, Notary(kind="hand"))


def where(lock: Lockfile) -> dict[str, list[tuple[int, int]]]:
    return {goal.id: [(e.start, e.end) for e in goal.evidence] for goal in lock.ledger.goals}


# Edits elsewhere

english_words = st.lists(
    st.sampled_from(
        [
            "a",
            "grey",
            "gull",
            "went",
            "over",
            "twice",
            "and",
            "nobody",
            "minded",
            "the",
            "barrel",
            "of",
            "salt",
            "until",
            "Thursday",
        ]
    ),
    min_size=1,
    max_size=9,
).map(" ".join)
chinese_words = st.lists(st.sampled_from(list("天地玄黄宇宙洪荒日月盈昃")), min_size=1, max_size=12).map(
    "".join
)


def cut_up(paragraph: str, quotes: list[str]) -> list[tuple[str, bool]]:
    """Split a paragraph into what is quoted (True) and what stands between."""
    pieces = [(paragraph, False)]
    for quote in quotes:
        split: list[tuple[str, bool]] = []
        for text, quoted in pieces:
            before, found, after = text.partition(quote)
            split += (
                [(text, quoted)] if quoted or not found else [(before, False), (found, True), (after, False)]
            )
        pieces = split
    return pieces


def spaced(before: str, added: str, after: str, blank: str) -> str:
    return blank.join(part for part in (before.strip(), added, after.strip()) if part)


@st.composite
def edited(
    draw: st.DrawFn, paragraphs: list[str], quotes: list[str], words: st.SearchStrategy[str], blank: str
) -> str:
    """Insert, delete and replace between the quotes; add new paragraphs; drop those without quotes."""
    out: list[str] = []
    for paragraph in paragraphs:
        text = ""
        for piece, quoted in cut_up(paragraph, quotes):
            if quoted:
                text = spaced(text, piece, "", blank)
                continue
            kind = draw(st.sampled_from(["keep", "keep", "insert", "delete", "replace"]))
            if kind == "keep":
                text += piece if not text else (piece if piece[:1] in ".,，。 " else blank + piece)
            elif kind == "insert":
                text = spaced(text, draw(words), piece, blank)
            elif kind == "replace":
                text = spaced(text, draw(words), "", blank)
        out.append(text)
        if draw(st.booleans()):
            out.append(draw(words))
    return "\n\n".join(out)


def assert_on_their_words(old: Lockfile, body: str) -> None:
    prose = Prose(body)
    moved = relock(old, prose, PATH)
    assert moved.lost == ()
    assert moved.kept == len(old.ledger.goals)
    verify(moved.lock, prose, PATH)
    for before, after in zip(old.ledger.goals, moved.lock.ledger.goals, strict=True):
        [span] = after.evidence
        assert after.id == before.id
        assert folded(prose.body[span.start : span.end]) == folded(before.evidence[0].quote)
        assert prose.find(span.quote) == [(span.start, span.end)]


@settings(deadline=None)
@given(edited(ENGLISH, ENGLISH_QUOTES, english_words, " "))
def test_after_edits_elsewhere_every_english_quote_stands_on_its_words(body: str) -> None:
    assert_on_their_words(lock_of("\n\n".join(ENGLISH), ENGLISH_QUOTES), body)


@settings(deadline=None)
@given(edited(CHINESE, CHINESE_QUOTES, chinese_words, ""))
def test_after_edits_elsewhere_every_chinese_quote_stands_on_its_words(body: str) -> None:
    assert_on_their_words(lock_of("\n\n".join(CHINESE), CHINESE_QUOTES), body)


@settings(deadline=None)
@given(st.permutations(ENGLISH))
def test_after_whole_paragraphs_are_moved_every_english_quote_stands_on_its_words(order: list[str]) -> None:
    assert_on_their_words(lock_of("\n\n".join(ENGLISH), ENGLISH_QUOTES), "\n\n".join(order))


@pytest.mark.parametrize("gap", ["\n", "\n\n"])
def test_after_whole_paragraphs_are_moved_every_chinese_quote_stands_on_its_words(gap: str) -> None:
    old = lock_of(gap.join(CHINESE), CHINESE_QUOTES)
    for n in range(1, len(CHINESE)):
        assert_on_their_words(old, gap.join(CHINESE[n:] + CHINESE[:n]))
    assert_on_their_words(old, gap.join(reversed(CHINESE)))


def test_moved_paragraphs_are_not_unread_and_a_changed_copy_loses_nothing() -> None:
    old = lock_of("\n\n".join(ENGLISH), ENGLISH_QUOTES)
    moved = relock(old, Prose("\r\n\r\n".join(reversed(ENGLISH))), PATH)
    assert moved.lock.unread == ()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("“lit”, she said — twice", '"lit", she said - twice'),
        ("the   mill\nat night", "the mill at night"),
        ("he said ‘never’ and left", "he said 'never' and left"),
    ],
)
def test_a_quote_whose_punctuation_was_only_restyled_is_kept(old: str, new: str) -> None:
    lock = lock_of(f"Before it all. {old} After it all.", [old])
    moved = relock(lock, Prose(f"Before it all. {new} After it all."), PATH)
    assert (moved.kept, moved.lost) == (1, ())


def test_a_quote_between_quotation_marks_keeps_them() -> None:
    lock = lock_of("One day. “The cure is here,” he said. Fine.", ["“The cure is here,”"])
    prose = Prose("One fine day. “The cure is here,” he said. Fine.")
    [goal] = relock(lock, prose, PATH).lock.ledger.goals
    assert prose.body[goal.evidence[0].start : goal.evidence[0].end] == "“The cure is here,”"


# Deleted quotes and lookalikes

QUOTE = "the bell rang twice at dawn"
FILLER = [
    "In the first year the harbour silted up and the herring went north without a word to anybody.",
    "My aunt kept the chandler's shop and sold rope by the fathom and gossip by the hour, at a loss.",
    "We had a goat that could open doors. It opened all but the one that mattered, and it ate the key.",
]
LOOKALIKE = f"Years on, in another town entirely, {QUOTE} and not a soul turned over in bed for it."
MARKED = f"On the morning she left him {QUOTE} and he did not come down to see her go."
UNMARKED = "On the morning she left him and he did not come down to see her go."


def test_a_deleted_quote_is_lost_though_a_lookalike_stood_after_it_all_along() -> None:
    old = lock_of("\n\n".join([FILLER[0], MARKED, FILLER[1], LOOKALIKE]), [QUOTE], nth=0)
    moved = relock(old, Prose("\n\n".join([FILLER[0], UNMARKED, FILLER[1], LOOKALIKE])), PATH)
    assert moved.lost == (("goals", "g0", QUOTE),)
    assert moved.lock.ledger.goals == ()


def test_a_deleted_quote_is_lost_though_a_lookalike_stood_before_it_all_along() -> None:
    old = lock_of("\n\n".join([LOOKALIKE, FILLER[0], MARKED, FILLER[1]]), [QUOTE], nth=1)
    moved = relock(old, Prose("\n\n".join([LOOKALIKE, FILLER[0], UNMARKED, FILLER[1]])), PATH)
    assert moved.lost == (("goals", "g0", QUOTE),)


@pytest.mark.parametrize("edit", ["Once, years on,", "Years after that,", ""])
def test_a_deleted_quote_is_lost_though_a_lookalike_beside_it_was_edited_too(edit: str) -> None:
    lookalike = LOOKALIKE.replace("Years on,", edit).strip()
    old = lock_of("\n\n".join([FILLER[0], MARKED, LOOKALIKE]), [QUOTE], nth=0)
    assert relock(old, Prose("\n\n".join([FILLER[0], UNMARKED, lookalike])), PATH).kept == 0
    old = lock_of("\n\n".join([LOOKALIKE, MARKED, FILLER[0]]), [QUOTE], nth=1)
    assert relock(old, Prose("\n\n".join([lookalike, UNMARKED, FILLER[0]])), PATH).kept == 0


@pytest.mark.parametrize("between", [[], FILLER[:1], FILLER])
def test_a_deleted_quote_is_lost_though_a_lookalike_was_added_by_the_same_edit(between: list[str]) -> None:
    old = lock_of("\n\n".join([MARKED, *between, "The end came quietly, as ends do."]), [QUOTE])
    added = Prose("\n\n".join([UNMARKED, *between, LOOKALIKE, "The end came quietly, as ends do."]))
    moved = relock(old, added, PATH)
    assert moved.lost == (("goals", "g0", QUOTE),)


@pytest.mark.parametrize("between", [[], FILLER[:1], FILLER])
def test_a_deleted_quote_is_lost_though_a_lookalike_was_added_before_it_by_the_same_edit(
    between: list[str],
) -> None:
    old = lock_of("\n\n".join(["It began in a small way, as such things do.", *between, MARKED]), [QUOTE])
    new = "\n\n".join(["It began in a small way, as such things do.", LOOKALIKE, *between, UNMARKED])
    moved = relock(old, Prose(new), PATH)
    assert moved.lost == (("goals", "g0", QUOTE),)


def test_a_paragraph_deleted_with_its_quote_does_not_lend_it_to_a_new_paragraph() -> None:
    old = lock_of("\n\n".join([FILLER[0], MARKED, FILLER[1], FILLER[2]]), [QUOTE])
    moved = relock(old, Prose("\n\n".join([FILLER[0], FILLER[1], LOOKALIKE, FILLER[2]])), PATH)
    assert moved.lost == (("goals", "g0", QUOTE),)


def test_a_long_quote_deleted_does_not_jump_over_the_shorter_words_between_it_and_a_new_lookalike() -> None:
    long = "the bell of the drowned church rang twice at dawn and once more when nobody was listening"
    marked = f"On the morning she left him {long} and he slept."
    old = lock_of(f"{marked}\n\nYears on, in another town, it was much the same for her.", [long])
    deleted = "On the morning she left him and he slept."
    added = f"Years on, in another town, {long} it was much the same for her."
    moved = relock(old, Prose(f"{deleted}\n\n{added}"), PATH)
    assert moved.lost == (("goals", "g0", long),)


@pytest.mark.parametrize("nth", [0, 1])
def test_two_equal_quotes_keep_their_own_places(nth: int) -> None:
    body = "\n\n".join([MARKED, FILLER[0], LOOKALIKE])
    old = lock_of(body, [QUOTE], nth=nth)
    new = Prose(
        "\n\n".join(
            ["Quite new words stand here first.", MARKED, FILLER[0].replace("herring", "cod"), LOOKALIKE]
        )
    )
    moved = relock(old, new, PATH)
    assert where(moved.lock) == {"g0": [new.find(QUOTE)[nth]]}


def test_two_equal_quotes_in_one_paragraph_keep_their_own_places() -> None:
    body = f"At first {QUOTE} for him. Much later {QUOTE} for her."
    for nth in (0, 1):
        old = lock_of(body, [QUOTE], nth=nth)
        new = Prose(f"Right at first {QUOTE} for him alone. Then, much later {QUOTE} for her.")
        assert where(relock(old, new, PATH).lock) == {"g0": [new.find(QUOTE)[nth]]}
    gone = relock(
        lock_of(body, [QUOTE], nth=0), Prose(f"At first for him. Much later {QUOTE} for her."), PATH
    )
    assert gone.kept == 0


def test_a_quote_in_a_paragraph_that_stands_twice_keeps_its_own_place() -> None:
    body = "\n\n".join([MARKED, FILLER[0], MARKED])
    new = Prose("\n\n".join(["A new beginning of many words.", MARKED, FILLER[0], MARKED]))
    for nth in (0, 1):
        assert where(relock(lock_of(body, [QUOTE], nth=nth), new, PATH).lock) == {
            "g0": [new.find(QUOTE)[nth]]
        }


@pytest.mark.parametrize(
    "changed",
    [
        "the bell rang once at dawn",
        "the bell never rang twice at dawn",
        "the bells rang twice at dawn",
        "the bell rang",
    ],
)
def test_a_quote_with_a_changed_word_is_lost(changed: str) -> None:
    old = lock_of(f"{FILLER[0]}\n\n{MARKED}", [QUOTE])
    moved = relock(old, Prose(f"{FILLER[0]}\n\n{MARKED.replace(QUOTE, changed)}"), PATH)
    assert moved.lost == (("goals", "g0", QUOTE),)
    [apart] = moved.lock.ungrounded
    assert apart.list == "goals"
    assert apart.item == {"id": "g0", "text": "goal 0"}


def test_a_negation_put_before_a_quote_s_verb_loses_the_quote() -> None:
    old = lock_of(
        "By law the trade is permitted in the city. So it went.", ["the trade is permitted in the city"]
    )
    moved = relock(old, Prose("By law the trade is not permitted in the city. So it went."), PATH)
    assert moved.kept == 0


def test_an_item_with_two_quotes_of_which_one_is_lost_stands_on_the_other() -> None:
    body = f"{MARKED}\n\n{FILLER[0]}"
    prose = Prose(body)
    spans = [prose.find(quote)[0] for quote in (QUOTE, "the herring went north")]
    evidence = [{"quote": body[a:b], "start": a, "end": b} for a, b in spans]
    facts = load_ledger(
        {"schema_version": 1, "protagonist": "Y", "goals": [{"id": "g", "text": "t", "evidence": evidence}]}
    )
    old = make_lockfile(prose, facts, Notary(kind="hand"))
    new = Prose(f"{UNMARKED}\n\n{FILLER[0]}")
    moved = relock(old, new, PATH)
    assert (moved.kept, moved.lost) == (1, (("goals", "g", QUOTE),))
    assert where(moved.lock) == {"g": new.find("the herring went north")}
    assert moved.lock.ungrounded == ()


# What nobody has read

NEW = "Then a stranger came with a wooden leg and a letter that he could not read."


def test_a_new_paragraph_is_unread_until_it_is_accepted() -> None:
    old = lock_of("\n\n".join([FILLER[0], MARKED]), [QUOTE])
    with_new = Prose("\n\n".join([FILLER[0], NEW, MARKED]))
    once = relock(old, with_new, PATH).lock
    [part] = once.unread
    assert part.paragraph == 1
    assert with_new.body[part.start : part.end] == NEW
    # Another edit, elsewhere: what was unread stays so, at its new place.
    again = Prose("\n\n".join(["First of all, a word of thanks to all.", FILLER[0], NEW, MARKED]))
    twice = relock(once, again, PATH).lock
    assert [again.body[part.start : part.end] for part in twice.unread] == [
        "First of all, a word of thanks to all.",
        NEW,
    ]
    corrected = Prose(again.body.replace("wooden leg", "wooden  leg,"))
    assert len(relock(twice, corrected, PATH).lock.unread) == 2
    moved_up = Prose("\n\n".join([NEW, FILLER[0], MARKED]))
    assert [moved_up.body[p.start : p.end] for p in relock(twice, moved_up, PATH).lock.unread] == [NEW]
    assert accept(twice).unread == ()
    assert relock(accept(twice), again, PATH).lock.unread == ()


def test_a_relock_of_the_same_prose_keeps_what_is_unread() -> None:
    old = lock_of(MARKED, [QUOTE])
    prose = Prose(f"{MARKED}\n\n{NEW}")
    once = relock(old, prose, PATH).lock
    assert relock(once, prose, PATH).lock == once


@pytest.mark.parametrize(
    ("old", "new", "unread"),
    [
        ("the harbour silted up", "the harbor silted up", False),
        ("went north without a word", "went north, with not a word", False),
        ("and the herring went north", "and the herring, having quarrelled with the cod, went north", True),
        ("the harbour silted up and", "and", False),
    ],
)
def test_a_corrected_typo_is_read_and_a_new_clause_is_not(old: str, new: str, unread: bool) -> None:
    lock = lock_of(f"{FILLER[0]}\n\n{MARKED}", [QUOTE])
    moved = relock(lock, Prose(f"{FILLER[0].replace(old, new)}\n\n{MARKED}"), PATH)
    assert bool(moved.lock.unread) is unread


def test_new_words_at_the_end_of_one_paragraph_and_the_start_of_the_next_are_not_one_run() -> None:
    lock = lock_of(f"{FILLER[0]}\n\n{MARKED}", [QUOTE])
    moved = relock(lock, Prose(f"{FILLER[0]} Quite so.\n\nWell then. {MARKED}"), PATH)
    assert moved.lock.unread == ()


def test_accepting_drops_what_a_person_lost_and_keeps_what_a_model_could_not_ground() -> None:
    lock = lock_of(MARKED, [QUOTE])
    gone = relock(lock, Prose(UNMARKED), PATH).lock
    assert len(gone.ungrounded) == 1
    assert accept(gone).ungrounded == ()
    never = Ungrounded(list="hooks", item={"text": "a dragon"}, reason="not in the prose")
    by_model = gone.model_copy(
        update={"notary": Notary(kind="model"), "ungrounded": (*gone.ungrounded, never)}
    )
    assert accept(by_model).ungrounded == (never,)


def test_what_an_edit_took_away_is_not_held_against_the_notary() -> None:
    """A model's reading of two items, one lost by an edit: half would be ungrounded, were it the Notary's doing."""
    gone = relock(lock_of(MARKED, [QUOTE]), Prose(UNMARKED), PATH).lock
    kept = lock_of(MARKED, [QUOTE]).ledger
    by_model = gone.model_copy(update={"notary": Notary(kind="model"), "ledger": kept})
    assert by_model.too_little_grounded is None
    never = by_model.ungrounded[0].model_copy(update={"lost": False})
    assert by_model.model_copy(update={"ungrounded": (never,)}).too_little_grounded is not None


# References


def people() -> tuple[str, dict[str, Any]]:
    body = (
        "Odo Marsh owes her a boat and a dog.\n\nPiet Oss rowed her over at night.\n\n"
        "They quarrelled about the oars until morning.\n\nHe will come for the boat soon."
    )
    prose = Prose(body)

    def at(quote: str) -> list[dict[str, Any]]:
        [(start, end)] = prose.find(quote)
        return [{"quote": quote, "start": start, "end": end}]

    return body, {
        "schema_version": 1,
        "protagonist": "Ysolde",
        "npcs": [
            {"id": "odo", "name": "Odo Marsh", "status": "dead", "evidence": at("Odo Marsh owes her a boat")},
            {"id": "piet", "name": "Piet Oss", "status": "alive", "evidence": at("Piet Oss rowed her over")},
        ],
        "events": [
            {"id": "e1", "phase": "P2", "summary": "s", "evidence": at("They quarrelled about the oars"),
             "relations": [{"npc": "odo", "status": "dead"}, {"npc": "piet", "status": "alive"}]},
        ],
        "hooks": [{"id": "h1", "text": "t", "tier": 1, "npc": "odo", "evidence": at("He will come for the boat")}],
    }  # fmt: skip


def test_a_person_who_loses_every_quote_leaves_no_dangling_reference(tmp_path: Path) -> None:
    body, data = people()
    old = make_lockfile(Prose(body), load_ledger(data), Notary(kind="hand"))
    new = Prose(body.replace("Odo Marsh owes her a boat and a dog.", "There was once a boat, and a dog."))
    moved = relock(old, new, PATH).lock
    assert [npc.id for npc in moved.ledger.npcs] == ["piet"]
    assert moved.ledger.hooks[0].npc is None
    assert [relation.npc for relation in moved.ledger.events[0].relations] == ["piet"]
    assert [(apart.list, apart.item["id"]) for apart in moved.ungrounded] == [("npcs", "odo")]
    path = tmp_path / "tale.ledger.json"
    write_lockfile(moved, path)
    verify(load_lockfile(path), new, path)


def test_an_event_that_is_lost_leaves_a_ledger_that_loads(tmp_path: Path) -> None:
    body, data = people()
    data["events"].append(
        {"id": "e2", "phase": "P3", "summary": "s", "relations": [{"npc": "piet", "status": "dead"}],
         "evidence": [{"quote": body[-15:-1], "start": len(body) - 15, "end": len(body) - 1}]}
    )  # fmt: skip
    data["npcs"][1]["status"] = "dead"
    old = make_lockfile(Prose(body), load_ledger(data), Notary(kind="hand"))
    new = Prose(body.replace("the boat soon", "the dog soon"))
    moved = relock(old, new, PATH).lock
    assert [event.id for event in moved.ledger.events] == ["e1"]
    # The status that stands is the last one given by an event that stands.
    assert {npc.id: npc.status for npc in moved.ledger.npcs} == {"odo": "dead", "piet": "alive"}
    path = tmp_path / "tale.ledger.json"
    write_lockfile(moved, path)
    verify(load_lockfile(path), new, path)


# Nothing to do, much to do, nothing to go by


def test_relocking_unchanged_prose_changes_no_byte(tmp_path: Path) -> None:
    path = tmp_path / "tale.ledger.json"
    write_lockfile(lock_of("\n\n".join(ENGLISH), ENGLISH_QUOTES), path)
    before = path.read_bytes()
    for same in ("\n\n".join(ENGLISH), "\ufeff" + "\r\n\r\n".join(ENGLISH) + "\r\n"):
        moved = relock(load_lockfile(path), Prose(same), path)
        assert (moved.kept, moved.lost) == (len(ENGLISH_QUOTES), ())
        write_lockfile(moved.lock, path)
        assert path.read_bytes() == before


def test_an_edit_and_its_undoing_give_the_first_lockfile_back(tmp_path: Path) -> None:
    body = "\n\n".join(ENGLISH)
    old = lock_of(body, ENGLISH_QUOTES)
    there = relock(old, Prose(f"Word up. {body}"), PATH).lock
    back = relock(there, Prose(body), PATH).lock
    assert back == old


def test_long_prose_is_relocked() -> None:
    paragraphs = [
        f"Day {n}: " + " ".join(f"{word}{n % 7}" for word in FILLER[n % 3].split()) for n in range(260)
    ]
    paragraphs[130] = MARKED
    old = lock_of("\n\n".join(paragraphs), [QUOTE])
    assert len(old.fingerprint.words if old.fingerprint else "") > 4 * 5000
    edited_too = [text.replace("the", "a", 1) for text in paragraphs]
    edited_too[130] = MARKED
    moved = relock(old, Prose("\n\n".join(edited_too)), PATH)
    assert (moved.kept, moved.lost) == (1, ())


def test_a_stale_lockfile_without_a_fingerprint_is_an_error() -> None:
    old = lock_of(MARKED, [QUOTE]).model_copy(update={"fingerprint": None})
    with pytest.raises(InputError, match="no fingerprint of the prose that was read; lock the story anew"):
        relock(old, Prose(UNMARKED), PATH)


@pytest.mark.parametrize(
    "mark",
    [
        {"words": "", "paragraphs": [], "at": {}},
        {"words": "abc", "paragraphs": [0, 0, 7], "at": {}},
        {"words": "abcd" * 20, "paragraphs": [900, 3], "at": {}},
        {"words": "abcd" * 20, "paragraphs": [5, 9], "at": {}},
        {"words": "abcd" * 20, "paragraphs": [9, 2, 5], "at": {"28-55": [0, 3]}},
        {"words": "abcd" * 20, "paragraphs": [0], "at": {"28-55": [0, 10**15]}},
        {"words": "abcd" * 20, "paragraphs": [0], "at": {"28-55": [10**15, 0]}},
    ],
)
def test_a_fingerprint_that_was_tampered_with_loses_quotes_and_nothing_else(mark: dict[str, Any]) -> None:
    data = json.loads(lock_of(MARKED, [QUOTE]).model_dump_json()) | {"fingerprint": mark}
    data["unread"] = [{"paragraph": 9, "start": 0, "end": 10**9}]
    moved = relock(Lockfile.model_validate(data), Prose(UNMARKED), PATH)
    assert moved.kept == 0
    assert moved.lock.ledger.goals == ()


@settings(deadline=None)
@given(
    st.lists(
        st.sampled_from(["the bell rang", "twice", "at dawn", "no", "\n\n"]), min_size=1, max_size=14
    ).map(" ".join)
)
def test_whatever_the_edit_a_quote_that_is_kept_stands_on_its_words(body: str) -> None:
    prose = Prose(body)
    assume(prose.body)
    old = lock_of(
        f"{FILLER[0]} the bell rang twice at dawn no twice\n\nat dawn the bell rang", ["twice at dawn"]
    )
    moved = relock(old, prose, PATH)
    verify(moved.lock, prose, PATH)
    assert moved.kept + len(moved.lost) == 1
