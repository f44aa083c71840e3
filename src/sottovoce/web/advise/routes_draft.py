"""A draft, checked before anybody sees it."""

from typing import Annotated

from fastapi import APIRouter, Form, Request
from starlette.responses import HTMLResponse, Response

from sottovoce.web.advise import trying
from sottovoce.web.advise.models import LONGEST_DRAFT
from sottovoce.web.advise.parts import PAGES, SEE_OTHER, TheDesk, go, html, show

router = APIRouter(default_response_class=HTMLResponse, tags=["draft"], responses=PAGES)


@router.get("/draft", responses=html(SEE_OTHER))
def draft(request: Request, desk: TheDesk) -> Response:
    """The draft, and what it would do."""
    if desk.person is None:
        return go("/start")
    found = trying.with_draft(desk.person, desk.draft)
    return show(
        request,
        "draft.html",
        text=desk.draft,
        summary=found.summary,
        rows=found.rows,
        ways=found.ways,
    )


@router.post("/draft", status_code=SEE_OTHER, responses=html(SEE_OTHER))
def check(
    desk: TheDesk,
    text: Annotated[str, Form(max_length=LONGEST_DRAFT)] = "",
    empty: Annotated[str, Form()] = "",
) -> Response:
    """Check it without a script."""
    desk.draft = "" if empty else text
    return go("/draft")
