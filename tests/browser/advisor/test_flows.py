"""Every way through the advisor page, in a real browser."""

import csv
import io
import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from playwright.sync_api import expect

from sottovoce.advisor.community import Community
from sottovoce.advisor.person import Person
from sottovoce.advisor.standing import Standing
from sottovoce.corpus.schema import POSTS
from sottovoce.web.advise._pages import list_signs
from sottovoce.web.advise._words import short_places

if TYPE_CHECKING:
    from support.advisor_browser import Visitor

pytest_plugins = ["support.advisor_browser"]
TEXTS = (
    "my debts and the loan",
    "overdraft again, more debts",
    "the bank and my mortgage",
    "hello",
)
Row = tuple[str, datetime, str]


def rows(*, people: int = 1) -> list[Row]:
    begin = datetime(2024, 2, 1, tzinfo=UTC)
    return [
        (f"p{person}", begin + timedelta(days=5 * number, hours=person), text)
        for person in range(people)
        for number, text in enumerate(TEXTS[person % 2 :])
    ]


def as_csv(given: list[Row]) -> bytes:
    written = io.StringIO()
    writer = csv.writer(written)
    writer.writerow(["user", "time", "text"])
    writer.writerows((user, time.isoformat(), text) for user, time, text in given)
    return written.getvalue().encode()


def as_jsonl(given: list[Row]) -> bytes:
    lines = [{"user": u, "time": time.isoformat(), "text": text} for u, time, text in given]
    return "\n".join(map(json.dumps, lines)).encode()


def as_parquet(given: list[Row]) -> bytes:
    written = io.BytesIO()
    users, times, texts = (list(column) for column in zip(*given, strict=True))
    pq.write_table(pa.table([users, times, texts], schema=POSTS), written)
    return written.getvalue()


def bring(visitor: "Visitor", name: str, content: bytes, *, community: bool = False) -> None:
    file = {"name": name, "mimeType": "application/octet-stream", "buffer": content}
    visitor.page.locator("#file").set_input_files(file)  # type: ignore[arg-type] # a payload
    if community:
        visitor.page.get_by_label("A whole community").check()
    visitor.page.get_by_role("button", name="Look at this file").click()


def demo_person() -> Person:
    community = Community.demo()
    return Person(community, user=community.example)


def most_exposed(person: Person) -> Standing:
    """The topic that the page lists first."""
    return list_signs(person)[0].standing


def demo_alerts() -> set[str]:
    """The topics for which the demo's member is told something: one alert each."""
    person = demo_person()
    out = {one.topic for one in person.standings() if one.is_within(max(person.setting.thresholds))}
    return out | {topic for topic in person.topics if person.disclosures.of_topic(topic).outright}


def test_the_demo_is_one_click_away_and_tells_where_she_stands(visitor: "Visitor") -> None:
    visitor.demo()
    standing = most_exposed(demo_person())
    page = visitor.page
    verdict = page.get_by_role("heading", level=1)
    expect(verdict).to_contain_text(f"a ranking of {standing.users:,} people would list you")
    card = page.locator("li.card").filter(has_text=standing.topic)
    expect(card).to_contain_text(f"Place {short_places(standing)} of {standing.users:,}")
    method = page.get_by_text("not a diagnosis")
    expect(method).to_be_hidden()
    page.get_by_text("How this is computed").click()
    expect(method).to_be_visible()
    for other in demo_person().standings():
        expect(page.get_by_role("link", name=other.topic, exact=True)).to_be_visible()


def test_pasted_posts_are_assessed(visitor: "Visitor") -> None:
    visitor.page.get_by_label("Your posts", exact=True).fill(
        "2024-02-01 my debts\n\nthe loan and the bank"
    )
    visitor.page.get_by_role("button", name="Look at these posts").click()
    expect(visitor.page.locator("main")).to_contain_text("2 posts of yours")


@pytest.mark.parametrize(
    ("name", "made"),
    [("posts.csv", as_csv), ("posts.jsonl", as_jsonl), ("posts.parquet", as_parquet)],
)
def test_a_file_of_posts_is_assessed(
    visitor: "Visitor", name: str, made: Callable[[list[Row]], bytes]
) -> None:
    bring(visitor, name, made(rows()))
    visitor.page.wait_for_url("**/standing")
    expect(visitor.page.locator("main")).to_contain_text("4 posts of yours")


def test_she_finds_herself_in_a_community(visitor: "Visitor") -> None:
    bring(visitor, "export.jsonl", as_jsonl(rows(people=12)), community=True)
    page = visitor.page
    expect(page.get_by_role("heading", level=1)).to_have_text("Which one is you?")
    page.get_by_label("Your name in the file").fill("nobody")
    page.get_by_role("button", name="That is me").click()
    expect(page.get_by_role("alert")).to_contain_text("Nobody in the file has this name")
    page.get_by_label("Your name in the file").fill("p3")
    page.get_by_role("button", name="That is me").click()
    page.wait_for_url("**/standing")
    expect(page.locator("main")).to_contain_text("the community in your file")
    expect(page.locator("main")).to_contain_text("3 posts of yours")


def test_a_topic_shows_why_over_time_and_what_to_do(visitor: "Visitor") -> None:
    person = demo_person()
    standing = most_exposed(person)
    evidence = person.evidence(standing.topic)
    visitor.demo()
    visitor.first_topic()
    page = visitor.page
    verdict = page.get_by_role("heading", level=1)
    expect(verdict).to_contain_text(standing.topic, ignore_case=True)
    for part in ("Strength", "Breadth", "Persistence"):
        expect(page.locator("dl.parts")).to_contain_text(part)
    bars = len(person.timeline(standing.topic).starts)
    expect(page.locator("svg.timeline.wide rect.bar")).to_have_count(bars)
    assert page.locator("svg.timeline.wide line.limit").count() >= 1
    expect(page.locator("ol.posts .text").first).to_have_text(evidence.posts[0].text.strip())
    expect(page.locator("ol.posts .text").first.locator("mark").first).to_be_visible()
    words = page.get_by_role("region", name="The words in them")
    expect(words.locator("tbody tr").first).to_contain_text(evidence.words[0].word)
    ways = page.locator("ul.ways")
    for title in ("under another name", "in other words", "Remove some posts", "as they are"):
        expect(ways).to_contain_text(title)
    expect(ways).to_contain_text("you would be at place")


def test_unticking_posts_shows_the_exact_new_place_and_stays_after_a_reload(
    visitor: "Visitor",
) -> None:
    person = demo_person()
    topic = most_exposed(person).topic
    first, second = person.evidence(topic).posts[:2]
    after = person.standings_without([first.id, second.id])[person.column(topic)]
    visitor.demo()
    visitor.first_topic()
    page = visitor.page
    boxes = page.locator("ol.posts input[type=checkbox]")
    boxes.nth(0).uncheck()
    boxes.nth(1).uncheck()
    result = page.locator("#what-if-result")
    expect(result).to_contain_text(f"at place {after.low:,} instead of")
    expect(result).to_contain_text(f"2 posts of {len(person.posts)} left out")
    page.reload()
    expect(result).to_contain_text(f"at place {after.low:,} instead of")
    expect(boxes.nth(0)).not_to_be_checked()
    page.get_by_role("button", name="Tick all again").click()
    expect(result).to_contain_text("All your posts are ticked")
    expect(boxes.nth(0)).to_be_checked()


def test_what_if_works_without_a_script(visitor_without_script: "Visitor") -> None:
    visitor = visitor_without_script
    visitor.demo()
    visitor.first_topic()
    visitor.page.locator("ol.posts input[type=checkbox]").first.uncheck()
    visitor.page.get_by_role("button", name="See what would change").click()
    expect(visitor.page.locator("#what-if-result")).to_contain_text("1 post of")


def test_a_draft_is_checked_while_she_types_and_survives_a_reload(visitor: "Visitor") -> None:
    person = demo_person()
    topic = max(person.standings(), key=lambda each: each.percent or 0)
    words = person.community.catalogue.by_name[topic.topic].words[:6]
    after = person.with_draft(" ".join(words)).topics[person.column(topic.topic)].after
    visitor.demo()
    visitor.go("/draft")
    page = visitor.page
    expect(page.locator("#draft-summary")).to_have_text("There is no draft yet.")
    page.get_by_label("Draft", exact=True).fill(" ".join(words))
    row = page.locator("#draft-rows tr").filter(has_text=topic.topic)
    expect(row).to_contain_text(f"{after.low:,}")
    expect(row).to_contain_text(words[0])
    expect(page.locator("#draft-ways")).to_contain_text("Publish it as it is")
    page.reload()
    expect(page.get_by_label("Draft", exact=True)).to_have_value(" ".join(words))
    expect(row).to_contain_text(f"{after.low:,}")
    page.get_by_role("button", name="Empty it").click()
    expect(page.locator("#draft-summary")).to_have_text("There is no draft yet.")


def test_settings_change_the_ranking_and_bad_ones_are_refused(visitor: "Visitor") -> None:
    visitor.demo()
    visitor.go("/settings")
    page = visitor.page
    page.get_by_label("What the ranking looks at").select_option("ent")
    page.get_by_label("Tell me when").fill("2, 20")
    page.get_by_role("button", name="Use these settings").click()
    expect(page.get_by_role("status")).to_contain_text("The settings were changed")
    visitor.go("/standing")
    expect(page.locator("main code").first).to_have_text("ent")
    expect(page.locator("main")).to_contain_text("20%")
    visitor.go("/settings")
    expect(page.get_by_label("What the ranking looks at")).to_have_value("ent")
    page.get_by_label("Tell me when").fill("0")
    page.get_by_role("button", name="Use these settings").click()
    expect(page.get_by_role("alert")).to_contain_text("Nothing was changed")


def test_entering_a_band_raises_an_alert_that_is_new_until_she_has_seen_it(
    visitor: "Visitor",
) -> None:
    visitor.demo()
    page, first = visitor.page, visitor.page.locator("tbody tr").first
    alerts = len(demo_alerts())
    expect(page.locator("main")).to_contain_text(f"{alerts} new alert")
    visitor.go("/alerts")
    expect(page.locator("tbody tr")).to_have_count(alerts)
    expect(first).to_contain_text("new")
    page.get_by_role("button", name="I have seen them").click()
    expect(page.get_by_role("button", name="I have seen them")).to_have_count(0)
    expect(first).not_to_contain_text("new")
    visitor.go("/standing")
    expect(page.locator("main")).not_to_contain_text("new alert")


def test_everything_is_deleted_with_one_click_and_a_yes(visitor: "Visitor") -> None:
    visitor.page.get_by_label("Your posts", exact=True).fill("my debts, my loan, my mortgage")
    visitor.page.get_by_role("button", name="Look at these posts").click()
    visitor.page.wait_for_url("**/standing")
    visitor.go("/settings")
    page = visitor.page
    page.get_by_role("link", name="Delete everything").first.click()
    page.get_by_role("button", name="Yes, delete everything").click()
    expect(page.get_by_role("status").first).to_contain_text("Everything was deleted")
    visitor.go("/standing")
    page.wait_for_url("**/start")
    visitor.go("/alerts")
    expect(page.locator("main")).to_contain_text("There is no alert")


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("posts.csv", b"time,text\nnever,hi\n", "time"),
        ("posts.parquet", b"PAR1 and then nothing of the kind", "annot read"),
        ("posts.jsonl", b"\x00\x01\x02" * 500, "file"),
        ("posts.exe", b"MZ", "name must end in"),
        ("posts.csv", b"", "empty"),
    ],
)
def test_a_bad_file_is_explained_and_changes_nothing(
    visitor: "Visitor", name: str, content: bytes, words: str
) -> None:
    bring(visitor, name, content)
    expect(visitor.page.get_by_role("alert")).to_contain_text(words)
    expect(visitor.page.get_by_role("alert")).not_to_contain_text("/tmp")  # noqa: S108 - not shown
    visitor.go("/standing")
    visitor.page.wait_for_url("**/start")


@pytest.mark.parametrize("number", [2000, pytest.param(20_000, marks=pytest.mark.long)])
def test_many_posts_are_brought_and_tried_out(visitor: "Visitor", number: int) -> None:
    begin = datetime(2020, 1, 1, tzinfo=UTC)
    words = [word for topic in Community.demo().catalogue for word in topic.words]
    many = [
        ("me", begin + timedelta(hours=hour), f"{words[hour % len(words)]} and hello")
        for hour in range(number)
    ]
    bring(visitor, "posts.csv", as_csv(many))
    visitor.page.wait_for_url("**/standing")
    expect(visitor.page.locator("main")).to_contain_text(f"{number:,} posts of yours")
    visitor.go("/topic?name=debt")
    visitor.page.locator("ol.posts input[type=checkbox]").first.uncheck()
    expect(visitor.page.locator("#what-if-count")).to_contain_text(f"1 post of {number:,} left out")


def test_her_settings_file_is_hers_alone(visitor: "Visitor") -> None:
    visitor.demo()
    assert visitor.advisor.store.stat().st_mode & 0o077 == 0
