"""What explain says of posts by themselves, beside the rank: to people, and not by the list."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., tuple[int, str, str]]
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


@pytest.fixture
def given(tmp_path: Path) -> tuple[object, ...]:
    (tmp_path / "posts.csv").write_text(POSTS)
    (tmp_path / "topics.toml").write_text(TOPICS)
    return (
        *("explain", tmp_path / "posts.csv", "--topics", tmp_path / "topics.toml"),
        *("--topic", "debt", "--measure", "bow-t"),
    )


def test_people_read_how_plainly_posts_speak_and_how_many_were_read(
    run: Run, given: tuple[object, ...]
) -> None:
    code, out, _ = run(*given, "--user", "ann")
    assert code == 0
    assert "1 of 3 posts say it outright: number 2." in out
    assert "says it outright" in out
    assert "would count if" in out
    assert "1 of 1 posts are about it; none says it outright." in run(*given, "--user", "bob")[1]
    assert "No word of the topic was found in 1 posts." in run(*given, "--user", "cy")[1]


def test_programs_get_it_only_with_the_texts(run: Run, given: tuple[object, ...]) -> None:
    _, out, _ = run(*given, "--user", "ann", "--json")
    assert "outright" not in out
    _, out, _ = run(*given, "--user", "ann", "--json", "--show-text")
    says = {post["number"]: post["says"] for post in json.loads(out)["posts"]}
    assert says[2] == "says it outright"
