"""The report in a real browser."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from sottovoce.corpus.simulate import SimulationParameters
from sottovoce.study.demo import run_demo

FLAGS = ["--disable-gpu", "--disable-quic", "--disable-background-networking", "--no-first-run"]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("chromium is absent: apt-get install chromium")
    sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=chromium, args=FLAGS + sandbox)
        yield launched
        launched.close()


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return run_demo(tmp_path_factory.mktemp("demo"), SimulationParameters(users=80, weeks=4))


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
    assert page.locator("figure svg").count() == 5
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


def test_the_report_is_readable_in_the_dark(browser: Browser, report: Path) -> None:
    page = browser.new_page(color_scheme="dark")
    page.goto(report.as_uri())
    colours = page.evaluate(
        "[getComputedStyle(document.body).color, getComputedStyle(document.body).backgroundColor]"
    )
    light, dark = (sum(map(int, colour[4:-1].split(","))) for colour in colours)
    assert light - dark > 400
