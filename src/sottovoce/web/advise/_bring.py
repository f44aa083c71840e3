"""Beginning a session: the login, and bringing posts: the demo, pasted text, a file.

The login and our own style and script are all that is open to everybody who reaches this address.
"""

import shutil
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Form, Query, Request
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import UploadFile
from starlette.responses import HTMLResponse, Response
from starlette.types import Receive, Scope, Send

from sottovoce.corpus.read.bytes import COMPRESSIONS
from sottovoce.corpus.read.tally import DateOrder
from sottovoce.errors import SottovoceError
from sottovoce.web.advise._pages import (
    BAD_INPUT,
    NOT_FOUND,
    PAGES,
    SEE_OTHER,
    asset,
    html,
    page,
    see_other,
    show,
)
from sottovoce.web.advise.received import (
    FILE_SUFFIXES,
    QUESTIONS,
    KeptFile,
    columns_of,
    page_message,
    read_pasted,
    read_uploaded,
    safe_name,
)
from sottovoce.web.advise.session import AdvisorSession, CurrentSession
from sottovoce.web.guards import header, refuse, size_in_words

router = APIRouter(default_response_class=HTMLResponse, tags=["bring"], responses=PAGES)
UPLOAD = "/start/upload"
PASTE = "/start/paste"
UPLOAD_LIMIT_BYTES = 256 * 1024 * 1024
PASTE_LIMIT_BYTES = 16 * 1024 * 1024
LOGIN_PATH = "/enter"
STYLE, SCRIPT = "/assets/page.css", "/assets/page.js"
OPEN_PATHS = frozenset({LOGIN_PATH, STYLE, SCRIPT})
UNAUTHORISED = 401
LONGEST_TOKEN = 200
PEOPLE_LISTED = 200
LONGEST_NAME = 1000
FEWEST_COLUMNS = 2
_FIELDS = ("user", "time", "text")
_LABELS = (("text", "The text"), ("time", "When it was posted"), ("user", "Who wrote it"))
_UPLOAD_BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["file"],
                    "properties": {
                        "file": {"type": "string", "format": "binary"},
                        "holds": {"type": "string", "enum": ["mine", "community"]},
                        "ask": {"type": "string"},
                        **{name: {"type": "string"} for name in (*_FIELDS, "timezone")},
                    },
                }
            }
        },
    }
}


class Style(Response):
    """A style sheet."""

    media_type = "text/css"


class Script(Response):
    """A script."""

    media_type = "text/javascript"


@router.get(LOGIN_PATH, response_class=HTMLResponse, responses=html(UNAUTHORISED))
def enter(
    request: Request, token: Annotated[str, Query(max_length=LONGEST_TOKEN)] = ""
) -> HTMLResponse:
    """Let a browser in that comes with the address from the terminal.

    A page instead of a redirect: the cookie is for requests of our own pages only, and what a
    file or a terminal opened is none yet.
    """
    login = request.app.state.login
    # A browser that only fetches ahead must not spend the token.
    ahead = "prefetch" in request.headers.get("sec-purpose", "")
    session = None if ahead else login.exchange(token)
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


@router.get("/", status_code=SEE_OTHER, responses=html(SEE_OTHER))
def first(session: CurrentSession) -> Response:
    """To where they are."""
    return see_other("/start" if session.person is None else "/standing")


@router.get("/start")
def start(request: Request, session: CurrentSession, deleted: bool = False) -> HTMLResponse:
    """Bring posts."""
    told = "Everything was deleted." if deleted else None
    return _start_page(request, session, told=told)


@router.post("/start/demo", status_code=SEE_OTHER, responses=html(SEE_OTHER))
def demo(session: CurrentSession) -> Response:
    """The demo community."""
    session.look_at_demo()
    return see_other("/standing")


@router.post(PASTE, status_code=SEE_OTHER, responses=html(SEE_OTHER))
def paste(
    request: Request, session: CurrentSession, posts: Annotated[str, Form(min_length=1)]
) -> Response:
    """Posts as text."""
    try:
        session.bring_mine(read_pasted(posts, session.now()))
    except SottovoceError as error:
        return _start_page(request, session, status=BAD_INPUT, problem=str(error))
    return see_other("/standing")


@router.post(UPLOAD, status_code=SEE_OTHER, responses=html(SEE_OTHER), openapi_extra=_UPLOAD_BODY)
async def upload(request: Request, session: CurrentSession) -> Response:
    """Posts in a file, which is on disk until it is read; menus ask for columns in doubt."""
    async with request.form(max_files=1, max_fields=20, max_part_size=LONGEST_NAME) as form:
        fields = {name: value for name, value in form.items() if isinstance(value, str)}
        file = form.get("file")
        if not isinstance(file, UploadFile) or not file.filename:
            problem = "Choose a file first."
            return _start_page(request, session, status=BAD_INPUT, problem=problem)
        return await run_in_threadpool(_take_upload, request, session, file, fields)


@router.get("/start/who", responses=html(SEE_OTHER))
def ask_member(request: Request, session: CurrentSession) -> Response:
    """Which member of the community are they?"""
    return see_other("/start") if session.waiting is None else _member_page(request, session)


@router.post("/start/who", status_code=SEE_OTHER, responses=html(SEE_OTHER, NOT_FOUND))
def choose_member(
    request: Request,
    session: CurrentSession,
    user: Annotated[str, Form(min_length=1, max_length=LONGEST_NAME)],
) -> Response:
    """They are this one."""
    try:
        session.choose_member(user)
    except SottovoceError as error:
        shown = _start_page if session.waiting is None else _member_page
        return shown(request, session, status=NOT_FOUND, problem=str(error))
    return see_other("/standing")


def _take_upload(
    request: Request, session: AdvisorSession, file: UploadFile, fields: dict[str, str]
) -> Response:
    with ExitStack() as cleaning:
        folder = TemporaryDirectory(prefix="sottovoce-", dir=request.app.state.uploads)
        cleaning.callback(folder.cleanup)
        path = Path(folder.name)

        def keep_file() -> bool:
            """Keep it so that its columns can be chosen; not one that has none to choose from."""
            columns = columns_of(path) if path.is_file() else ()
            if len(columns) < FEWEST_COLUMNS:
                return False
            session.keep_file(KeptFile(folder, path, columns))
            cleaning.pop_all()
            return True

        try:
            path /= safe_name(file.filename or "")
            with path.open("wb") as copy:
                shutil.copyfileobj(file.file, copy)
            if fields.get("ask") and keep_file():
                return _columns_page(request, session, fields)
            named = {name: fields[name].strip() for name in _FIELDS if fields.get(name, "").strip()}
            answer = _bring_file(session, path, fields, named)
        except SottovoceError as error:
            if keep_file():
                return _columns_page(request, session, fields, error=error)
            problem = page_message(error, path)
            return _start_page(request, session, status=BAD_INPUT, problem=problem)
        # A guess can be changed until they have said who they are.
        if session.waiting is not None and session.waiting.read_as is not None:
            keep_file()
        return answer


def _bring_file(
    session: AdvisorSession,
    path: Path,
    fields: Mapping[str, str],
    columns: Mapping[str, str | int],
    *,
    header: bool = True,
    dates: DateOrder = "iso",
) -> Response:
    """Read the file, and on to what comes next."""
    only_mine = fields.get("holds", "mine") == "mine"
    received = read_uploaded(
        path,
        columns,
        fields.get("timezone", "").strip() or "UTC",
        only_mine=only_mine,
        header=header,
        dates=dates,
    )
    if only_mine:
        session.bring_mine(received)
        return see_other("/standing")
    session.bring_community(received)
    return see_other("/start/who")


@router.get("/start/columns", responses=html(SEE_OTHER))
def columns(request: Request, session: CurrentSession) -> Response:
    """Which column of the file is which?"""
    if session.kept_file is None:
        return see_other("/start")
    return _columns_page(request, session, {})


@router.post("/start/columns", status_code=SEE_OTHER, responses=html(SEE_OTHER))
def choose_columns(
    request: Request,
    session: CurrentSession,
    time: Annotated[str, Form(min_length=1, max_length=LONGEST_NAME)],
    text: Annotated[str, Form(min_length=1, max_length=LONGEST_NAME)],
    user: Annotated[str, Form(max_length=LONGEST_NAME)] = "",
    timezone: Annotated[str, Form(max_length=LONGEST_NAME)] = "UTC",
    holds: Annotated[Literal["mine", "community"], Form()] = "mine",
    no_header: Annotated[str, Form(max_length=LONGEST_NAME)] = "",
    dates: Annotated[DateOrder, Form()] = "iso",
) -> Response:
    """Read the kept file by these columns."""
    kept = session.kept_file
    if kept is None:
        return see_other("/start")
    fields = {"time": time, "text": text, "user": user, "timezone": timezone, "holds": holds}
    fields["dates"] = dates
    chosen = kept.mapping({name: fields[name] for name in _FIELDS})
    header = not (no_header and kept.by_position)
    try:
        answer = _bring_file(session, kept.path, fields, chosen, header=header, dates=dates)
    except SottovoceError as error:
        return _columns_page(request, session, fields, error=error, no_header=not header)
    session.keep_file(None)
    return answer


def _columns_page(
    request: Request,
    session: AdvisorSession,
    fields: Mapping[str, str],
    *,
    error: SottovoceError | None = None,
    no_header: bool = False,
) -> HTMLResponse:
    """Menus for the columns: with a question, or with what went wrong when they were read."""
    kept = session.kept_file
    if kept is None:
        return _start_page(request, session)
    asked = error is None or isinstance(error, QUESTIONS)
    said = None if error is None else page_message(error, kept.path)
    known = {column.key for column in kept.columns}
    chosen = {name: fields.get(name) for name in _FIELDS}
    return show(
        request,
        "columns.html",
        status=200 if asked else BAD_INPUT,
        problem=None if asked else said,
        question=said if asked else None,
        menus=[
            (name, label, chosen[name] if chosen[name] in known else kept.likely(name))
            for name, label in _LABELS
        ],
        columns=kept.columns,
        by_position=kept.by_position,
        no_header=no_header,
        holds=fields.get("holds", "mine"),
        timezone=fields.get("timezone") or "UTC",
        dates=fields.get("dates", "iso"),
        compared_with=session.comparison.name,
    )


def _start_page(
    request: Request,
    session: AdvisorSession,
    *,
    status: int = 200,
    problem: str | None = None,
    told: str | None = None,
) -> HTMLResponse:
    return show(
        request,
        "start.html",
        status=status,
        problem=problem,
        told=told,
        compared_with=session.comparison.name,
        accepted=",".join((*FILE_SUFFIXES, *COMPRESSIONS)),
        limit=size_in_words(UPLOAD_LIMIT_BYTES),
        limit_bytes=UPLOAD_LIMIT_BYTES,
    )


def _member_page(
    request: Request, session: AdvisorSession, *, status: int = 200, problem: str | None = None
) -> HTMLResponse:
    waiting = session.waiting
    if waiting is None:
        return _start_page(request, session, status=status, problem=problem)
    return show(
        request,
        "who.html",
        status=status,
        problem=problem,
        posts=waiting.table.num_rows,
        users=waiting.users,
        people=waiting.most_active(PEOPLE_LISTED),
        read_as=waiting.read_as,
        left_out=waiting.left_out,
        changeable=session.kept_file is not None,
    )
