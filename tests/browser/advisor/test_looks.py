"""Every view fits a phone, is readable in the dark, and has no serious accessibility finding."""

from typing import TYPE_CHECKING

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

if TYPE_CHECKING:
    from collections.abc import Callable

    from support.advisor_browser import Advisor, Visitor

    Visit = Callable[..., Visitor]

pytest_plugins = ["support.advisor_browser"]
VIEWS = (
    "/standing",
    "/topic?name=drug%20addiction",
    "/draft",
    "/settings",
    "/alerts",
    "/delete",
    "/start",
    "/nowhere",
)
GRAVE = {"serious", "critical"}
PHONE = {"width": 360, "height": 740}


def findings(visitor: "Visitor", options: dict[str, list[str]] | None = None) -> list[str]:
    found = Axe().run(visitor.page, options=options).response["violations"]
    return [
        f"{each['id']}: {node['html'][:200]}"
        for each in found
        if each["impact"] in GRAVE
        for node in each["nodes"]
    ]


def with_something_to_see(visitor: "Visitor") -> None:
    visitor.demo()
    visitor.go("/topic?name=drug%20addiction")
    visitor.page.locator("ol.posts input[type=checkbox]").first.uncheck()
    visitor.go("/draft")
    visitor.page.locator("textarea").fill("pregnancy pregnant midwife")
    visitor.page.locator("#draft-rows tr").first.wait_for()


def to_which_one_is_you(visitor: "Visitor") -> None:
    rows = [f"{'a very long name ' * 5}{who},2024-01-0{who},bread" for who in (1, 2)]
    content = "\n".join(["user,time,text", *rows]).encode()
    file = {"name": "posts.csv", "mimeType": "text/csv", "buffer": content}
    visitor.go("/start")
    visitor.page.locator("#file").set_input_files(file)  # type: ignore[arg-type] # a payload
    visitor.page.get_by_label("A whole community").check()
    visitor.page.get_by_role("button", name="Look at this file").click()
    visitor.page.wait_for_url("**/start/who")


# What is not about colours is the same in the dark.
COLOURS = {"runOnly": ["color-contrast"]}


@pytest.mark.parametrize(("scheme", "options"), [("light", None), ("dark", COLOURS)])
def test_no_view_has_a_serious_accessibility_finding(
    visit: "Visit", scheme: str, options: dict[str, list[str]] | None
) -> None:
    visitor = visit(color_scheme=scheme)
    with_something_to_see(visitor)
    for view in VIEWS:
        visitor.go(view)
        for closed in visitor.page.locator("details").all():
            closed.evaluate("(details) => { details.open = true; }")
        assert findings(visitor, options) == [], view
    to_which_one_is_you(visitor)
    assert findings(visitor, options) == []
    visitor.complaints[:] = [each for each in visitor.complaints if "status of 404" not in each]


def test_every_view_fits_a_phone(visit: "Visit") -> None:
    visitor = visit(viewport=PHONE)
    with_something_to_see(visitor)
    for view in VIEWS:
        visitor.go(view)
        width = visitor.page.evaluate("document.documentElement.scrollWidth")
        assert width <= PHONE["width"], view
    to_which_one_is_you(visitor)
    assert visitor.page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    visitor.complaints[:] = [each for each in visitor.complaints if "status of 404" not in each]


@pytest.mark.parametrize(("scheme", "sign"), [("light", -1), ("dark", 1)])
def test_the_page_follows_light_and_dark(visit: "Visit", scheme: str, sign: int) -> None:
    visitor = visit(color_scheme=scheme)
    colours = visitor.page.evaluate(
        "[getComputedStyle(document.body).color, getComputedStyle(document.body).backgroundColor]"
    )
    ink, paper = (sum(map(int, colour[4:-1].split(","))) for colour in colours)
    assert sign * (ink - paper) > 400


def test_an_error_of_hers_is_told_where_readers_hear_it(visitor: "Visitor") -> None:
    file = {"name": "posts.csv", "mimeType": "text/csv", "buffer": b"a,b\n1,2\n"}
    visitor.page.locator("#file").set_input_files(file)  # type: ignore[arg-type] # a payload
    visitor.page.get_by_role("button", name="Look at this file").click()
    visitor.page.get_by_role("alert").wait_for()
    assert findings(visitor) == []


@pytest.mark.parametrize(("scheme", "options"), [("light", None), ("dark", COLOURS)])
def test_the_page_that_asks_for_consent_is_readable_by_all(
    visit: "Visit",
    advisor_who_reports: "Advisor",
    scheme: str,
    options: dict[str, list[str]] | None,
) -> None:
    visitor = visit(to=advisor_who_reports, color_scheme=scheme, viewport=PHONE)
    page = visitor.page
    page.locator("#posts").fill("2024-03-01 rehab relapse heroin")
    page.get_by_role("button", name="Look at these posts").click()
    page.wait_for_url("**/standing")
    visitor.go("/topic?name=drug%20addiction")
    page.get_by_role("link", name="See what would be sent").click()
    page.wait_for_url("**/report?*")
    assert findings(visitor, options) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    # Without the tick the browser sends nothing.
    page.get_by_role("button", name="Send this report").click()
    assert page.locator("input[name=agree]:invalid").count() == 1
    page.get_by_label("I want this report to be sent").check()
    page.get_by_role("button", name="Send this report").click()
    expect(page.get_by_role("status")).to_contain_text("Your report was sent")
    assert findings(visitor, options) == []
