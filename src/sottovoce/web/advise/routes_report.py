"""Reporting to the rank server: first what it would be, then, if she agrees, the report."""

from typing import TYPE_CHECKING, Annotated, Literal

from fastapi import APIRouter, Form, Query, Request
from starlette.responses import HTMLResponse, Response

from sottovoce.errors import SottovoceError
from sottovoce.release.exact import text_up
from sottovoce.web.advise import views, words
from sottovoce.web.advise.desk import Desk
from sottovoce.web.advise.models import LONGEST_TOPIC
from sottovoce.web.advise.parts import PAGES, SEE_OTHER, TheDesk, go, html, show
from sottovoce.web.advise.routes_topics import NOT_FOUND

if TYPE_CHECKING:
    from sottovoce.advisor.rank.quote import Quote

router = APIRouter(default_response_class=HTMLResponse, tags=["report"], responses=PAGES)
REFUSED = 409
LONGEST_MARK = 64
Topic = Annotated[str, Query(min_length=1, max_length=LONGEST_TOPIC)]


@router.get("/report", responses=html(SEE_OTHER, NOT_FOUND, REFUSED))
def quote(request: Request, desk: TheDesk, name: Topic, sent: bool = False) -> Response:
    """What a report about one topic would hold, cost and show."""
    return _absent(request, desk, name) or _quote_page(request, desk, name, sent=sent)


@router.post("/report", status_code=SEE_OTHER, responses=html(SEE_OTHER, NOT_FOUND, REFUSED))
def report(
    request: Request,
    desk: TheDesk,
    name: Annotated[str, Form(min_length=1, max_length=LONGEST_TOPIC)],
    agreed: Annotated[str, Form(min_length=1, max_length=LONGEST_MARK)],
    agree: Annotated[Literal["yes"], Form()],  # noqa: ARG001 - that it is there says enough
) -> Response:
    """Send it, exactly as it was shown."""
    absent = _absent(request, desk, name)
    if absent is not None:
        return absent
    try:
        desk.report(name, agreed)
    except SottovoceError as error:
        return _quote_page(request, desk, name, problem=str(error))
    return go(views.report_address(name, sent="true"))


def _absent(request: Request, desk: Desk, name: str) -> Response | None:
    if desk.person is None:
        return go("/start")
    if desk.may_report(name):
        return None
    problem = "There is no rank server to which your place for this topic could be reported."
    return show(request, "problem.html", status=NOT_FOUND, problem=problem, back="/standing")


def _quote_page(
    request: Request, desk: Desk, name: str, *, problem: str | None = None, sent: bool = False
) -> HTMLResponse:
    try:
        found: Quote | None = desk.quote(name)
    except SottovoceError as error:
        problem, found = problem or str(error), None
    return show(
        request,
        "report.html",
        status=200 if problem is None else REFUSED,
        problem=problem,
        told="Your report was sent." if sent else None,
        topic=name,
        back=views.topic_address(name),
        quote=found,
        epsilon=None if found is None else text_up(found.epsilon),
        factor=None if found is None else words.factor_in_words(float(found.epsilon)),
        cost=None if found is None else text_up(found.cost),
        left=None if found is None else text_up(found.left),
        budget=None if found is None else text_up(found.budget),
        period=None if found is None else views.duration(found.period_s),
    )
