"""The first valid attempt of each player and episode is kept; every other row has one reason."""

import json
from pathlib import Path

import pytest

from ludic_deepeval.errors import InputError
from worth_deepeval.episode import Sheet
from worth_deepeval.humans import REASONS, Cleaned, clean_submissions, read_anomalies, read_submissions

HEADER = "player,episode,submitted_at,clue_sentence_ids,selected_role_ids,trial,score\n"
ROWS = """\
anna,T01,2026-08-15T10:00:00,"S002 S004",R01,,7
anna,T01,2026-08-15T11:00:00,"S002;S004;S006",R01,,9
bo,T01,2026-08-15T10:05:00,S207,R01,,0
bo,T01,2026-08-15T10:09:00,S002,R01,,3
cem,T01,2026-08-15T09:00:00,S002,R01,yes,3
cem,T01,2026-08-15T09:30:00,S004,R01,no,4
dee,T01,2026-08-15T12:00:00,S002,R01,,3
eve,T01,2026-08-15T12:00:00,S002,R01,,3
eve,T01,2026-08-15T12:00:00,S004,R01,,4
fay,T02,2026-08-15T12:00:00,S002,R01,,3
,T01,2026-08-15T12:00:00,S002,R01,,3
gil,T01,soon,S002,R01,,3
hal,T01,2026-08-15T23:00:00,"[""S002""]","[""R01"", ""R02""]",,3
hal,T01,2026-08-15T22:00:00+08:00,,,,0
ida,T01,2026-08-15T12:00:00,S002,R01,,3
ida,T01,2026-08-15T12:00:00,S002,R01,,3
"""


def cleaned(sheet: Sheet, tmp_path: Path, rows: str = ROWS, anomalies: str = "") -> Cleaned:
    file = tmp_path / "in.csv"
    file.write_text(HEADER + rows, encoding="utf-8")
    listed = None
    if anomalies:
        (tmp_path / "list.csv").write_text(anomalies, encoding="utf-8")
        listed = read_anomalies(tmp_path / "list.csv")
    return clean_submissions(*read_submissions(file), [sheet.episode], listed)


def test_each_row_is_kept_or_has_one_reason(sheet: Sheet, tmp_path: Path) -> None:
    """Of hal's two the second row is the earlier: 22:00 in Shanghai is 14:00 UTC; it selects nothing, which is valid."""
    found = cleaned(sheet, tmp_path, anomalies="player,reason,episode\ndee,two windows open,\n")
    assert [one.line for one in found.kept] == [2, 15, 16]
    assert [(one.submission.line, one.reason) for one in found.excluded] == [
        (3, "later-attempt"),
        (4, "invalid-first"),
        (5, "after-excluded-first"),
        (6, "trial-play"),
        (7, "after-excluded-first"),
        (8, "anomaly"),
        (9, "unclear-first"),
        (10, "after-excluded-first"),
        (11, "other-episode"),
        (12, "unusable"),
        (13, "unusable"),
        (14, "later-attempt"),
        (17, "later-attempt"),
    ]


def test_counts_add_up_and_the_excluded_are_named(sheet: Sheet, tmp_path: Path) -> None:
    counts = cleaned(sheet, tmp_path).counts()
    assert counts["rows"] == 16
    assert counts["kept"] + sum(counts["excluded"].values()) == 16
    assert set(counts["excluded"]) == set(REASONS)
    assert (counts["players"], counts["players_kept"]) == (9, 4)  # anna, dee, hal, ida are kept
    bo = next(one for one in counts["exclusions"] if one["player"] == "bo")
    assert (bo["line"], bo["reason"]) == (4, "invalid-first")
    assert "S207" in bo["detail"]
    json.dumps(counts)


def test_the_kept_rows_are_written_as_they_stood(sheet: Sheet, tmp_path: Path) -> None:
    found = cleaned(sheet, tmp_path)
    first = found.csv().splitlines()[:2]
    assert first == [HEADER.strip(), "anna,T01,2026-08-15T10:00:00,S002 S004,R01,,7"]
    again = cleaned(sheet, tmp_path, found.csv().removeprefix(HEADER))
    assert (again.csv(), again.excluded) == (found.csv(), ())


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("player,episode\n", "no column submitted_at"),
        (HEADER + "a,b\n", "row 2: 2 cells"),
        (HEADER + 'a,"b\n', "not CSV"),
        (HEADER + "a,T01,1,S002,R01,perhaps,1\n", "row 2: trial"),
        ("player,player,episode,submitted_at,clue_sentence_ids,selected_role_ids\n", "twice"),
        ("", "no column player"),
    ],
)
def test_a_file_that_cannot_be_used_is_told(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "in.csv"
    file.write_text(text)
    with pytest.raises(InputError) as error:
        read_submissions(file)
    assert said in str(error.value)
