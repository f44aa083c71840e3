"""What people wrote stays text, and other sites are left out."""

import http.server
import json
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect
from support.communities import random_posts

from sottovoce.advisor.community import Community
from sottovoce.corpus.clean import clean_text
from sottovoce.topics.catalogue import Catalogue, Topic
from sottovoce.web.advise.session import ComparedCommunity
from sottovoce.web.guards import CONTENT_POLICY

if TYPE_CHECKING:
    from collections.abc import Callable

    from support.advisor_browser import Advisor, Visitor

pytest_plugins = ["support.advisor_browser"]
MARKUP = (
    "<img src=x onerror=alert(1)> <script>alert(2)</script> {{7*7}} \"'><svg onload=alert(3)> "
    "<a href='javascript:alert(4)'>debts</a> </textarea></title> loan"
)
_HURT = "() => window.hurt === undefined && !document.querySelector('main script, main img')"


def posts(text: str, users: int = 3) -> bytes:
    lines = [
        {"user": f"<b>u{user}</b>", "time": f"2024-02-0{user + 1}", "text": text}
        for user in range(users)
    ]
    return "\n".join(map(json.dumps, lines)).encode()


def test_markup_in_posts_names_and_files_is_inert(visitor: "Visitor") -> None:
    page = visitor.page
    visitor.choose('"><img src=x onerror=alert(5)>.jsonl', posts(MARKUP))
    page.get_by_label("A whole community").check()
    visitor.look()
    page.wait_for_url("**/start/who")
    assert page.evaluate(_HURT)
    page.get_by_label("Your name in the file").fill("<b>u1</b>")
    page.get_by_role("button", name="That is me").click()
    page.wait_for_url("**/standing")
    visitor.go("/topic?name=debt")
    # Tags of an export are taken out; what is left of them is text.
    left = clean_text(MARKUP)
    assert "<svg onload=alert(3)>" in left
    expect(page.locator("ol.posts .text").first).to_have_text(left)
    page.locator("ol.posts input[type=checkbox]").first.uncheck()
    expect(page.locator("#what-if-count")).to_contain_text("1 post of")
    assert page.evaluate(_HURT)


def test_markup_in_the_names_of_topics_is_inert(
    visit: "Callable[..., Visitor]", advisor_of: "Callable[[ComparedCommunity], Advisor]"
) -> None:
    name = '"><img src=x onerror=alert(6)><script>alert(7)</script>{{7*7}}'
    topics = (
        Topic(name, ("debt", "loan"), "<i>money</i>", sensitive=True),
        Topic("baby", ("baby", "clinic"), "<i>money</i>", sensitive=True),
    )
    community = Community.from_posts(random_posts(5, users=30, posts=200), [], Catalogue(topics))
    comparison = ComparedCommunity(community.with_setting, "<script>alert(8)</script>")
    visitor = visit(advisor_of(comparison))
    page = visitor.page
    page.get_by_label("Your posts", exact=True).fill("debt loan debt\n\nloan")
    page.get_by_role("button", name="Look at these posts").click()
    page.wait_for_url("**/standing")
    page.get_by_role("link", name=name).first.click()
    expect(page.get_by_role("heading", level=1)).to_contain_text(name)
    page.locator("ol.posts input[type=checkbox]").first.uncheck()
    expect(page.locator("#what-if-change")).to_contain_text(name)
    visitor.go("/draft")
    page.get_by_label("Draft", exact=True).fill("debt loan baby clinic")
    expect(page.locator("#draft-rows")).to_contain_text(name)
    visitor.go("/alerts")
    assert page.evaluate(_HURT)


def test_markup_in_a_draft_is_inert(visitor: "Visitor") -> None:
    visitor.demo()
    visitor.go("/draft")
    page = visitor.page
    page.get_by_label("Draft", exact=True).fill(MARKUP)
    expect(page.locator("#draft-rows")).to_contain_text("debt")
    page.reload()
    expect(page.get_by_label("Draft", exact=True)).to_have_value(MARKUP)
    assert page.evaluate(_HURT)


@pytest.mark.parametrize("path", ["/topic?name={}", "/start/{}", "/{}"])
def test_markup_in_an_address_is_inert(visitor: "Visitor", path: str) -> None:
    visitor.demo()
    visitor.page.goto(visitor.advisor.address + path.format("<script>alert(1)</script>"))
    expect(visitor.page.locator("main")).to_be_visible()
    assert visitor.page.evaluate(_HURT)
    visitor.complaints[:] = [each for each in visitor.complaints if "status of 404" not in each]


def test_a_script_that_got_in_would_not_run(visitor: "Visitor") -> None:
    """The policy is what stands behind the escaping, so it is tried itself."""
    page = visitor.page
    found = page.evaluate(
        """() => new Promise((done) => {
            document.addEventListener('securitypolicyviolation', (event) => done(event.blockedURI));
            const script = document.createElement('script');
            script.textContent = 'window.hurt = true';
            document.body.append(script);
        })"""
    )
    assert found == "inline"
    assert page.evaluate("() => window.hurt === undefined")
    assert page.request.get(visitor.advisor.address + "/start").headers[
        "content-security-policy"
    ] == (CONTENT_POLICY)
    visitor.complaints[:] = [each for each in visitor.complaints if "Content Security" not in each]


@pytest.fixture
def other_site() -> Iterator[str]:
    """A page of somebody else on this machine."""

    class Answer(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(b"<!doctype html><title>other</title>")

        def log_message(self, *given: object) -> None:
            """Say nothing."""

    server = http.server.HTTPServer(("127.0.0.1", 0), Answer)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    thread.join()
    server.server_close()


def test_another_site_can_neither_read_nor_change_anything(
    visitor: "Visitor", other_site: str
) -> None:
    visitor.demo()
    page, address = visitor.page, visitor.advisor.address
    page.goto(other_site)
    tried = page.evaluate(
        """async (address) => {
            const attempts = [
                fetch(address + '/standing', {credentials: 'include'}),
                fetch(address + '/api/what-if', {method: 'PUT', credentials: 'include'}),
                fetch(address + '/delete', {
                    method: 'POST', mode: 'no-cors', credentials: 'include',
                    body: new URLSearchParams({sure: 'yes'}),
                }),
            ];
            const ends = await Promise.allSettled(attempts);
            return ends.map((end) => end.status);
        }""",
        address,
    )
    assert tried == ["rejected"] * 3
    page.goto(address + "/standing")
    page.wait_for_url("**/standing")
    visitor.asked[:] = [each for each in visitor.asked if not each.startswith(other_site)]
    visitor.complaints.clear()


def test_who_comes_without_the_address_is_kept_out(visitor: "Visitor") -> None:
    stranger = visitor
    stranger.demo()
    stranger.page.context.clear_cookies()
    stranger.go("/standing")
    expect(stranger.page.locator("main")).to_contain_text("Open the newest address")
    stranger.go(f"/enter?token={stranger.advisor.login.token}")
    stranger.page.wait_for_url("**/st*")
    stranger.complaints[:] = [each for each in stranger.complaints if "status of 401" not in each]
