"""Commands that read somebody's file of posts take it alike: columns, dates and encoding."""

import json
from pathlib import Path

import pytest
from support.shown import Run

from sottovoce.corpus.read.tally import ReadOptions
from sottovoce.errors import InputError

WESTERN = "grün ist die Straße im Frühling"


def written(path: Path, dates: list[str], encoding: str = "utf-8") -> Path:
    rows = [f"u{place},{date},{WESTERN} {place}" for place, date in enumerate(dates)]
    path.write_bytes("\n".join(["author,created_at,body", *rows, ""]).encode(encoding))
    return path


@pytest.mark.parametrize(("flag", "week"), [("--day-first", "04-29"), ("--month-first", "01-01")])
def test_describe_takes_the_answer_to_its_own_question(
    run: Run, tmp_path: Path, flag: str, week: str
) -> None:
    posts = written(tmp_path / "e.csv", ["1/5/2024", "2/5/2024"])
    code, _, err = run("describe", posts)
    assert code == 2
    assert flag in err
    code, out, _ = run("describe", posts, flag, "--json")
    assert code == 0
    assert min(json.loads(out)["posts_by_week"]) == f"2024-{week}"


def test_a_release_by_user_takes_it_too(run: Run, tmp_path: Path) -> None:
    posts = written(tmp_path / "e.csv", ["1/5/2024", "2/5/2024"])
    stated = ("--epsilon", "1", "-N", "2", "--vocabulary", "everyday", "--user-documents", "1")
    command = ("release", posts, *stated, "--out", tmp_path / "r", "--dry-run")
    code, _, err = run(*command)
    assert code == 2
    assert "--day-first or --month-first" in err
    assert run(*command, "--day-first")[0] == 0


def test_describe_and_count_find_the_encoding(run: Run, tmp_path: Path) -> None:
    posts = written(tmp_path / "e.csv", ["2024-01-01", "2024-01-02"], "windows-1252")
    for command in (("describe", posts), ("count", posts, "--out", tmp_path / "counts")):
        code, out, err = run(*command, "--json")
        assert code == 0
        assert "read as windows-1252" in err
        assert json.loads(out)["repaired"] == 0
    assert "straße" in (tmp_path / "counts" / "vocabulary.txt").read_text(encoding="utf-8")


def test_count_asks_nothing_about_times_that_it_does_not_read(run: Run, tmp_path: Path) -> None:
    posts = tmp_path / "e.csv"
    posts.write_text("user,time,text\nann,1/5/2024,a loan\n", encoding="utf-8")
    assert run("count", posts, "--out", tmp_path / "counts")[0] == 0


def test_loop_guesses_the_columns_of_a_file(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    posts = written(tmp_path / "e.csv", ["13/5/2024", "14/5/2024"])
    asked: list[ReadOptions] = []

    def noted(_corpus: Path, *, reading: ReadOptions, **_options: object) -> None:
        asked.append(reading)
        raise InputError("far enough.")

    monkeypatch.setattr("sottovoce.loop.loop.compare_settings", noted)
    assert run("loop", posts)[0] == 2
    (reading,) = asked
    assert dict(reading.columns) == {"user": "author", "time": "created_at", "text": "body"}
    assert reading.dates == "day-first"


def test_an_impossible_precision_is_told_by_the_option_that_was_typed(
    run: Run, tmp_path: Path
) -> None:
    posts = written(tmp_path / "e.csv", ["2024-01-01"])
    stated = ("--epsilon", "1", "--precision", "0")
    code, _, err = run("loop", posts, *stated)
    assert (code, err) == (2, "--precision must be > 0, got 0.\n")


def test_what_else_lies_in_the_folder_of_a_release_is_told(run: Run, tmp_path: Path) -> None:
    posts, out = written(tmp_path / "e.csv", ["2024-01-01", "2024-01-02"]), tmp_path / "r"
    command = ("release", posts, "--vocabulary", "everyday", "--epsilon", "1", "-N", "2")
    said = [run(*command, "--out", out)[2]]
    (out / "export.csv").write_text("private", encoding="utf-8")
    said.append(run(*command, "--out", out)[2])
    (out / "more").mkdir()
    said.append(run(*command, "--out", out)[2])
    assert "no part of the release" not in said[0]
    assert "holds 1 other entry, which is no part of the release" in said[1]
    assert "holds 2 other entries, which are no part of the release" in said[2]


def test_a_rank_server_shows_its_rules_before_it_runs(run: Run) -> None:
    code, out, _ = run("rank-server", "--dry-run", "--period", "36h", "--minimum", "250")
    assert code == 0
    assert "Measure lda-dt; k 0.3, m 3, bucket 1w" in out
    assert "A period lasts 36h; with fewer than 250 reports" in out


def test_explain_shows_the_whole_tie_and_times_in_one_piece(run: Run, tmp_path: Path) -> None:
    posts = tmp_path / "posts.csv"
    rows = [f"u{each},2024-02-25T06:27:32,my debt is late" for each in range(4)]
    posts.write_text("\n".join(["user,time,text", *rows, ""]), encoding="utf-8")
    asked = ("explain", posts, "--user", "u1", "--topic", "debt")
    code, out, err = run(*asked)
    assert code == 0, err
    assert "between 1 and 4: 4 users have this score" in out
    assert "2024-02-25 06:27 " in out
    record = json.loads(run(*asked, "--json")[1])
    assert (record["rank"], record["users_with_this_score"]) == (1, 4)
