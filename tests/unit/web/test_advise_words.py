"""What the page says and draws."""

import math
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from sottovoce.advisor.evidence import AlertLine, Timeline
from sottovoce.advisor.standing import Standing, Uncertainty
from sottovoce.corpus.read.corpus import format_by_name
from sottovoce.errors import CorpusError
from sottovoce.web.advise import _words as drawing
from sottovoce.web.advise import _words as words
from sottovoce.web.advise import received

NOW = datetime(2026, 3, 5, tzinfo=UTC)
STANDING = Standing("debts", "money", "bow-dt", 500, 0.4, low=12, high=15, surely=15)


def sure(low: int, high: int, posts: int = 9) -> Uncertainty:
    return Uncertainty(low, high, 0.0, 1.0, 0.1, posts)


def test_a_place_is_told_in_a_sentence_a_person_understands() -> None:
    assert words.place_sentence(STANDING) == (
        "Someone who ranked this community by how much its members write about debts would list "
        "you between place 12 and 15 of 500: in the first 5%."
    )
    one = replace(STANDING, low=300, high=300, surely=300)
    assert words.place_sentence(one).endswith(
        "at place 300 of 500: in the lower half, among those least exposed."
    )
    assert "nobody could list you" in words.place_sentence(
        Standing("debts", "money", "bow-dt", 500)
    )


def test_doubt_is_told_as_far_as_there_is_any() -> None:
    assert words.doubt(STANDING) is None
    assert words.doubt(replace(STANDING, uncertainty=sure(12, 15, 1))) == (
        "That rests on a single post."
    )
    assert "would be the same" in str(words.doubt(replace(STANDING, uncertainty=sure(12, 15))))
    assert "between place 2 and 40" in str(words.doubt(replace(STANDING, uncertainty=sure(2, 40))))


def test_a_histogram_that_leaves_the_band_open_is_not_guessed_from() -> None:
    rough = replace(STANDING, low=3, high=60, surely=4, uncertainty=sure(3, 60))
    assert words.doubt(rough) == (
        "Too little is known of the others to say more: you may be in the first 1% or only in the "
        "first 25%."
    )


def test_a_band_that_is_not_known_is_not_stated() -> None:
    wide = replace(STANDING, low=3, high=400, surely=4, uncertainty=sure(3, 400))
    assert words.place_sentence(wide).endswith(
        "between place 3 and 400 of 500; nobody can tell which band that is."
    )
    assert words.chip(wide) == "cannot be told"
    assert words.change(STANDING, wide).endswith("between place 12 and 15 of 500.")
    near = replace(wide, high=60)
    assert words.place_sentence(near).endswith(
        "between place 3 and 60 of 500, surely in the first 25%."
    )
    assert words.chip(near) == "within the first 25%"
    assert words.change(STANDING, near).endswith("and you would surely be in the first 25%.")


def test_who_is_alone_gets_no_place() -> None:
    alone = replace(STANDING, users=1, low=1, high=1, surely=1, uncertainty=sure(1, 1))
    assert words.place_sentence(alone).startswith("Nobody else is known for debts yet")
    assert (words.chip(alone), words.doubt(alone)) == ("nobody else known", None)


@pytest.mark.parametrize(
    ("epsilon", "said"), [(0.1, "1.1"), (1, "2.7"), (8, "2,981"), (900, "more than a million")]
)
def test_what_an_epsilon_means_is_said_as_a_number(epsilon: float, said: str) -> None:
    assert words.factor_in_words(epsilon) == said


def test_a_change_says_its_direction() -> None:
    later = replace(STANDING, low=40, high=40, surely=40)
    assert words.change(STANDING, later) == (
        "For debts you would be less exposed: at place 40 instead of between place 12 and 15 of "
        "500, and you would be in the first 10%."
    )
    assert "more exposed" in words.change(later, STANDING)
    assert "stay the same" in words.change(later, later)


@pytest.mark.parametrize(("low", "high"), [(1, 1), (12, 15), (500, 500), (1, 500)])
def test_the_mark_lies_on_the_strip_and_can_be_seen(low: int, high: int) -> None:
    mark = drawing.place(replace(STANDING, low=low, high=high, uncertainty=sure(low, high)))
    assert mark is not None
    assert mark.x >= 0
    assert drawing.NARROWEST <= mark.width <= drawing.WIDTH - mark.x + 1e-9
    assert drawing.place(Standing("debts", "money", "bow-dt", 500)) is None


def test_bands_cover_the_strip_from_end_to_end() -> None:
    spans = [band for _, band in drawing.bands()]
    assert spans[0].x == 0
    assert sum(span.width for span in spans) == pytest.approx(drawing.WIDTH)


def timeline(count: int, **changed: object) -> Timeline:
    starts = tuple(date(2020, 1, 6) + timedelta(weeks=week) for week in range(count))
    lines = (AlertLine(1, 0.8, 0.7), AlertLine(5, 0.79, 0.6), AlertLine(10, None, None))
    some = tuple((week % 7) / 10 for week in range(count))
    given = {"strengths": some, "scores": some, "lines": lines, **changed}
    return Timeline("debts", starts, (1,) * count, **given)  # type: ignore[arg-type] # as given


@pytest.mark.parametrize("shape", [drawing.WIDE, drawing.NARROW], ids=lambda shape: shape.name)
@pytest.mark.parametrize("count", [1, 2, 30, 500])
def test_a_timeline_stays_within_its_frame(count: int, shape: drawing.TimelineShape) -> None:
    drawn = drawing.draw(timeline(count), shape)
    assert len(drawn.bars) + drawn.left_out == count
    assert len(drawn.bars) <= drawing.MOST_BUCKETS
    for bar in drawn.bars:
        assert bar.x >= 0
        assert bar.x + bar.width <= shape.width
        assert 0 <= bar.y <= bar.y + bar.height <= drawing.TIMELINE_HEIGHT + 1e-9
    assert sum(bar.label is not None for bar in drawn.bars) <= shape.dates
    assert [line.percent for line in drawn.lines] == [5, 1]
    first, second = (line.name_y for line in drawn.lines)
    assert abs(first - second) >= drawing.LABEL_HEIGHT - 1e-9


def test_the_axis_has_a_few_round_values_and_zero() -> None:
    ticks = drawing.draw(timeline(5)).ticks
    assert 2 <= len(ticks) <= 2 * drawing.MOST_TICKS
    assert "0" in [tick.label for tick in ticks]
    assert all(len(tick.label) <= 5 for tick in ticks)
    assert [tick.y for tick in ticks] == sorted((tick.y for tick in ticks), reverse=True)


def test_an_infinite_or_negative_score_can_be_drawn() -> None:
    drawn = drawing.draw(timeline(2, strengths=None, scores=(-0.5, math.inf)))
    points = [float(part) for pair in drawn.path.split() for part in pair.split(",")]
    assert all(map(math.isfinite, points))
    assert [bar.strength for bar in drawn.bars] == [0.0, 0.0]


def test_pasted_text_is_taken_apart_at_blank_lines_else_at_lines() -> None:
    found = received.read_pasted("one\ntwo\r\n \r\n2026-03-01: three\r\n\r\n\r\n2026-03-02", NOW)
    assert found.table["text"].to_pylist() == ["one\ntwo", "three", "2026-03-02"]
    assert [time.day for time in found.table["time"].to_pylist()] == [5, 1, 5]
    lines = received.read_pasted("2026-02-30 no such day\n2026-02-03 14:05 noted", NOW).table
    assert lines["text"].to_pylist() == ["2026-02-30 no such day", "noted"]
    assert lines["time"].to_pylist()[1] == datetime(2026, 2, 3, 14, 5, tzinfo=UTC)
    assert received.read_pasted("a\udcffb", NOW).table["text"].to_pylist() == ["a?b"]
    with pytest.raises(CorpusError, match="at least one post"):
        received.read_pasted(" \n\n\t", NOW)


@pytest.mark.parametrize(
    ("name", "safe"),
    [
        ("Posts.CSV", "posts.csv"),
        ("../../x.jsonl", "posts.jsonl"),
        ("C:\\me\\posts.tsv.GZ", "posts.tsv.gz"),
        ("a.b.parquet", "posts.parquet"),
        ("log.aol", "posts.aol"),
    ],
)
def test_of_a_files_name_only_its_format_is_kept(name: str, safe: str) -> None:
    assert received.safe_name(name) == safe


def test_every_suffix_that_the_page_takes_tells_the_reader_its_format() -> None:
    assert ".aol" in received.FILE_SUFFIXES
    for suffix in received.FILE_SUFFIXES:
        assert format_by_name(Path(received.safe_name(f"mine{suffix}.gz"))) is not None


@pytest.mark.parametrize("name", ["", "posts", "posts.exe", ".gz", "posts.csv.exe", "posts.txt"])
def test_a_name_without_a_known_format_is_refused(name: str) -> None:
    with pytest.raises(CorpusError, match="must end in one of"):
        received.safe_name(name)
