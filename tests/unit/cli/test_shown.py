"""What commands print for people: tables fit a terminal, and no character moves its cursor."""

import pytest

from sottovoce.cli._output import fitting_widths, show_facts, show_rows

ROW = {"measure": "diff-priv", "R-prec": "0.211 ± 0.141", "gain": "+0.251 [+0.147, +0.396]"}


def test_words_that_cannot_all_fit_are_left_to_be_broken() -> None:
    assert fitting_widths([("a" * 50,), ("b" * 50,)], 80) is None


def test_a_table_on_a_narrow_terminal_breaks_no_word(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    row = {**ROW, "baseline": "random", "p (perm.)": "0.00039", "NDCG": "+0.287 [+0.210, +0.368]"}
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "66")
    show_rows("t", [row])
    shown = capsys.readouterr().out
    for word in " ".join([*row, *row.values()]).split():
        assert word in shown


def test_a_table_in_a_file_keeps_each_row_on_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    monkeypatch.delenv("COLUMNS", raising=False)
    show_rows("t", [{**ROW, "words": "word " * 30 + "end"}])
    lines = capsys.readouterr().out.splitlines()
    assert any("diff-priv" in line and "+0.396]" in line and "end" in line for line in lines)
    assert max(map(len, lines)) < 260


@pytest.mark.parametrize("columns", [66, 100])
def test_a_table_in_a_file_is_as_wide_as_columns_says(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], columns: int
) -> None:
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    monkeypatch.setenv("COLUMNS", str(columns))
    show_rows("t", [{**ROW, "words": "word " * 30 + "end"}])
    lines = capsys.readouterr().out.splitlines()
    assert columns - 10 < max(map(len, lines)) <= columns
    assert sum(line.count("word") for line in lines) == 31


@pytest.mark.parametrize("mark", ["\x1b[2J", "\u202e", "\x07", "\r"])
def test_characters_that_would_move_the_cursor_or_turn_the_writing_are_shown_as_codes(
    mark: str, capsys: pytest.CaptureFixture[str]
) -> None:
    show_rows("users", [{"user": f"a{mark}b"}])
    show_facts("users", {"user": f"a{mark}b"})
    shown = capsys.readouterr().out
    assert mark not in shown
    assert shown.count(mark[0].encode("unicode_escape").decode()) == 2


def test_words_in_other_scripts_are_shown_as_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    show_rows("words", [{"word": "größe 日本 שלום"}])
    assert "größe 日本 שלום" in capsys.readouterr().out
