"""What every route needs: the desk, the menu, and answers to what goes wrong."""

from typing import Annotated, Any

from fastapi import Depends, Request
from starlette.responses import HTMLResponse, Response

from sottovoce.advisor.guidance_sentences import NOT_A_DIAGNOSIS
from sottovoce.web.advise.desk import Desk
from sottovoce.web.advise.pages import page
from sottovoce.web.security.answers import Problem

SEE_OTHER = 303
BAD_INPUT, TOO_LARGE, UNREADABLE = 400, 413, 422
NOTHING_BROUGHT = 409
MENU = (
    ("/standing", "Where you stand"),
    ("/draft", "Check a draft"),
    ("/alerts", "Alerts"),
    ("/settings", "Settings"),
    ("/start", "Bring posts"),
)


def the_desk(request: Request) -> Desk:
    """The desk of this process."""
    desk: Desk = request.app.state.desk
    return desk


TheDesk = Annotated[Desk, Depends(the_desk)]


def show(request: Request, template: str, *, status: int = 200, **shown: object) -> HTMLResponse:
    """A page with the menu around it."""
    menu = MENU if request.app.state.operator is None else (*MENU, ("/operator", "Operator"))
    reporting = the_desk(request).reporting
    frame = {
        "menu": menu,
        "here": request.url.path,
        "not_a_diagnosis": NOT_A_DIAGNOSIS,
        "reports": None if reporting is None else reporting.folder,
    }
    return page(template, status=status, **{"told": None, "problem": None, **frame, **shown})


def go(address: str) -> Response:
    """On to another page; reloading it repeats nothing."""
    return HTMLResponse("", SEE_OTHER, {"location": address})


def with_refusals(responses: dict[int | str, dict[str, Any]]) -> dict[int | str, dict[str, Any]]:
    """For the OpenAPI document: what any route may refuse, beside its own answers."""
    return {TOO_LARGE: {"model": Problem, "description": "Too large"}, **responses}


def html(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """For the OpenAPI document: pages with these statuses."""
    content = {"text/html": {"schema": {"type": "string"}}}
    return {
        status: {"description": "Elsewhere"}
        if status == SEE_OTHER
        else {"description": "A page", "content": content}
        for status in statuses
    }


PAGES = with_refusals(html(BAD_INPUT, UNREADABLE))
