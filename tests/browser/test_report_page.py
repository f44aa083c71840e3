"""The report in a real browser."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

import sottovoce as sv
from sottovoce.assess.measures._catalogue import PAPER_METHODS
from sottovoce.report._analysis import analysis_report

pytest_plugins = ["support.browser"]


@pytest.fixture(scope="module")
def report(demo_report: Path) -> Path:
    return demo_report


def opened(browser: Browser, report: Path, width: int) -> tuple[Page, list[str]]:
    page = browser.new_page(viewport={"width": width, "height": 800})
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: asked.append(message.text))
    page.goto(report.as_uri())
    return page, asked


@pytest.mark.parametrize("width", [360, 1200])
def test_the_report_opens_offline_and_fits_the_screen(
    browser: Browser, report: Path, width: int
) -> None:
    page, asked = opened(browser, report, width)
    assert asked == [report.as_uri()]
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator("figure svg").count() == 12
    for figure in page.locator("figure svg").all():
        box = figure.bounding_box()
        assert box is not None
        assert box["height"] > 80


def test_the_contents_lead_to_the_sections(browser: Browser, report: Path) -> None:
    page, _ = opened(browser, report, 1200)
    for link in page.locator("nav a").all():
        target = link.get_attribute("href")
        assert target is not None
        assert page.locator(f'[id="{target[1:]}"]').count() == 1


ASSESSED = ["who-stands-out", "why-one-person-stands-out", "how-well-each-measure-finds-them"]


@pytest.mark.parametrize("anchor", ASSESSED)
def test_a_part_of_assess_has_figures_with_findings_and_a_table(
    browser: Browser, report: Path, anchor: str
) -> None:
    page, _ = opened(browser, report, 1200)
    part = page.locator(f'section[aria-labelledby="{anchor}"]')
    figures = part.locator("figure").all()
    assert figures
    for figure in figures:
        assert re.search(r"\d", figure.locator("figcaption").inner_text())
        assert figure.locator("[role=img]").get_attribute("aria-label")
    assert part.locator("tbody tr").count() >= 5


def test_the_assess_part_shows_all_measures_and_what_they_must_beat(
    browser: Browser, report: Path
) -> None:
    page, _ = opened(browser, report, 1200)
    rows = page.locator(f'section[aria-labelledby="{ASSESSED[2]}"] tbody tr').all()
    cells = [row.locator("td").all_inner_texts() for row in rows]
    assert [name for name, *_ in cells] == [*PAPER_METHODS, "random", "posts"]
    for _, *values in cells:
        assert len(values) == 3
        assert all(re.fullmatch(r"[01]\.\d{3} \([01]\.\d\d.[01]\.\d\d\)", v) for v in values)


def test_facts_and_intervals_keep_room_on_a_narrow_screen(browser: Browser, report: Path) -> None:
    page, _ = opened(browser, report, 360)
    for fact in page.locator("dd").all():
        box = fact.bounding_box()
        assert box is not None
        assert box["width"] > 150
    table = page.locator(f'section[aria-labelledby="{ASSESSED[2]}"] .table')
    assert table.evaluate("table => table.scrollWidth <= table.clientWidth")
    for cell in table.locator("tbody td").all():
        box = cell.bounding_box()
        assert box is not None
        assert box["height"] < 60


def test_the_report_is_readable_in_the_dark(browser: Browser, report: Path) -> None:
    page = browser.new_page(color_scheme="dark")
    page.goto(report.as_uri())
    colours = page.evaluate(
        "[getComputedStyle(document.body).color, getComputedStyle(document.body).backgroundColor]"
    )
    light, dark = (sum(map(int, colour[4:-1].split(","))) for colour in colours)
    assert light - dark > 400


def test_nothing_scrolls_on_paper(browser: Browser, report: Path) -> None:
    """A part that scrolls is printed with its scroll bar, across whatever stands there."""
    page, _ = opened(browser, report, 1200)
    page.emulate_media(media="print")
    scrolling = "all => all.map(each => getComputedStyle(each).overflowX)"
    assert set(page.eval_on_selector_all(".plot, .table", scrolling)) == {"visible"}
    kept = "all => all.map(each => getComputedStyle(each).breakInside)"
    assert set(page.eval_on_selector_all("table, figure", kept)) == {"avoid"}


@pytest.mark.parametrize("width", [390, 1280])
def test_the_page_about_a_release_opens_offline_and_fits_the_screen(
    browser: Browser, tmp_path: Path, width: int
) -> None:
    notes = [("a debt, a loan and a debt at the bank", "money"), ("a boat at sea", "trip")] * 30
    released = sv.release_counts(
        notes,
        words=["bank", "boat", "debt", "loan", "sea"],
        labels="label",
        epsilon=6,
        precision=2,
        ledger=tmp_path / "my.ledger",
    )
    path = tmp_path / "report.html"
    analysis_report(released, released.summary(), command="sottovoce analyse released").save(path)
    page, asked = opened(browser, path, width)
    assert asked == [path.as_uri()]
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator("figure svg").count() == 3
    assert page.locator("table").count() == 3
