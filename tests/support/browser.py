"""Debian's chromium, one at a time in a process.

Playwright allows no second one beside it, and as long as it lives no other test of the process can
run an event loop; so it lives as long as tests of a browser follow each other.
"""

import os
import shutil
from collections.abc import Generator
from contextlib import ExitStack
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

TESTS = Path(__file__).parents[1] / "browser"
# A list given here takes the place of Playwright's own, of which these matter here. The popups of
# an address bar that nobody sees would be two more pages in every window.
LEFT_OUT = (
    "WebUIOmniboxPopup",
    "WebUIOmniboxAimPopup",
    "AvoidUnnecessaryBeforeUnloadCheckSync",
    "DestroyProfileOnBrowserClose",
    "HttpsUpgrades",
    "HttpsFirstBalancedModeAutoEnable",
    "LensOverlay",
    "MediaRouter",
    "PaintHolding",
    "ThirdPartyStoragePartitioning",
    "OptimizationHints",
    "NetworkTimeServiceQuerying",
    "AimEnabled",
    "PreconnectToSearch",
)
FLAGS = [
    "--disable-gpu",
    "--disable-quic",
    "--disable-background-networking",
    "--no-first-run",
    "--disable-features=" + ",".join(LEFT_OUT),
]


_RUNNING = ExitStack()
_LAUNCHED: list[Browser] = []


@pytest.fixture(scope="module")
def browser() -> Browser:
    if not _LAUNCHED:
        chromium = shutil.which("chromium")
        if chromium is None:
            pytest.skip("chromium is absent: apt-get install chromium")
        sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
        playwright = _RUNNING.enter_context(sync_playwright())
        launched = playwright.chromium.launch(executable_path=chromium, args=FLAGS + sandbox)
        _RUNNING.callback(launched.close)
        _LAUNCHED.append(launched)
    return _LAUNCHED[0]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(nextitem: pytest.Item | None) -> Generator[None, None, None]:
    """Close it before the first test that is of no browser, once all windows are closed."""
    try:
        yield
    finally:
        if nextitem is None or TESTS not in nextitem.path.parents:
            _LAUNCHED.clear()
            _RUNNING.close()
