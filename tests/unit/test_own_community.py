"""The report on one's own community: its first sentence, what was left out, and false alarms."""

import html
import re
from dataclasses import replace
from pathlib import Path

import pytest

from sottovoce.assess.community_facts import TopicFacts
from sottovoce.assess.disclosure.disclosures import TopicCounts
from sottovoce.report.own_community import CommunityFacts, community_report

ROWS = {
    "rows": 240,
    "skipped": {"unreadable time": 4},
    "cleaned": {"quotes": 7, "HTML": 0, "only quotes": 2, "posts of nobody": 36},
}


def topic(name: str, evident: int, separation: float) -> TopicFacts:
    return TopicFacts(name, "bow-t", "health", (1, 6, 8), separation, evident)


def page(
    folder: Path,
    *topics: TopicFacts,
    about: dict[str, int] | None = None,
    english: bool = True,
    own_topics: bool = False,
    concerned: float | None = None,
) -> str:
    said = [TopicCounts(name, number, 0) for name, number in (about or {}).items()]
    facts = CommunityFacts(100, 200, topics, rows=ROWS, closely=200, said=said)
    facts = replace(facts, english=english, own_topics=own_topics, concerned=concerned)
    community_report(facts).save(folder / "page.html")
    return html.unescape((folder / "page.html").read_text(encoding="utf-8"))


def test_the_first_sentence_goes_by_people_and_leaves_rare_topics_out(tmp_path: Path) -> None:
    several = (
        topic("pregnancy", 4, 9.0),
        topic("anxiety", 12, 1.0),
        topic("chronic illness and disability", 9, 2.0),
        topic("debt", 30, 0.5),
        topic("cancer", 50, 5.0),
    )
    shown = page(tmp_path, *several, about={"cancer": 3, "debt": 40})
    headline = "30 on debt, 12 on anxiety, and 9 on chronic illness and disability."
    assert f"{headline} The table has 2 more for which somebody has a word." in shown
    assert "The first stand out most on cancer (5.0)." in shown


@pytest.mark.parametrize("own_topics", [False, True])
def test_posts_of_another_language_are_not_said_to_say_nothing_outright(
    tmp_path: Path, own_topics: bool
) -> None:
    about = {"debt": 0, "depression": 0}
    topics = (topic("debt", 29, 2.0), topic("depression", 29, 1.0))
    shown = page(tmp_path, *topics, about=about, english=False, own_topics=own_topics)
    warned = shown.index("These posts do not seem to be in English")
    assert warned < shown.index("29 on debt, and 29 on depression.")
    assert (
        "The program reads what posts say outright in English only, so this page leaves it out."
        in shown
    )
    assert "posts that say it outright" not in shown
    assert ("Give topics in their language with --topics" in shown) != own_topics
    assert "Warning:" not in page(tmp_path, *topics, about=about)


def test_authors_that_were_left_out_stand_under_what_was_left_out(tmp_path: Path) -> None:
    shown = page(tmp_path, topic("debt", 30, 0.5), topic("tax", 0, 0.0))
    assert "30 on debt. This page names nobody." in shown
    left_out = shown.split("Left out")[1].split("Posts cleaned")[0]
    assert "unreadable time: 4; posts of deleted or anonymous authors and bots: 36" in left_out
    assert "quotes: 7; nothing but quotes: 2" in shown.split("Posts cleaned")[1]


def test_the_report_says_what_a_band_is_worth_beside_volume(tmp_path: Path) -> None:
    shown = page(tmp_path, topic("debt", 30, 0.5))
    assert "how many times as often people whom a topic concerned were in the top 1%" in shown
    assert re.search(r"bow-t</t[hd]>\s*<td[^>]*>10 \(", shown)
    assert "the number of posts alone" in shown
    assert "How many of a band a topic concerns depends on how many it concerns at all." in shown
    named = page(tmp_path, topic("debt", 30, 0.5), concerned=0.02)
    assert "If a topic concerns 2 in 100 here" in named


def test_a_topic_that_several_measures_ranked_names_each(tmp_path: Path) -> None:
    debt = topic("debt", 30, 0.5)
    shown = page(tmp_path, debt, replace(debt, measure="ent", separation=0.7))
    assert "stand out most on debt, by ent (0.7)" in shown
    assert "debt, by bow-t" in shown.split("Where people stand out")[-1]


@pytest.mark.parametrize(
    ("ranked", "about", "words"),
    [
        (topic("pregnancy", 4, 9.0), {}, "posts, fewer than 5, or none, used a word that counts"),
        (topic("cancer", 50, 5.0), {"cancer": 3}, "up to 50 used a word that counts for a topic"),
        (topic("cancer", 50, 5.0), {"cancer": 3}, "but fewer than 5 posts, or none,"),
        (topic("debt", 64, 1.0), {"debt": 6}, "people with a word that counts for it"),
        (topic("debt", 64, 1.0), {"debt": 6}, "The table above counts people with any word"),
        (topic("debt", 30, 0.5), {}, "counts in the narrowest band"),
    ],
)
def test_few_and_many_are_told_as_the_tables_count_them(
    tmp_path: Path, ranked: TopicFacts, about: dict[str, int], words: str
) -> None:
    shown = page(tmp_path, ranked, about=about)
    assert words in shown
    assert "speak of it" not in shown
