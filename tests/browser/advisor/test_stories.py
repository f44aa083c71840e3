"""Three people who have told the world are not told that they are safe."""

import re
from typing import TYPE_CHECKING

from playwright.sync_api import expect

from sottovoce.advisor._demo import sentences

if TYPE_CHECKING:
    from support.advisor_browser import Visitor

pytest_plugins = ["support.advisor_browser"]
REASSURED = re.compile(
    r"(change|adds?) nothing|there is none|do not stand out|no effect", re.IGNORECASE
)


def paste(visitor: "Visitor", *posts: str) -> None:
    visitor.page.get_by_label("Your posts", exact=True).fill("\n\n".join(posts))
    visitor.page.get_by_role("button", name="Look at these posts").click()
    visitor.page.wait_for_url("**/standing")


def not_reassured(visitor: "Visitor") -> None:
    assert not REASSURED.search(visitor.page.locator("main").inner_text())


def test_who_is_at_place_1_is_told_what_a_draft_says_and_that_no_place_is_higher(
    visitor: "Visitor",
) -> None:
    page = visitor.page
    everything = " ".join(sentences()["drug addiction"]["afflicted"])
    paste(visitor, *(f"2026-10-{day:02} {everything}" for day in (5, 12, 19)))
    expect(page.get_by_role("heading", level=1)).to_contain_text("would list you at place 1.")
    visitor.go("/draft")
    page.get_by_label("Draft", exact=True).fill("I keep craving heroin and nobody knows")
    summary = page.locator("#draft-summary")
    expect(summary).to_contain_text("It says it outright: drug addiction.")
    expect(summary).to_contain_text("You are at place 1 of 501 already")
    expect(page.locator("#draft-marked mark").first).to_contain_text("craving")
    expect(page.locator("#draft-rows tr").first).to_contain_text("says it outright")
    not_reassured(visitor)


def test_who_says_it_once_among_four_posts_reads_that_first(visitor: "Visitor") -> None:
    page = visitor.page
    others = ("Baked bread today.", "Walked by the canal.", "The cat sleeps on my keyboard.")
    paste(visitor, others[0], "I'm HIV positive and terrified", *others[1:])
    verdict = page.get_by_role("heading", level=1)
    expect(verdict).to_contain_text("HIV and sexual health: 1 of your 4 posts says it outright")
    expect(page.locator("ol.posts mark").first).to_contain_text("HIV positive")
    card = page.locator("li.card").filter(has_text="HIV and sexual health")
    expect(card).to_contain_text("1 post says it outright")
    expect(page.locator(".help-line")).to_contain_text("need not carry it alone")
    not_reassured(visitor)
    visitor.go("/alerts")
    expect(page.locator("tbody tr").filter(has_text="HIV")).to_contain_text(
        "1 post of yours says it outright."
    )


def test_a_post_that_stronger_ones_cover_is_said_to_count_without_them(visitor: "Visitor") -> None:
    page = visitor.page
    strong = "I am depressed, depression and antidepressants, hopeless, worthless, sertraline, numb"
    paste(
        visitor,
        *(f"2026-{month:02}-05 {strong} {month}" for month in (6, 7, 8, 9)),
        "2026-09-20 my therapist says the depression is back",
    )
    visitor.go("/topic?name=depression")
    post = page.locator("ol.posts li").filter(has_text="my therapist says")
    expect(post).to_contain_text("says it outright")
    expect(post).to_contain_text("would count if the 4 posts above were gone")
    expect(post.locator("mark").last).to_contain_text("depression is back")
    not_reassured(visitor)
