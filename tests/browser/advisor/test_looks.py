"""Every view fits a phone, is readable in the dark, and has no serious accessibility finding."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import Page, ViewportSize
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
PHONE: "ViewportSize" = {"width": 360, "height": 740}
SCREEN: "ViewportSize" = {"width": 1280, "height": 720}


def findings(visitor: "Visitor", options: dict[str, list[str]] | None = None) -> list[str]:
    # Of all that is as it should be, no list is drawn up.
    wanted = {"resultTypes": ["violations"], **(options or {})}
    found = Axe().run(visitor.page, options=wanted).response["violations"]
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
    visitor.go("/start")
    visitor.choose("posts.csv", content)
    visitor.page.get_by_label("A whole community").check()
    visitor.look()
    visitor.page.wait_for_url("**/start/who")


def to_which_column_is_which(visitor: "Visitor") -> None:
    content = f"author,{'a very long name ' * 5},body\nann,2024-01-01,{'bread ' * 30}\n".encode()
    visitor.go("/start")
    visitor.choose("posts.csv", content)
    visitor.page.get_by_label("Let me choose which column is which").check()
    visitor.look()
    visitor.page.get_by_role("heading", name="Which column is which?").wait_for()


# What is not about colours is the same in the dark.
COLOURS = {"runOnly": ["color-contrast"]}


_OPEN = "all => all.forEach((details) => { details.open = true; })"
_WIDTH = "document.documentElement.scrollWidth"


def by_day_and_by_night(visitor: "Visitor") -> list[str]:
    visitor.page.emulate_media(color_scheme="light")
    by_day = findings(visitor)
    visitor.page.emulate_media(color_scheme="dark")
    return by_day + findings(visitor, COLOURS)


@dataclass(frozen=True)
class Look:
    """What was seen of one view."""

    widths: list[int]
    light: list[str]
    dark: list[str]


@pytest.fixture(scope="module")
def looks(window: "Page", advisor: "Advisor") -> "dict[str, Look]":
    """Every view, opened once: on a phone, on a screen by day, and by night."""
    from support.advisor_browser import visiting  # noqa: PLC0415 - pytest must import it first

    seen = {}
    with visiting(window, advisor) as visitor:
        with_something_to_see(visitor)
        for view in VIEWS:
            visitor.go(view)
            seen[view] = look_at(visitor)
        to_which_one_is_you(visitor)
        seen["/start/who"] = look_at(visitor)
        to_which_column_is_which(visitor)
        seen["/start/columns"] = look_at(visitor)
        visitor.complaints[:] = [each for each in visitor.complaints if "status of 404" not in each]
    return seen


def look_at(visitor: "Visitor") -> Look:
    page = visitor.page
    page.set_viewport_size(PHONE)
    widths = [page.evaluate(_WIDTH)]
    page.eval_on_selector_all("details", _OPEN)
    widths.append(page.evaluate(_WIDTH))
    page.set_viewport_size(SCREEN)
    page.emulate_media(color_scheme="light")
    light = findings(visitor)
    page.emulate_media(color_scheme="dark")
    return Look(widths, light, findings(visitor, COLOURS))


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_view_has_a_serious_accessibility_finding(looks: dict[str, Look], scheme: str) -> None:
    found = {view: getattr(look, scheme) for view, look in looks.items()}
    assert {view: each for view, each in found.items() if each} == {}


def test_every_view_fits_a_phone(looks: dict[str, Look]) -> None:
    assert len(looks) == len(VIEWS) + 2
    for view, look in looks.items():
        assert max(look.widths) <= PHONE["width"], view


@pytest.mark.parametrize(("scheme", "sign"), [("light", -1), ("dark", 1)])
def test_the_page_follows_light_and_dark(visit: "Visit", scheme: str, sign: int) -> None:
    visitor = visit(color_scheme=scheme)
    colours = visitor.page.evaluate(
        "[getComputedStyle(document.body).color, getComputedStyle(document.body).backgroundColor]"
    )
    ink, paper = (sum(map(int, colour[4:-1].split(","))) for colour in colours)
    assert sign * (ink - paper) > 400


def test_an_error_of_hers_is_told_where_readers_hear_it(visitor: "Visitor") -> None:
    visitor.choose("posts.csv", b"time,text\nnever,hi\n")
    visitor.look()
    visitor.page.get_by_role("alert").wait_for()
    assert findings(visitor) == []


def test_the_page_that_asks_for_consent_is_readable_by_all(
    visit: "Visit", advisor_who_reports: "Advisor"
) -> None:
    visitor = visit(to=advisor_who_reports, viewport=PHONE)
    page = visitor.page
    page.locator("#posts").fill("2024-03-01 rehab relapse heroin")
    page.get_by_role("button", name="Look at these posts").click()
    page.wait_for_url("**/standing")
    visitor.go("/topic?name=drug%20addiction")
    page.get_by_role("link", name="See what would be sent").click()
    page.wait_for_url("**/report?*")
    assert by_day_and_by_night(visitor) == []
    assert page.evaluate(_WIDTH) <= PHONE["width"]
    # Without the tick the browser sends nothing.
    page.get_by_role("button", name="Send this report").click()
    assert page.locator("input[name=agree]:invalid").count() == 1
    page.get_by_label("I want this report to be sent").check()
    page.get_by_role("button", name="Send this report").click()
    expect(page.get_by_role("status")).to_contain_text("Your report was sent")
    assert by_day_and_by_night(visitor) == []
