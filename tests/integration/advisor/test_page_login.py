"""Who gets in, and from where: the token, the host, the origin, the headers."""

from pathlib import Path

import pytest
from support.advisor_page import PageClient, routes_of, served

from sottovoce.web.guards import HEADERS


def test_nothing_is_told_without_a_session(tmp_path: Path) -> None:
    with served(tmp_path, let_in=False) as stranger:
        for method, path in routes_of(stranger.page):
            answer = stranger.request(method, path)
            is_open = path == "/enter" or path.startswith("/assets/")
            assert answer.status_code == (200 if path.startswith("/assets/") else 401)
            assert is_open or "terminal" in answer.text
        assert stranger.get("/openapi.json").status_code == 401
        shown = stranger.get("/standing", headers={"accept": "text/html"})
        assert shown.status_code == 401
        assert "knows only the browser" in shown.text


def test_fetching_ahead_does_not_spend_the_address(tmp_path: Path) -> None:
    with served(tmp_path, let_in=False) as page:
        token = {"token": page.login.token}
        ahead = page.get("/enter", params=token, headers={"sec-purpose": "prefetch;prerender"})
        assert ahead.status_code == 401
        assert page.get("/enter", params=token).status_code == 200


def test_the_cookie_is_for_our_own_pages_only(tmp_path: Path) -> None:
    with served(tmp_path, let_in=False) as page:
        cookie = page.get("/enter", params={"token": page.login.token}).headers["set-cookie"]
        assert cookie.startswith(f"sottovoce-{page.port}=")
        assert {"HttpOnly", "SameSite=strict", "Path=/"} <= set(cookie.split("; "))
        assert "Domain" not in cookie


def test_every_answer_carries_the_headers_also_when_it_refuses(tmp_path: Path) -> None:
    foreign = [{}, {"host": "evil.example"}, {"origin": "http://evil.example"}, {"cookie": ""}]
    with served(tmp_path) as client:
        for method, path in [*routes_of(client.page), ("GET", "/nowhere"), ("TRACE", "/")]:
            for changed in foreign:
                answer = client.request(method, path, headers=changed)
                for name, value in HEADERS.items():
                    assert answer.headers[name] == value, (method, path, name)


def test_the_policy_lets_nothing_in_from_elsewhere_and_no_inline_code() -> None:
    policy = dict(part.split(" ", 1) for part in HEADERS["content-security-policy"].split("; "))
    assert policy["default-src"] == "'none'"
    assert set(" ".join(policy.values()).split()) == {"'none'", "'self'", "data:"}
    assert policy["script-src"] == policy["style-src"] == "'self'"


OURS, OTHER = "PORT", "9"
"""The port is known only when the page is served."""
HOME = f"http://127.0.0.1:{OURS}"


def at(page: PageClient, written: str | None) -> str | None:
    return None if written is None else written.replace(OURS, str(page.port))


@pytest.mark.parametrize(
    ("host", "status"),
    [
        (f"127.0.0.1:{OURS}", 200),
        (f"localhost:{OURS}", 200),
        (f"LOCALHOST:{OURS}", 200),
        (f"[::1]:{OURS}", 200),
        ("127.0.0.1", 421),
        (f"127.0.0.1:{OTHER}", 421),
        (f"evil.example:{OURS}", 421),
        (f"127.0.0.1.evil.example:{OURS}", 421),
        (f"evil.example@127.0.0.1:{OURS}", 421),
        ("", 421),
    ],
)
def test_only_our_own_address_is_served_so_that_rebinding_fails(
    steady: PageClient, host: str, status: int
) -> None:
    assert steady.get("/start", headers={"host": str(at(steady, host))}).status_code == status


OTHERS = ["http://evil.example", f"https://127.0.0.1:{OURS}", "http://127.0.0.1:9", "", "null"]
ALLOWED = [(HOME, "same-origin"), (HOME, None), ("null", "same-origin"), (None, "same-origin")]


@pytest.mark.parametrize(
    ("origin", "site"),
    [
        *((origin, site) for origin in OTHERS for site in ("cross-site", "same-site", None)),
        *((origin, "same-origin") for origin in OTHERS[:-1]),
        *((HOME, site) for site in ("cross-site", "same-site", "none")),
        *((None, site) for site in ("cross-site", "same-site", "none", None)),
    ],
)
def test_another_site_can_change_nothing(
    steady: PageClient, origin: str | None, site: str | None
) -> None:
    with steady.coming_from(at(steady, origin), site) as foreign:
        for method, path in routes_of(steady.page):
            if method != "GET":
                assert foreign.request(method, path).status_code == 403, (method, path)


@pytest.mark.parametrize(("origin", "site"), ALLOWED)
def test_our_own_forms_and_script_may(
    steady: PageClient, origin: str | None, site: str | None
) -> None:
    with steady.coming_from(at(steady, origin), site) as own:
        assert own.post("/draft", data={"text": ""}).status_code == 303


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_another_site_reads_nothing_but_a_link_may_lead_here(steady: PageClient, site: str) -> None:
    with steady.coming_from(None, site) as foreign:
        for mode, place in [("no-cors", "script"), ("cors", "empty"), ("navigate", "iframe")]:
            asked = {"sec-fetch-mode": mode, "sec-fetch-dest": place}
            assert foreign.get("/alerts", headers=asked).status_code == 403
            assert foreign.get("/assets/page.js", headers=asked).status_code == 403
        link = {"sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}
        assert foreign.get("/start", headers=link).status_code == 200
    with steady.coming_from("http://evil.example", None) as foreign:
        assert foreign.get("/alerts").status_code == 403
        assert "access-control-allow-origin" not in steady.get("/start").headers
