"""What is open to everybody who reaches this address: the door, and our own style and script."""

from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import HTMLResponse, Response
from starlette.types import Receive, Scope, Send

from sottovoce.web.advise.pages import asset, page
from sottovoce.web.advise.parts import PAGES, html
from sottovoce.web.security.answers import header, refuse

router = APIRouter(tags=["door"], responses=PAGES)
ENTRANCE = "/enter"
STYLE, SCRIPT = "/assets/page.css", "/assets/page.js"
OPEN_PATHS = frozenset({ENTRANCE, STYLE, SCRIPT})
UNAUTHORISED = 401
LONGEST_TOKEN = 200


class Style(Response):
    """A style sheet."""

    media_type = "text/css"


class Script(Response):
    """A script."""

    media_type = "text/javascript"


@router.get(ENTRANCE, response_class=HTMLResponse, responses=html(UNAUTHORISED))
def enter(
    request: Request, token: Annotated[str, Query(max_length=LONGEST_TOKEN)] = ""
) -> HTMLResponse:
    """Let a browser in that comes with the address from the terminal.

    A page instead of a redirect: the cookie is for requests of our own pages only, and what a
    file or a terminal opened is none yet.
    """
    door = request.app.state.door
    # A browser that only fetches ahead must not spend the token.
    ahead = "prefetch" in request.headers.get("sec-purpose", "")
    session = None if ahead else door.exchange(token)
    if session is None:
        return page("outside.html", status=UNAUTHORISED)
    answer = page("entered.html")
    answer.set_cookie(request.app.state.cookie, session, path="/", httponly=True, samesite="strict")
    return answer


@router.get(STYLE, response_class=Style)
def style() -> Style:
    """Our style."""
    return Style(asset("page.css"))


@router.get(SCRIPT, response_class=Script)
def script() -> Script:
    """Our script."""
    return Script(asset("page.js"))


async def outside(scope: Scope, receive: Receive, send: Send) -> None:
    """What everybody else sees."""
    wanted = header(scope, b"accept") or ""
    if scope["path"].startswith("/api") or "text/html" not in wanted:
        await refuse(scope, receive, send, UNAUTHORISED, "Open the address from the terminal.")
    else:
        await page("outside.html", status=UNAUTHORISED)(scope, receive, send)
