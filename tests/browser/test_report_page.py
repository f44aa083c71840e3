"""The report in a real browser."""

import re
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import TypedDict

import pytest
from PIL import Image, ImageStat
from playwright.sync_api import Browser, Locator, Page

import sottovoce as sv
from sottovoce.assess.measures.catalogue import PAPER_METHODS
from sottovoce.report.analysis import analysis_report

pytest_plugins = ["support.browser"]
_BOXES = """all => all.map((each) => {
    const box = each.getBoundingClientRect();
    return {width: box.width, height: box.height};
})"""


class Box(TypedDict):
    """How much room something takes, in pixels."""

    width: float
    height: float


@dataclass(frozen=True)
class Opened:
    """A page, and all that it asked for and said."""

    page: Page
    address: str
    asked: list[str]

    def boxes(self, selector: str) -> list[Box]:
        """How wide and how high each part of the page is."""
        found: list[Box] = self.page.eval_on_selector_all(selector, _BOXES)
        return found


def opened(browser: Browser, report: Path, width: int) -> Opened:
    page = browser.new_page(viewport={"width": width, "height": 800})
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: asked.append(message.text))
    page.goto(report.as_uri())
    return Opened(page, report.as_uri(), asked)


@pytest.fixture(scope="module")
def narrow(browser: Browser, demo_report: Path) -> Opened:
    return opened(browser, demo_report, 360)


@pytest.fixture(scope="module")
def wide(browser: Browser, demo_report: Path) -> Opened:
    return opened(browser, demo_report, 1200)


@pytest.mark.parametrize(("screen", "width"), [("narrow", 360), ("wide", 1200)])
def test_the_report_opens_offline_and_fits_the_screen(
    request: pytest.FixtureRequest, screen: str, width: int
) -> None:
    shown: Opened = request.getfixturevalue(screen)
    assert shown.asked == [shown.address]
    assert shown.page.evaluate("document.documentElement.scrollWidth") <= width
    figures = shown.boxes("figure svg")
    assert len(figures) == 10
    assert all(box["height"] > 80 for box in figures)


def test_the_contents_lead_to_the_sections(wide: Opened) -> None:
    page = wide.page
    for link in page.locator("nav a").all():
        target = link.get_attribute("href")
        assert target is not None
        assert page.locator(f'[id="{target[1:]}"]').count() == 1


ASSESSED = ["who-stands-out", "why-one-person-stands-out", "how-well-each-measure-finds-them"]


@pytest.mark.parametrize("anchor", ASSESSED)
def test_a_part_of_assess_has_figures_with_findings_and_a_table(wide: Opened, anchor: str) -> None:
    part = wide.page.locator(f'section[aria-labelledby="{anchor}"]')
    figures = part.locator("figure").all()
    assert figures
    for figure in figures:
        assert re.search(r"\d", figure.locator("figcaption").inner_text())
        assert figure.locator("[role=img]").get_attribute("aria-label")
    assert part.locator("tbody tr").count() >= 5


def test_the_assess_part_shows_all_measures_and_what_they_must_beat(wide: Opened) -> None:
    rows = wide.page.locator(f'section[aria-labelledby="{ASSESSED[2]}"] tbody tr').all()
    cells = [row.locator("td").all_inner_texts() for row in rows]
    beaten = ["random", "posts", "words", "ent"]
    assert [name for name, *_ in cells] == [*(m for m in PAPER_METHODS if m != "ent"), *beaten]
    for _, *values in cells:
        assert len(values) == 3
        assert all(re.fullmatch(r"[01]\.\d{3} \([01]\.\d\d.[01]\.\d\d\)", v) for v in values)


def test_facts_and_intervals_keep_room_on_a_narrow_screen(narrow: Opened) -> None:
    facts = narrow.boxes("dd")
    assert facts
    assert all(box["width"] > 150 for box in facts)
    selector = f'section[aria-labelledby="{ASSESSED[2]}"] .table'
    table = narrow.page.locator(selector)
    assert table.evaluate("table => table.scrollWidth <= table.clientWidth")
    cells = narrow.boxes(f"{selector} tbody td")
    assert cells
    assert all(box["height"] < 60 for box in cells)


def test_the_report_is_readable_in_the_dark(wide: Opened) -> None:
    wide.page.emulate_media(color_scheme="dark")
    colours = wide.page.evaluate(
        "[getComputedStyle(document.body).color, getComputedStyle(document.body).backgroundColor]"
    )
    wide.page.emulate_media(color_scheme="light")
    light, dark = (sum(map(int, colour[4:-1].split(","))) for colour in colours)
    assert light - dark > 400


def test_nothing_scrolls_on_paper(wide: Opened) -> None:
    """A part that scrolls is printed with its scroll bar, across whatever stands there."""
    page = wide.page
    page.emulate_media(media="print")
    scrolling = "all => all.map(each => getComputedStyle(each).overflowX)"
    kept = "all => all.map(each => getComputedStyle(each).breakInside)"
    on_paper = page.eval_on_selector_all(".plot, .table", scrolling)
    whole = page.eval_on_selector_all("table, figure", kept)
    page.emulate_media(media="screen")
    assert set(on_paper) == {"visible"}
    assert set(whole) == {"avoid"}


@pytest.fixture(scope="module")
def about_a_release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("released")
    notes = [("a debt, a loan and a debt at the bank", "money"), ("a boat at sea", "trip")] * 30
    released = sv.release_counts(
        notes,
        words=["bank", "boat", "debt", "loan", "sea"],
        labels="label",
        epsilon=6,
        precision=2,
        ledger=folder / "my.ledger",
    )
    path = folder / "report.html"
    analysis_report(released, released.summary(), command="sottovoce analyse released").save(path)
    return path


@pytest.mark.parametrize("width", [390, 1280])
def test_the_page_about_a_release_opens_offline_and_fits_the_screen(
    browser: Browser, about_a_release: Path, width: int
) -> None:
    shown = opened(browser, about_a_release, width)
    page = shown.page
    assert shown.asked == [shown.address]
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator("figure svg").count() == 2
    assert page.locator("table").count() == 3


_SIGNS = """all => all.map((each) => {
    const plot = each.querySelector(".plot");
    const sign = getComputedStyle(each, "::before").content;
    return [plot.scrollWidth > plot.clientWidth, sign.includes("sideways")];
})"""


def test_what_is_wider_than_the_screen_shows_that_it_can_be_moved(
    browser: Browser, about_a_release: Path
) -> None:
    page = opened(browser, about_a_release, 390).page
    for width, scrolls in ((390, True), (530, True), (550, False), (1280, False)):
        page.set_viewport_size({"width": width, "height": 800})
        signs = page.eval_on_selector_all("figure", _SIGNS)
        assert signs == [[scrolls, scrolls]] * 2, width
    page.set_viewport_size({"width": 390, "height": 800})
    table = page.locator(".table").first
    table.evaluate("each => each.replaceChildren(document.createElement('table'))")
    table.evaluate("each => { each.firstChild.style.cssText = 'width: 300px; height: 99px'; }")
    narrow = _right_edge(table)
    table.evaluate("each => { each.firstChild.style.width = '900px'; }")
    assert _right_edge(table) < narrow - 20, "shaded where there is more"
    table.evaluate("each => { each.scrollLeft = each.scrollWidth; }")
    assert _right_edge(table) == pytest.approx(narrow, abs=2), "until its end is reached"


def _right_edge(table: Locator) -> float:
    """How bright the last pixels of the frame are, from 0 to 255."""
    shown = Image.open(BytesIO(table.screenshot())).convert("L")
    edge = shown.crop((shown.width - 4, 0, shown.width, shown.height))
    return float(ImageStat.Stat(edge).mean[0])
