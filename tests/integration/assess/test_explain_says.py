"""What explain says of posts by themselves, beside the rank: to people, and not by the list."""

from pathlib import Path

import pytest
from support.commands import asked, done, refused
from support.shown import Run

TOPICS = """
[[topic]]
name = "debt"
domain = "money"
sensitive = true
words = ["debt", "debts", "bailiffs", "loan"]
"""
POSTS = """user,time,text
ann,2026-01-05,bread and butter
ann,2026-01-12,I am in debt and the bailiffs came
ann,2026-01-13,the national debt is in the news again
bob,2026-01-06,the loan of a ladder
cy,2026-01-07,bread
"""


EXPLAIN = "explain posts.csv --topics topics.toml --topic debt --measure bow-t --user"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("posts.csv").write_text(POSTS)
    Path("topics.toml").write_text(TOPICS)


def test_people_read_how_plainly_posts_speak_and_how_many_were_read(run: Run) -> None:
    out = done(run, f"{EXPLAIN} ann")
    assert "1 of 3 posts say it outright: number 2." in out
    assert "says it outright" in out
    assert "would count if" in out
    assert "1 of 1 posts are about it; none says it outright." in done(run, f"{EXPLAIN} bob")
    assert "No word of the topic was found in 1 post." in done(run, f"{EXPLAIN} cy")


def test_programs_get_it_only_with_the_texts(run: Run) -> None:
    assert "outright" not in done(run, f"{EXPLAIN} ann --json")
    posts = asked(run, f"{EXPLAIN} ann --show-text")["posts"]
    assert {post["number"]: post["says"] for post in posts}[2] == "says it outright"


def test_the_measure_the_band_and_how_many_posts_are_shown_are_said(run: Run) -> None:
    out = done(run, f"{EXPLAIN} ann --most 2")
    facts = {tuple(line.split()) for line in out.split("Posts")[0].splitlines()}
    assert facts >= {("measure", "bow-t"), ("topic", "debt"), ("band", "rest")}
    assert "Posts: the 2 that count most of 3" in out
    assert "--most N" in out
    record = asked(run, f"{EXPLAIN} ann")
    assert (record["measure"], record["topic"], record["band"]) == ("bow-t", "debt", "rest")
    assert record["posts_in_all"] == 3
    assert "Posts: all of 3" in done(run, f"{EXPLAIN} ann")


def test_a_post_that_counts_does_not_say_nothing(run: Run) -> None:
    Path("posts.csv").write_text(POSTS + "dee,2026-01-08,fine\ndee,2026-01-09,the payday came\n")
    Path("topics.toml").write_text(TOPICS.replace('"loan"', '"loan", "payday"'))
    out = done(run, f"{EXPLAIN} dee")
    assert "None of 2 posts says it outright; the score comes from 1 word" in out
    assert "No word of the topic" not in out
    assert "says nothing outright" in out
    assert "says nothing of it" in out
    # The post that adds 0 has no strength, so nothing would make it count.
    assert "would count if" not in out


def test_whoever_is_not_found_is_told_how_names_are_matched(run: Run) -> None:
    assert "Ann" not in refused(run, f"{EXPLAIN} Ann", "capitals included", "--show-users")
