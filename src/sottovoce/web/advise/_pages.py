"""What every route needs: the advisor session, pages from templates, answers to what goes wrong.

Everything a person wrote is escaped on its way into a page.
"""

from functools import cache
from importlib.resources import files
from typing import Annotated, Any

from fastapi import Depends, Request
from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.responses import HTMLResponse, Response

import sottovoce
from sottovoce.advisor.verdict import NOT_A_DIAGNOSIS
from sottovoce.web.advise.session import AdvisorSession
from sottovoce.web.guards import Problem

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


@cache
def templates() -> Environment:
    """The page's own templates: always escaping, and a name that is missing is an error."""
    environment = Environment(
        loader=PackageLoader("sottovoce.web.advise"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["version"] = sottovoce.__version__
    return environment


def page(template: str, *, status: int = 200, **shown: object) -> HTMLResponse:
    """A page made from ``template``."""
    return HTMLResponse(templates().get_template(template).render(shown), status_code=status)


@cache
def asset(name: str) -> bytes:
    """A style or script of ours."""
    return files("sottovoce.web.advise").joinpath("assets", name).read_bytes()


def current_session(request: Request) -> AdvisorSession:
    """The advisor session of this process."""
    session: AdvisorSession = request.app.state.session
    return session


CurrentSession = Annotated[AdvisorSession, Depends(current_session)]


def show(request: Request, template: str, *, status: int = 200, **shown: object) -> HTMLResponse:
    """A page with the menu around it."""
    session = current_session(request)
    reporting = session.reporting
    frame = {
        "menu": MENU,
        "here": request.url.path,
        "not_a_diagnosis": NOT_A_DIAGNOSIS,
        "reports": None if reporting is None else reporting.folder,
        "kept_in": session.path.name,
        "file_waits": session.kept_file is not None,
    }
    return page(template, status=status, **{"told": None, "problem": None, **frame, **shown})


def see_other(address: str) -> Response:
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
