"""What commands print for people."""

import pytest

from sottovoce.cli._output import show_facts, show_rows


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
