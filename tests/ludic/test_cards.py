"""Character cards, actors and plain text: what of them is a story, and what is wrong with those that cannot be read."""

import json
import sys
import tracemalloc
import zipfile
import zlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ludic_deepeval.errors import InputError
from ludic_deepeval.files import write_atomic
from ludic_deepeval.lookup import story_of
from ludic_deepeval.sources import find_stories, read_story
from ludic_deepeval.sources.in_html import html_pieces
from ludic_deepeval.sources.located import Located
from ludic_deepeval.sources.macros import expanded

sys.path.insert(0, str(Path(__file__).parent))  # no package: it would shadow the library

from made_cards import AQUA, archive, bomb, bomb_archive, chunk, image, itxt, packed, text, ztxt

Ludic = Callable[..., Any]
SAMPLES = Path(__file__).parents[3] / "shared/samples"
PROSE = """\
Aqua kept the lock-gate until it drowned a barge.

Odo Marsh still wants User to pay for it.

Somebody has paid for the bell not to ring."""
SHEET = """\
sheet: 1
protagonist: Aqua
people:
- {name: Odo Marsh, id: odo, quote: Odo Marsh still wants User to pay, status: alive, tie: enemy, unresolved: true}
hooks:
- {text: he wants to be paid, id: debt, quote: still wants User to pay for it, tier: 1, npc: odo}
"""


def variant(**fields: Any) -> dict[str, Any]:
    return {**AQUA, "data": AQUA["data"] | fields}


def dumped(card: Any) -> bytes:
    return json.dumps(card, ensure_ascii=False, indent=1).encode()


V1 = {
    key: AQUA["data"][key]
    for key in ("name", "description", "personality", "scenario", "first_mes", "mes_example")
}
V3 = variant(nickname="Aqua", name="Aqua of the Lock") | {"spec": "chara_card_v3", "spec_version": "3.0"}
FORMS = {
    "v1.json": dumped(V1),
    "v2.json": dumped(AQUA),
    "v3.json": dumped(V3),
    "bom.json": b"\xef\xbb\xbf" + dumped(AQUA),
    "compact.json": json.dumps(AQUA).encode(),
    "both.json": dumped(AQUA | V1 | {"description": "An older text."}),
    "card.yaml": yaml.safe_dump(AQUA, sort_keys=False).encode(),
    "card.txt": dumped(AQUA),
    "text.png": image(text("chara", packed(AQUA))),
    "ztxt.png": image(ztxt("chara", packed(AQUA))),
    "itxt.png": image(itxt("chara", packed(AQUA), compressed=False)),
    "itxt-packed.png": image(itxt("Chara", packed(AQUA), compressed=True)),
    "bare.png": image(itxt("chara", dumped(AQUA), compressed=False)),
    "wins.png": image(text("chara", packed(variant(description="Old."))), text("ccv3", packed(V3))),
    "huge.png": image(text("chara", packed(AQUA)), wide=100_000, high=100_000),
    "no-ending": image(text("chara", packed(AQUA))),
    "card.charx": archive({"card.json": dumped(V3), "assets/icon/image/1.png": image()}),
}


@pytest.fixture(params=FORMS)
def card(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    path = tmp_path / request.param
    path.write_bytes(FORMS[request.param])
    return path


def test_a_card_of_every_version_and_container_is_the_same_story(card: Path) -> None:
    story = read_story(card)
    assert story.prose.body == PROSE
    assert story.lockfile.name == f"{card.name}.ledger.json"
    assert find_stories([card]) == [card]


def test_every_character_stands_where_it_is_written_in_the_cards_text(card: Path) -> None:
    story = read_story(card)
    lines = story.prose.raw.removeprefix("\ufeff").split("\n")
    for words in ("kept the lock-gate", "Odo Marsh", "to pay for it", "Somebody has paid"):
        place = story.prose.place(story.prose.body.index(words))
        assert lines[place.line - 1][place.column - 1 :].startswith(words.split()[0])
    # What stands for {{ USER }} begins where the braces do.
    place = story.prose.place(story.prose.body.index("User"))
    assert lines[place.line - 1][place.column - 1 :].startswith("{{ USER }}")


def test_what_was_read_and_what_was_not_is_said(tmp_path: Path, monkeypatch: Any, ludic: Ludic) -> None:
    monkeypatch.chdir(tmp_path)
    Path("aqua.png").write_bytes(FORMS["text.png"])
    # 10 (lock-gate is two) + 9 + 9 words
    said = "read description, scenario (28 words); skipped first_mes; its character_book is its Story Bible"
    assert ludic("annotate", "aqua.png").err.strip() == f"aqua.png: {said}"
    ran = ludic("check", "aqua.png", "--json")
    [finding] = [one for one in json.loads(ran.out)["stories"][0]["findings"] if one["code"] == "fields-read"]
    assert (finding["severity"], finding["message"]) == ("note", said)


def test_a_card_goes_from_file_to_verdict_with_its_own_lorebook(
    tmp_path: Path, monkeypatch: Any, ludic: Ludic
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("aqua.png").write_bytes(FORMS["text.png"])
    write_atomic(Path("aqua.png.marks.yaml"), SHEET)
    assert ludic("lock", "aqua.png").code == 0
    assert story_of(Path("aqua.png.ledger.json")).path == Path("aqua.png")  # type: ignore[union-attr]  # it is there
    ran = ludic("check", ".", "--json")
    [story] = json.loads(ran.out)["stories"]
    assert (story["path"], story["state"], story["components"]["rtn"] > 0) == ("aqua.png", "read", True)
    # A linkage that names nothing of the lorebook is told under the lorebook's name.
    Path("aqua.png.marks.yaml").write_text(
        SHEET
        + "events:\n- {phase: youth, id: barge, summary: a barge drowns, quote: it drowned a barge, immediacy: 5, gravity: 5, linkage: 9, divergence: 5}\n"
    )
    ludic("lock", "aqua.png")
    assert "linkage 9, but it names nothing of The Long Lock" in ludic("check", "aqua.png").out


def test_a_card_with_a_broken_lorebook_says_where_it_is_broken(tmp_path: Path, ludic: Ludic) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(dumped(variant(character_book={"entries": [{"keys": 5}]})))
    write_atomic(tmp_path / "a.json.marks.yaml", SHEET)
    assert ludic("lock", path).code == 0
    ran = ludic("check", path)
    assert (ran.code, ran.err) == (
        2,
        f"ludic: {path}: data.character_book.entries.0.keys: found 5; allowed: a list of words\n",
    )


def test_front_matter_stands_beside_a_card(tmp_path: Path, monkeypatch: Any, ludic: Ludic) -> None:
    path = tmp_path / "aqua.json"
    path.write_bytes(FORMS["v2.json"])
    (tmp_path / "aqua.json.about.yaml").write_text("title: The Keeper\nprofile: one-shot\nbible: lock\n")
    story = read_story(path)
    assert (story.front.title, story.front.profile, story.book) == ("The Keeper", "one-shot", None)


def test_two_cards_in_an_image_that_are_not_the_same_are_told(tmp_path: Path) -> None:
    path = tmp_path / "a.png"
    path.write_bytes(FORMS["wins.png"])
    assert ("card-disagrees", "ccv3 and chara disagree in name, description; ccv3 is read") in read_story(
        path
    ).remarks
    path.write_bytes(image(text("chara", packed(AQUA)), text("ccv3", b"!!!")))
    assert (
        "card-disagrees",
        "the chunk ccv3 cannot be used (the chunk ccv3 is no base64); chara is read",
    ) in read_story(path).remarks
    path.write_bytes(image(text("chara", packed(AQUA)), text("ccv3", packed(AQUA))))
    assert [code for code, _ in read_story(path).remarks] == ["fields-read"]
    path.write_bytes(image(text("chara", packed(AQUA)), text("chara", packed(variant(scenario="x")))))
    assert ("card-disagrees", "two chunks chara disagree in scenario; the first is read") in read_story(
        path
    ).remarks


@pytest.mark.parametrize(
    "book",
    [
        None, [], {}, {"entries": []}, {"entries": [{"keys": ["x"], "content": "y", "enabled": False}]},
        {"entries": [{"keys": ["x"], "content": "@@dont_activate\ny"}]}, {"entries": [{}]},
    ],
)  # fmt: skip
def test_a_card_without_a_lorebook_is_a_card(tmp_path: Path, book: Any) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(dumped(variant(character_book=book)))
    assert (read_story(path).prose.body, read_story(path).book) == (PROSE, None)


BROKEN = {
    "no base64": (image(text("chara", b"%%%")), "the chunk chara is no base64"),
    "base64 of no JSON": (image(text("chara", packed("plain")[:-4])), "the chunk chara"),
    "base64 of other JSON": (image(text("chara", packed({"a": 1}))), "the chunk chara holds no card"),
    "a list": (image(text("chara", packed([1]))), "the chunk chara holds no card"),
    "no text": (image(text("chara", b"/////w==")), "the chunk chara: byte 0xff is not UTF-8"),
    "no card": (image(), "no character card in this file"),
    "bomb in a chunk": (image(chunk(b"zTXt", b"chara\0\0" + bomb())), "the chunk chara unpacks to more than 8,192 KiB"),
    "cut chunk": (image(chunk(b"zTXt", b"chara\0\0" + zlib.compress(packed(AQUA))[:-9])), "the chunk chara is cut off"),
    "no zlib": (image(chunk(b"zTXt", b"chara\0\0abc")), "the chunk chara cannot be unpacked"),
    "other method": (image(chunk(b"zTXt", b"chara\0\x07abc")), "the chunk chara is packed in an unknown way"),
    "cut image": (FORMS["text.png"][:120], "the image is cut off in its chunk tEXt"),
    "checksum": (FORMS["text.png"].replace(b"chara\0e", b"chara\0f"), "the chunk chara is damaged: its checksum does not fit"),
    "large image": (image(text("chara", packed(AQUA)), chunk(b"IDAT", b"\0" * 10 * 1024 * 1024)), "an image of more than 10,240 KiB"),
    "zip bomb": (bomb_archive(), "card.json unpacks to more than 8,192 KiB"),
    "way out": (archive({"card.json": dumped(AQUA), "../../etc/passwd": b"x"}), "the archive holds '../../etc/passwd'"),
    "absolute": (archive({"/etc/passwd": b"x", "card.json": dumped(AQUA)}), "the archive holds '/etc/passwd'"),
    "windows": (archive({"C:\\x": b"x", "card.json": dumped(AQUA)}), "the archive holds 'C:"),
    "no card.json": (archive({"x.json": b"{}"}), "no character card in this file"),
    "cut archive": (FORMS["card.charx"][:-30], "a damaged archive: its end is missing"),
    "lzma": (archive({"card.json": dumped(AQUA)}, zipfile.ZIP_LZMA), "card.json is packed in an unknown way"),
    "many files": (archive({f"assets/{'x' * 200}{n}": b"" for n in range(5000)}, zipfile.ZIP_STORED), "an archive of too many files"),
    "broken JSON": (b'{"spec": "chara_card_v2", ', "not valid JSON"),
    "data no object": (dumped({"spec": "chara_card_v2", "data": "x"}), "data: found 'x'"),
    "no data": (dumped({"spec": "chara_card_v2"}), "data: found nothing"),
    "field no text": (dumped(variant(description=["x"])), "data.description: found a list"),
    "empty": (dumped(variant(description="", scenario=" ")), "no prose in this card"),
    "twice": (b'{"spec": "chara_card_v2", "data": {"description": "x", "description": "y"}}', "the key 'description' is given twice"),
    "surrogate": (b'{"spec": "chara_card_v2", "data": {"description": "\\ud800"}}', "half of a surrogate pair"),
    "deep": (b'{"spec": "chara_card_v2", "data": ' + b"[" * 100_000, "nested too deeply"),
}  # fmt: skip


@pytest.mark.parametrize("fault", BROKEN)
def test_a_card_that_cannot_be_used_is_one_clear_line(tmp_path: Path, ludic: Ludic, fault: str) -> None:
    data, message = BROKEN[fault]
    path = tmp_path / "card"
    path.write_bytes(data)
    tracemalloc.start()
    ran = ludic("check", path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert ran.code == 2
    [line] = ran.err.splitlines()
    assert line.startswith(f"ludic: {path}: ")
    assert message in line
    assert peak < 64 * 1024 * 1024


@pytest.mark.parametrize(
    "name",
    [
        "text.png",
        "ztxt.png",
        "itxt-packed.png",
        "card.charx",
        "v2.json",
        "card.yaml",
        "actor.yml",
        "tale.txt",
    ],
)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_card_with_any_bytes_changed_is_a_story_or_a_clear_line(
    tmp_path: Path, name: str, data: st.DataObject
) -> None:
    others = {"actor.yml": yaml.safe_dump(ACTOR).encode(), "tale.txt": b"---\ntitle: x\n---\nA [[tale]].\n"}
    whole = bytearray((FORMS | others)[name])
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(whole) - 1))
        what = data.draw(st.sampled_from(["flip", "cut", "double"]))
        if what == "flip":
            whole[at] ^= data.draw(st.integers(1, 255))
        elif what == "cut":
            del whole[at : at + data.draw(st.integers(1, 40))]
            whole = whole or bytearray(b"x")
        else:
            whole[at:at] = whole[at : at + 40]
    path = tmp_path / name
    path.write_bytes(bytes(whole))
    with suppress(InputError):  # which is one line, whatever it is about
        [found] = find_stories([path])
        story = read_story(found)
        story.prose.place(len(story.prose.body))


def test_a_folder_gives_its_cards_and_passes_over_other_files(tmp_path: Path) -> None:
    for name in ("text.png", "card.charx", "v2.json", "card.yaml"):
        (tmp_path / name).write_bytes(FORMS[name])
    for name, data in {
        "art.png": image(),
        "save.zip": archive({"a": b"b"}),
        "package.json": b'{"name": "x", "biography": 1}',
        "notes.txt": b"Only when it is named.",
        ".hidden.png": FORMS["text.png"],
        "_draft.json": FORMS["v2.json"],
        "x.about.yaml": b"title: first_mes",
        "bible/lore.json": FORMS["v2.json"],
        "deep/x.json.ludic/x.json": FORMS["v2.json"],
        "deep/aqua.json": FORMS["v1.json"],
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(data)
    (tmp_path / "out.json").symlink_to(Path(__file__).parent / "made_cards.py")
    assert [path.relative_to(tmp_path).as_posix() for path in find_stories([tmp_path])] == [
        "card.charx", "card.yaml", "deep/aqua.json", "text.png", "v2.json",
    ]  # fmt: skip


def test_the_settings_say_more_than_the_contents_do(tmp_path: Path) -> None:
    (tmp_path / "card.json").write_bytes(FORMS["v2.json"])
    (tmp_path / "ludic.toml").write_text(
        '[[sources]]\nfiles = ["*.json"]\nkind = "json"\npointer = "/data/first_mes"\nid = "../name"\n'
    )
    assert find_stories([tmp_path]) == [tmp_path / "card.json#Aqua"]
    assert read_story(tmp_path / "card.json#Aqua").prose.body == "Hello, {{user}}."


def test_macros_are_expanded_once_and_others_stay() -> None:
    assert expanded(
        "{{Char}} <BOT> {{ user }} <User> {{random:a,b}} {{//no}}{{comment: x}}!", "{{user}}"
    ) == ("{{user}} {{user}} User User {{random:a,b}} !")


# Foundry

ACTOR: dict[str, Any] = {
    "name": "Merrin",
    "type": "character",
    "system": {
        "details": {
            "biography": {
                "value": "<h2>Youth</h2><p title='a > b'>She <b>burned</b> the&nbsp;mill &amp; ran.</p>\n<script>alert('x')</script><style>p {}</style>"
                "<ul><li>one debt</li><li>two names</li></ul><!-- hidden --><p>@UUID[Actor.x]{Odo Marsh} knows.</p>",
                "public": "<p>A miller.</p>",
            },
            "ideal": "",
            "bond": "My sister is still in the cellar.",
            "flaw": None,
            "trait": "I count doors.",
            "appearance": "<p>Small.</p>",
        }
    },
}
TOLD = "Youth\n\nShe burned the mill & ran.\n\none debt\ntwo names\n\nOdo Marsh knows.\n\nI count doors.\n\nMy sister is still in the cellar."


@pytest.mark.parametrize("name", ["merrin.json", "merrin.yml", "fvtt-Actor-merrin.data"])
def test_an_actors_biography_is_its_text_without_tags_and_scripts(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(yaml.safe_dump(ACTOR).encode() if name.endswith("yml") else dumped(ACTOR))
    story = read_story(path)
    assert story.prose.body == TOLD
    assert story.front.title == "Merrin"
    # 1 + 6 (& is no word: 5) + 2 + 2 + 3 + 3 + 7
    assert (
        story.remarks[0][1]
        == "read biography.value, trait, bond (23 words); skipped biography.public, appearance"
    )
    place = story.prose.place(story.prose.body.index("Odo"))
    line = story.prose.raw.split("\n")[place.line - 1]
    assert line[place.column - 1 :].startswith("@UUID")


def test_an_old_actor_and_one_without_words(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(dumped({"name": "A", "data": {"details": {"biography": "<p>Plain words.</p>"}}}))
    assert read_story(path).prose.body == "Plain words."
    path.write_bytes(dumped({"name": "A", "system": {"details": {"biography": {"value": "<p> </p>"}}}}))
    with pytest.raises(InputError, match="no prose in this actor"):
        read_story(path)
    path.write_bytes(dumped({"name": "A", "system": {"details": {"biography": {"value": 7}}}}))
    with pytest.raises(InputError, match=r"system\.details\.biography\.value: found 7"):
        read_story(path)


@pytest.mark.parametrize(
    ("html", "said"),
    [
        ("a < b and 3 <4", "a < b and 3 <4"),
        ("x<br>y<br/>z", "x\ny\nz"),
        ("<p>a<script>b", "a"),
        ("<SCRIPT >x</sCript >a", "a"),
        ("a <b title='", "a"),
        ("a<!-- b", "a"),
        ("<td>a</td><td>b</td>", "a b"),
        ("&lt;script&gt;x&lt;/script&gt;", "<script>x</script>"),
        ("<img src=x onerror=alert(1)>a", "a"),
        ("<svg/>a", "a"),
        ("a&#x41;&bogus;&#0;", "aA&bogus;\ufffd"),
        ("", ""),
    ],
)
def test_html_is_what_a_browser_would_show(html: str, said: str) -> None:
    assert Located(html, range(len(html) + 1)).respelled(html_pieces(html)).text == said


@settings(max_examples=200, deadline=None)
@given(st.text(st.sampled_from("<>/!-'\"&;pscrit = \na@U[]{}"), max_size=60))
def test_html_of_any_kind_gives_a_text_whose_places_never_go_back(html: str) -> None:
    found = Located(html, range(len(html) + 1)).respelled(html_pieces(html))
    assert len(found.at) == len(found.text) + 1
    assert list(found.at) == sorted(found.at)


# Plain text


def test_a_text_file_is_a_story_with_front_matter_if_it_has_any(
    tmp_path: Path, monkeypatch: Any, ludic: Ludic
) -> None:
    path = tmp_path / "tale.txt"
    path.write_text("---\ntitle: A Tale\n---\nOdo [[Marsh]] knows.\n")
    story = read_story(path)
    assert (story.prose.body, story.front.title, story.lockfile.name) == (
        "Odo [[Marsh]] knows.", "A Tale", "tale.txt.ledger.json",
    )  # fmt: skip
    path.write_text(
        "name: Odo\nHe read every biography: twice\n- and more: {\n"
    )  # looks like YAML and is prose
    assert read_story(path).prose.body.startswith("name: Odo")
    path.write_bytes(b"\x00\x01binary")
    assert "a NUL character" in ludic("check", path).err


def test_a_text_file_of_choices_is_a_branching_story(tmp_path: Path) -> None:
    path = tmp_path / "tale.txt"
    path.write_text(
        "The gate is shut.\n*choice\n  #Knock.\n    Nobody comes.\n    *finish\n  #Wait.\n    It opens.\n    *finish\n"
    )
    assert "*choice" not in read_story(path).prose.body


# Samples of others


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("cards/baseline_v3_small.png", "A synthetic test character."),
        ("cards/baseline_v3_small.charx", "A synthetic test character."),
        ("cards/hybrid_format_v2.json", "A synthetic test character."),
        (
            "foundry/merric-halfling-barbarian.yml",
            "Merric was once a vigilante, due to her innate sense of street justice.",
        ),
    ],
)
def test_the_samples_are_read(name: str, words: str) -> None:
    if not (SAMPLES / name).is_file():
        pytest.skip("../shared is not here")
    assert read_story(SAMPLES / name).prose.body.startswith(words)


def test_a_card_is_read_as_another_program_reads_it(tmp_path: Path) -> None:
    tavern = pytest.importorskip("tavern_card", reason="the extra formats is not installed")
    path = tmp_path / "a.png"
    for name in ("text.png", "ztxt.png"):
        path.write_bytes(FORMS[name])
        fields = tavern.parse_png_card(FORMS[name])["data"]
        mine = read_story(path).prose.body
        texts = (fields[key] for key in ("description", "personality", "scenario"))
        assert mine == expanded("\n\n".join(text for text in texts if text), "Aqua")
