"""The operator's view; these routes exist only where the page was started with it."""

from typing import Annotated

from fastapi import APIRouter, Depends, Form, HTTPException, Query, Request
from starlette.responses import HTMLResponse, Response

from sottovoce.web.advise.models import LONGEST_TOPIC
from sottovoce.web.advise.operator import LASTS_S, ROWS, Operator
from sottovoce.web.advise.parts import PAGES, SEE_OTHER, TheDesk, go, html, show

router = APIRouter(default_response_class=HTMLResponse, tags=["operator"], responses=PAGES)
FORBIDDEN, NOT_FOUND, TOO_MANY = 403, 404, 429
LONGEST_PASSWORD = 1000


def the_operator(request: Request) -> Operator:
    """Set when the page was started with the operator's view."""
    operator: Operator = request.app.state.operator
    return operator


TheOperator = Annotated[Operator, Depends(the_operator)]


def cookie_name(request: Request) -> str:
    """A cookie of its own."""
    return f"{request.app.state.cookie}-operator"


def admitted(request: Request, operator: TheOperator) -> Operator:
    """Only for who has given the password."""
    if not operator.knows(request.cookies.get(cookie_name(request))):
        raise HTTPException(FORBIDDEN, "The operator's view needs its password.")
    return operator


@router.get("/operator")
def door(request: Request, operator: TheOperator, desk: TheDesk) -> HTMLResponse:
    """The password, or the topics."""
    if not operator.knows(request.cookies.get(cookie_name(request))):
        return _ask(request)
    topics = desk.community().topics
    return show(request, "operator.html", topics=topics, log=operator.log.path)


@router.post(
    "/operator/enter", status_code=SEE_OTHER, responses=html(SEE_OTHER, FORBIDDEN, TOO_MANY)
)
def enter(
    request: Request,
    operator: TheOperator,
    password: Annotated[str, Form(min_length=1, max_length=LONGEST_PASSWORD)],
) -> Response:
    """Give the password."""
    if not operator.tries.allows():
        wait = f"{operator.tries.wait_s():.0f}"
        problem = f"Too many tries; the next is allowed in {wait} seconds."
        answer = _ask(request, status=TOO_MANY, problem=problem)
        answer.headers["Retry-After"] = wait
        return answer
    session = operator.enter(password)
    if session is None:
        return _ask(request, status=FORBIDDEN, problem="That is not the password.")
    inside = go("/operator")
    inside.set_cookie(
        cookie_name(request),
        session,
        max_age=LASTS_S,
        path="/operator",
        httponly=True,
        samesite="strict",
    )
    return inside


@router.get("/operator/ranking", responses=html(FORBIDDEN, NOT_FOUND))
def ranking(
    request: Request,
    operator: Annotated[Operator, Depends(admitted)],
    desk: TheDesk,
    name: Annotated[str, Query(min_length=1, max_length=LONGEST_TOPIC)],
    page: Annotated[int, Query(ge=1, le=1_000_000)] = 1,
) -> Response:
    """Everybody's rank for one topic; the look is logged first."""
    community = desk.community()
    if name not in community.topics:
        raise HTTPException(NOT_FOUND, "This community has no sensitive topic of that name.")
    rows = operator.look(community, name, page)
    last = page * ROWS >= len(community.users)
    return show(
        request,
        "ranking.html",
        topic=name,
        rows=rows,
        page=page,
        more=None if last else page + 1,
        users=len(community.users),
        measure=community.setting.measure,
    )


@router.post("/operator/leave", status_code=SEE_OTHER, responses=html(SEE_OTHER, FORBIDDEN))
def leave(operator: Annotated[Operator, Depends(admitted)]) -> Response:
    """Close the view again."""
    operator.leave()
    return go("/operator")


def _ask(request: Request, *, status: int = 200, problem: str | None = None) -> HTMLResponse:
    return show(request, "operator_door.html", status=status, problem=problem)
