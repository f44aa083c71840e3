"""Every way through the advisor page, in a real browser."""

import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from playwright.sync_api import expect

from sottovoce.advisor.community import Community
from sottovoce.advisor.person import Person
from sottovoce.advisor.standing import Standing
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


def as_jsonl(given: list[Row]) -> bytes:
    lines = [{"user": u, "time": time.isoformat(), "text": text} for u, time, text in given]
    return "\n".join(map(json.dumps, lines)).encode()


def demo_person() -> Person:
    community = Community.demo()
    return Person(community, user=community.example)


def most_exposed(person: Person) -> Standing:
    """The topic that the page lists first."""
    return list_signs(person)[0].standing


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


def test_she_finds_herself_in_a_community(visitor: "Visitor") -> None:
    page = visitor.page
    visitor.choose("export.jsonl", as_jsonl(rows(people=12)))
    page.get_by_label("A whole community").check()
    visitor.look()
    expect(page.get_by_role("heading", level=1)).to_have_text("Which one is you?")
    page.get_by_label("Your name in the file").fill("nobody")
    page.get_by_role("button", name="That is me").click()
    expect(page.get_by_role("alert")).to_contain_text("Nobody in the file has this name")
    page.get_by_label("Your name in the file").fill("p3")
    page.get_by_role("button", name="That is me").click()
    page.wait_for_url("**/standing")
    expect(page.locator("main")).to_contain_text("the community in your file")
    expect(page.locator("main")).to_contain_text("3 posts of yours")


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
