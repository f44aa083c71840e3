"""One advisor page and one browser for all tests here, and a visitor who is watched."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import (
    Browser,
    ConsoleMessage,
    Dialog,
    Error,
    Page,
    Request,
    ViewportSize,
    expect,
)

from sottovoce.advisor.community import Community
from sottovoce.advisor.rank.description import Buckets, Description, RankedTopic
from sottovoce.web.advise.app import LoginTokens, PageOptions, create_app
from sottovoce.web.advise.session import DEMO, ComparedCommunity, Reporting, ask
from sottovoce.web.guards import listening_socket
from sottovoce.web.rank.service import RankService
from sottovoce.web.rank.store import SqliteStore
from support.rank_servers import running
from support.serving import served_at

pytest_plugins = ["support.browser"]
PATIENCE_MS = 120_000
SCREEN: ViewportSize = {"width": 1280, "height": 720}
PAGES = {"/start/upload", "/start/paste", "/start/who", "/settings", "/topic", "/standing"}
# The default of five seconds is short on a busy machine, where the first answer also has to wait
# for kernels to be compiled; a test that passes does not wait.
expect.set_options(timeout=PATIENCE_MS)


@dataclass(frozen=True)
class Advisor:
    """A page that is being served, and how to get in."""

    address: str
    login: LoginTokens
    store: Path


@dataclass
class Visitor:
    """Somebody at the page; all that her browser asked for and complained about is noted."""

    page: Page
    advisor: Advisor
    asked: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    def go(self, path: str) -> None:
        self.page.goto(self.advisor.address + path)

    def choose(self, name: str, content: bytes) -> None:
        """Choose a file to bring."""
        self.page.locator("#file").set_input_files(
            {"name": name, "mimeType": "text/html", "buffer": content}
        )

    def look(self) -> None:
        """Look at the file that was chosen."""
        self.page.get_by_role("button", name="Look at this file").click()

    def watch(self) -> None:
        for event, noted in self._watched():
            self.page.on(event, noted)  # type: ignore[call-overload] # one of those it knows

    def leave(self) -> None:
        """Be watched no longer, once all that the page had to say has been heard."""
        self.page.evaluate("0")
        for event, noted in self._watched():
            self.page.remove_listener(event, noted)

    def enter(self) -> None:
        """Come in by the address from the terminal, to an empty session."""
        address, request = self.advisor.address, self.page.context.request
        assert request.get(f"{address}/enter?token={self.advisor.login.token}").ok
        assert request.post(
            f"{address}/delete", form={"sure": "yes"}, headers={"Origin": address}
        ).ok
        self.go("/start")

    def demo(self) -> None:
        self.page.get_by_role("button", name="Show me the demo community").click()
        self.page.wait_for_url("**/standing")

    def first_topic(self) -> None:
        """From where she stands to the topic for which she stands out most."""
        self.page.locator("ul.cards h3 a").first.click()
        self.page.wait_for_url("**/topic?*")

    def strangers(self) -> list[str]:
        """Whatever was asked of any other origin."""
        own = (self.advisor.address + "/", "data:")
        return [address for address in self.asked if not address.startswith(own)]

    def _watched(self) -> list[tuple[str, Callable[..., None]]]:
        return [
            ("request", self._note),
            ("dialog", self._refuse),
            ("pageerror", self._hear_error),
            ("console", self._hear),
        ]

    def _note(self, request: Request) -> None:
        self.asked.append(request.url)

    def _hear_error(self, error: Error) -> None:
        self.complaints.append(f"script error: {error}")

    def _hear(self, message: ConsoleMessage) -> None:
        # Chromium says so of every page that is a refusal, which is meant to be one.
        refusal = "responded with a status of 4" in message.text
        if not (refusal and urlsplit(message.location["url"]).path in PAGES):
            self.complaints.append(message.text)

    def _refuse(self, dialog: Dialog) -> None:
        self.complaints.append(f"dialog: {dialog.message}")
        dialog.dismiss()


@pytest.fixture(scope="session")
def advisor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Advisor]:
    with serving(tmp_path_factory.mktemp("advisor"), DEMO) as served:
        yield served


@contextmanager
def serving(
    folder: Path, comparison: ComparedCommunity, reporting: Reporting | None = None
) -> Iterator[Advisor]:
    """A page on a port that the system chose, until the block ends."""
    listener = listening_socket("127.0.0.1", 0)
    port = listener.getsockname()[1]
    store, login = folder / "advise.sqlite", LoginTokens()
    app = create_app(
        PageOptions(port=port, store=store, comparison=comparison, reporting=reporting, login=login)
    )
    with listener, served_at(listener, app):
        yield Advisor(f"http://127.0.0.1:{port}", login, store)


@pytest.fixture
def advisor_who_reports(tmp_path: Path) -> Iterator[Advisor]:
    """A page that may report to a rank server to which nobody has reported yet."""
    topics = (RankedTopic("drug addiction", "bow-t", Buckets.even(-1, 1, 20)),)
    rules = Description("noise", Fraction(1), topics)
    with running(RankService(rules, SqliteStore(tmp_path / "server.sqlite"))) as server:
        comparison = ask(server, (), Community.demo().catalogue, unpublished=True)
        reporting = Reporting([server], tmp_path / "reports", Fraction(1))
        with serving(tmp_path, comparison, reporting) as served:
            yield served


@pytest.fixture
def advisor_of(tmp_path: Path) -> Iterator[Callable[[ComparedCommunity], Advisor]]:
    """Pages that compare with another community."""
    with ExitStack() as stack:
        yield lambda comparison: stack.enter_context(serving(tmp_path, comparison))


@pytest.fixture(scope="module")
def window(browser: Browser) -> Iterator[Page]:
    """One window for all visitors who need none of another kind: a new one is dear."""
    with browser.new_context() as context:
        context.set_default_timeout(PATIENCE_MS)
        yield context.new_page()


@contextmanager
def visiting(
    window: Page, to: Advisor, *, color_scheme: str | None = None, viewport: ViewportSize = SCREEN
) -> Iterator[Visitor]:
    """A visitor at the common window, who asked nothing elsewhere and saw no complaint."""
    window.context.clear_cookies()
    window.emulate_media(color_scheme=color_scheme or "null")  # type: ignore[arg-type] # one of them
    window.set_viewport_size(viewport)
    visitor = Visitor(window, to)
    visitor.watch()
    visitor.enter()
    yield visitor
    visitor.leave()
    assert visitor.strangers() == []
    assert visitor.complaints == []


@pytest.fixture
def visit(window: Page, advisor: Advisor) -> Iterator[Callable[..., Visitor]]:
    """A visitor at the common window, with a screen of any size and colours."""
    with ExitStack() as stack:
        yield lambda to=advisor, **kind: stack.enter_context(visiting(window, to, **kind))


@pytest.fixture
def visitor_without_script(browser: Browser, advisor: Advisor) -> Iterator[Visitor]:
    with browser.new_context(java_script_enabled=False) as context:
        context.set_default_timeout(PATIENCE_MS)
        with visiting(context.new_page(), advisor) as visitor:
            yield visitor


@pytest.fixture
def visitor(visit: Callable[..., Visitor]) -> Visitor:
    return visit()
