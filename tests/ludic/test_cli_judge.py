"""`ludic judge`: a request in, an answer out, and a service that no request ends."""

import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from ludic_deepeval import submission
from ludic_deepeval.cli_judge import serve_lines, serve_one
from ludic_deepeval.ledger import Evidence, FactLedger, Goal
from ludic_deepeval.policy import Policy

SUBMISSIONS = Path(__file__).parent / "data" / "submissions"
POLICY = Policy(profile="submission")
NULLABLE_NUMBER = {"type": ["number", "null"]}
ANSWER = {
    "type": "object",
    "additionalProperties": False,
    "required": [
        "version", "id", "state", "verdict", "profile", "language", "words", "caveat", "tier", "lpi", "pcv", "gate",
        "consistency", "findings", "more_findings", "fixes", "reply", "unscored",
    ],
    "properties": {
        "version": {"const": 1},
        "id": {"type": ["string", "null"]},
        "state": {"enum": ["read", "unread", "unscored"]},
        "verdict": {"enum": ["accept", "revise", "contradiction", None]},
        "profile": {"enum": ["campaign", "one-shot", "cosy", "submission"]},
        "language": {"enum": ["en", "zh"]},
        "words": {"type": "integer"},
        "caveat": {"type": ["string", "null"]},
        "tier": {"enum": ["campaign", "one-shot", "insufficient", None]},
        "lpi": NULLABLE_NUMBER,
        "pcv": NULLABLE_NUMBER,
        "gate": {"type": ["object", "null"], "required": ["passed", "reasons"]},
        "consistency": {"type": ["object", "null"], "required": ["score", "temporal", "lore", "faults"]},
        "findings": {"type": "array", "items": {"required": ["code", "severity", "message", "line", "column", "quote"]}},
        "more_findings": {"type": "boolean"},
        "fixes": {"type": "array", "items": {"required": ["text", "changes", "lpi", "pcv"]}},
        "reply": {"type": ["string", "null"]},
        "unscored": {"type": ["object", "null"], "required": ["cause", "reason"]},
    },
}  # fmt: skip
ERROR = {
    "type": "object",
    "additionalProperties": False,
    "required": ["version", "id", "error"],
    "properties": {
        "version": {"const": 1},
        "id": {"type": ["string", "null"]},
        "error": {"required": ["message", "found", "where", "allowed", "hint"], "properties": {"message": {"pattern": r"\A[^\n]+\Z"}}},
    },
}  # fmt: skip


def one(data: bytes, **more: Any) -> tuple[int, dict[str, Any]]:
    out = io.StringIO()
    code = serve_one(io.BytesIO(data), out, POLICY, **more)
    return code, json.loads(out.getvalue())


def many(data: bytes) -> tuple[int, list[dict[str, Any]]]:
    out = io.StringIO()
    code = serve_lines(io.BytesIO(data), out, POLICY)
    return code, [json.loads(line) for line in out.getvalue().splitlines()]


def stored(name: str) -> bytes:
    return (SUBMISSIONS / f"{name}.json").read_bytes()


def line(name: str) -> bytes:
    return json.dumps(json.loads(stored(name))).encode() + b"\n"


@pytest.mark.parametrize(
    ("name", "code", "verdict"),
    [
        ("short-and-ready", 0, "accept"),
        ("lone-wolf", 1, "revise"),
        ("speech-of-the-dead", 1, "contradiction"),
    ],
)
def test_one_request_gets_one_answer_and_its_exit_code(name: str, code: int, verdict: str) -> None:
    found, answer = one(stored(name))
    jsonschema.validate(answer, ANSWER)
    assert (found, answer["id"], answer["verdict"]) == (code, name, verdict)


def test_an_unread_text_falls_short_and_says_why() -> None:
    code, answer = one(b'{"version": 1, "text": "Mara waits."}')
    jsonschema.validate(answer, ANSWER)
    assert (code, answer["state"], answer["reply"]) == (1, "unread", None)
    assert answer["unscored"]["cause"] == "unread"


def test_a_bad_request_is_an_error_in_json_and_one_line_for_people(
    capsys: pytest.CaptureFixture[str],
) -> None:
    code, answer = one(b'{"version": 1, "id": "a7", "text": "x", "ledger": {"schema_version": 1}}')
    jsonschema.validate(answer, ERROR)
    assert (code, answer["id"]) == (2, "a7")
    assert answer["error"]["where"] == "protagonist"
    assert capsys.readouterr().err == f"ludic: {answer['error']['message']}\n"


def test_each_line_is_answered_in_order_and_a_bad_one_does_not_end_the_service() -> None:
    data = b"".join(
        [line("lone-wolf"), b"not json\n", b"\n", line("short-and-ready"), b'{"version": 1, "text": "Mara."}']
    )
    code, answers = many(data)
    assert code == 2
    assert [answer.get("verdict", "error") for answer in answers] == [
        "revise",
        "error",
        "error",
        "accept",
        None,
    ]
    for answer in answers:
        jsonschema.validate(answer, ERROR if "error" in answer else ANSWER)
    assert many(line("short-and-ready"))[0] == 0
    assert many(line("short-and-ready") + line("spam"))[0] == 1
    assert many(b"") == (0, [])


def test_an_answer_is_one_line_whatever_the_text_holds() -> None:
    request = json.loads(stored("lone-wolf"))
    request["text"] = request["text"].replace(". ", ".\r\n\u2028\u0085\x0b")
    out = io.StringIO()
    serve_lines(io.BytesIO(json.dumps(request).encode() + b"\r\n"), out, POLICY)
    assert out.getvalue().count("\n") == 1
    assert json.loads(out.getvalue())["verdict"] == "revise"


def test_an_answer_is_flushed_before_the_next_line_is_read() -> None:
    class Out(io.StringIO):
        flushed = ""

        def flush(self) -> None:
            self.flushed = self.getvalue()

    class In(io.BytesIO):
        def readline(self, size: int | None = -1) -> bytes:
            assert out.flushed == out.getvalue()
            return super().readline(size)

    out = Out()
    serve_lines(In(line("spam") * 3), out, POLICY)
    assert out.flushed.count("\n") == 3


class Endless(io.RawIOBase):
    """A stream that goes on, and remembers how much was taken from it and in what pieces."""

    def __init__(self, total: int, last: bytes = b"") -> None:
        self.left, self.last, self.largest, self.taken = total, last, 0, 0

    def read(self, size: int = -1) -> bytes:
        return self.readline(size)

    def readline(self, size: int | None = -1) -> bytes:
        assert size is not None
        assert size > 0, "read without a limit"
        self.largest = max(self.largest, size)
        if not self.left:
            found, self.last = self.last, b""
            return found
        part = min(size, self.left)
        self.left -= part
        self.taken += part
        return b"x" * part


def test_no_more_than_the_limit_is_read_of_one_request(monkeypatch: pytest.MonkeyPatch) -> None:
    stream, out = Endless(10**9), io.StringIO()
    assert serve_one(stream, out, POLICY) == 2  # type: ignore[arg-type]  # it has what is called
    assert stream.taken == submission.MAX_REQUEST_BYTES + 1
    assert "larger than 2,048 KiB" in json.loads(out.getvalue())["error"]["message"]


def test_a_line_without_end_is_passed_over_in_small_pieces_and_the_next_is_answered() -> None:
    class Long(Endless):
        ended = False

        def readline(self, size: int | None = -1) -> bytes:
            if not self.left and not self.ended:
                self.ended = True
                return b"\n"
            return super().readline(size)

    stream, out = Long(50_000_000, b'{"version": 1, "text": "Mara."}'), io.StringIO()
    assert serve_lines(stream, out, POLICY) == 2  # type: ignore[arg-type]  # it has what is called
    first, second = [json.loads(answer) for answer in out.getvalue().splitlines()]
    assert "larger than" in first["error"]["message"]
    assert second["state"] == "unread"
    assert stream.largest == submission.MAX_REQUEST_BYTES + 2


@pytest.mark.parametrize("extra", [0, 1])
def test_a_line_may_be_just_as_long_as_a_request(extra: int) -> None:
    head = b'{"version": 1, "text": "Mara."}'
    data = head + b" " * (submission.MAX_REQUEST_BYTES - len(head) + extra) + b"\n"
    code, answers = many(data + line("short-and-ready"))
    assert ("error" in answers[0]) is bool(extra)
    assert (code, len(answers), answers[1]["verdict"]) == (1 + extra, 2, "accept")


def test_a_fault_of_the_program_ends_no_service(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> Any:
        raise ZeroDivisionError

    monkeypatch.setattr(submission, "judge_submission", broken)
    code, answers = many(line("spam") + line("spam"))
    assert code == 2
    assert [answer["error"]["found"] for answer in answers] == [
        "cannot be judged: a fault of this program (ZeroDivisionError)"
    ] * 2


def test_a_reader_can_be_wired_in() -> None:
    def reader(text: str) -> FactLedger:
        quote = Evidence(quote="She means to leave", start=0, end=1)
        return FactLedger(
            schema_version=1, protagonist="Mara", goals=(Goal(id="g", text="leave", evidence=(quote,)),)
        )

    _, answer = one(b'{"version": 1, "text": "She means to leave."}', reader=reader)
    # One goal of four: 0.3/4
    assert (answer["state"], answer["lpi"]) == ("read", 0.075)


def test_the_command_reads_standard_input_and_the_folders_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ludic: Any
) -> None:
    monkeypatch.chdir(tmp_path)

    def ran(data: bytes, *flags: str) -> Any:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
        return ludic("judge", *flags)

    found = ran(stored("half-ground-ink"), "--stdin")
    assert (found.code, found.err) == (1, "")
    assert "沈砚秋" in json.loads(found.out)["reply"]
    (tmp_path / "ludic.toml").write_text("pcv_gate = 70", encoding="utf-8")
    assert ran(stored("half-ground-ink"), "--stdin").code == 0
    stricter = ran(line("half-ground-ink"), "--lines", "--profile", "campaign")
    assert (stricter.code, json.loads(stricter.out)["profile"]) == (1, "campaign")
    assert ran(b"", "--stdin").code == 2


@pytest.mark.parametrize("flags", [(), ("--stdin", "--lines"), ("--stdin", "--profile", "epic")])
def test_a_call_that_says_nothing_or_too_much_is_an_error(flags: tuple[str, ...], ludic: Any) -> None:
    ran = ludic("judge", *flags)
    assert (ran.code, ran.out, len(ran.faults)) == (2, "", 1)


def test_lines_are_answered_one_at_a_time(tmp_path: Path) -> None:
    """A platform writes one, waits for its answer, and writes the next."""
    with subprocess.Popen(
        [sys.executable, "-c", "from ludic_deepeval.cli import main; main()", "judge", "--lines"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=tmp_path,
    ) as service:
        assert service.stdin is not None
        assert service.stdout is not None
        for name in ("spam", "short-and-ready"):
            service.stdin.write(line(name))
            service.stdin.flush()
            assert json.loads(service.stdout.readline())["id"] == name
        service.stdin.close()
        assert service.wait() == 1
