"""Make the guide's pictures of the advisor page and the report, of people who do not exist."""

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow.csv as pacsv
from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright
from sottovoce_lab.bench.advise import advisor_process

from sottovoce.advisor._demo import demo_posts
from sottovoce.topics.shipped.rules import shipped_catalogue

PICTURES = Path(__file__).parents[1] / "docs" / "pictures"
FLAGS = ["--disable-gpu", "--disable-background-networking", "--no-first-run", "--hide-scrollbars"]
LARGEST_BYTES = 150_000
COLOURS = 64
WIDE, PHONE = 960, 390
DRAFT = (
    "Has anybody here been through this? I owe the bank more than I earn, and the bailiffs come."
)


@dataclass(frozen=True)
class Shot:
    """One picture: which page, how wide and high, and in which light."""

    name: str
    path: str
    width: int = WIDE
    height: int = 900
    scheme: str = "light"
    under: str | None = None
    """The id of the section at the upper edge."""


SHOTS = (
    Shot("advise-start", "/start", height=860),
    Shot("advise-standing", "/standing", height=1060),
    Shot("advise-topic", "TOPIC", height=1000),
    Shot("advise-what-if", "TOPIC", height=820, under="why"),
    Shot("advise-ways", "TOPIC", height=700, under="ways"),
    Shot("advise-time", "TOPIC", height=560, under="time"),
    Shot("advise-draft", "/draft", height=900),
    Shot("advise-phone-dark", "/standing", PHONE, 900, "dark"),
)


def main() -> None:
    """Take all pictures again."""
    chromium = shutil.which("chromium")
    if chromium is None:
        sys.exit("chromium is absent: apt-get install chromium")
    PICTURES.mkdir(exist_ok=True)
    sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
    with (
        TemporaryDirectory() as folder,
        advisor_process(Path(folder)) as address,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS + sandbox)
        take_all(browser, address)
        take_report(browser, Path(folder))
        browser.close()


def take_all(browser: Browser, address: str) -> None:
    """Be the demo's example, untick their strongest post, write a draft, and take the pictures."""
    page = browser.new_page(viewport={"width": WIDE, "height": 900})
    page.goto(address)
    page.wait_for_url("**/start")
    home = address.partition("/enter")[0]
    take(page, home, SHOTS[0], "")
    page.get_by_role("button", name="Show me the demo community").click()
    page.wait_for_url("**/standing")
    topic = str(page.locator(".cards h3 a").first.get_attribute("href"))
    prepare(page, home, topic)
    for shot in SHOTS[1:]:
        take(page, home, shot, topic)


def take_report(browser: Browser, folder: Path) -> None:
    """Assess an export of made-up posts, and take a picture of its report."""
    topics = [topic.name for topic in shipped_catalogue()]
    held = demo_posts(topics, datetime(2025, 3, 3, tzinfo=UTC), users=800, weeks=40, seed=0)
    pacsv.write_csv(held.posts, folder / "export.csv")
    asked = ["assess", "export.csv", "--report", "community.html"]
    subprocess.run([sys.executable, "-m", "sottovoce", *asked], cwd=folder, check=True)
    page = browser.new_page(viewport={"width": WIDE, "height": 900})
    where = (folder / "community.html").as_uri()
    take(page, "", Shot("community-report", where, height=1760), "")


def prepare(page: Page, home: str, topic: str) -> None:
    """Something to see on the pages of what-if and drafts."""
    page.goto(home + topic)
    page.get_by_role("checkbox").first.uncheck()
    page.locator("#what-if-count", has_text="left out").wait_for()
    page.goto(f"{home}/draft")
    page.get_by_role("textbox", name="Draft").fill(DRAFT)
    page.locator("#draft-summary", has_text="outright").wait_for()


def take(page: Page, home: str, shot: Shot, topic: str) -> None:
    """Take one picture."""
    page.set_viewport_size({"width": shot.width, "height": shot.height})
    page.emulate_media(color_scheme="dark" if shot.scheme == "dark" else "light")
    page.goto(home + (topic if shot.path == "TOPIC" else shot.path))
    if shot.under is not None:
        page.locator(f"#{shot.under}").evaluate("heading => heading.scrollIntoView()")
    path = PICTURES / f"{shot.name}.png"
    # A palette is enough for text and flat colours, and a quarter of the size.
    taken = Image.open(BytesIO(page.screenshot())).convert("RGB")
    taken.quantize(COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)
    size = path.stat().st_size
    if size > LARGEST_BYTES:
        sys.exit(f"{path.name} has {size:,} bytes, more than {LARGEST_BYTES:,}; make it smaller")
    print(f"{path.name}: {size:,} bytes")


if __name__ == "__main__":
    main()
