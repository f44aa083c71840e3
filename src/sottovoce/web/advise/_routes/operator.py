"""The operator's view: everybody's rank, and why.

It *is* the attack tool, so it is off unless asked for.

It needs a flag and a password file when the page is started; every look is on disk, in a file that
only grows, before it is shown; and wrong passwords are slowed down. These routes exist only where
the page was started with it.
"""

import csv
import hashlib
import io
import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Annotated

import pyarrow as pa
import pyarrow.compute as pc
from fastapi import APIRouter, Depends, Form, HTTPException, Query, Request
from starlette.responses import HTMLResponse, Response

from sottovoce.advisor._community import Community
from sottovoce.advisor._person import Person
from sottovoce.assess._ranking import rank_batches
from sottovoce.errors import InputError
from sottovoce.web.advise import _drawing as drawing
from sottovoce.web.advise import _views as views
from sottovoce.web.advise._models import LONGEST_TOPIC
from sottovoce.web.advise._pages import PAGES, SEE_OTHER, CurrentSession, html, see_other, show
from sottovoce.web.advise._session import AdvisorSession
from sottovoce.web.security._login import LookLog, PasswordFile, RateLimit

router = APIRouter(default_response_class=HTMLResponse, tags=["operator"], responses=PAGES)
FORBIDDEN, NOT_FOUND, TOO_MANY = 403, 404, 429
LONGEST_PASSWORD = 1000
TRIES, SECONDS_A_TRY = 5, 30.0
LASTS_S = 15 * 60
ROWS = 100
COLUMNS = ["rank", "user", "score", "band"]
FORMULAS = ("=", "+", "-", "@", "\t", "\r")
MOST_REASONS = 20
LONGEST_USER = 1000


@dataclass(frozen=True)
class RankingRow:
    """One row of the full ranking."""

    rank: int
    user: str
    score: float
    band: str


@dataclass(frozen=True)
class Operator:
    """Who may see the full ranking: whoever knows the password, for a quarter of an hour."""

    password: PasswordFile
    log: LookLog
    clock: Callable[[], float] = time.monotonic
    tries: RateLimit = field(
        default_factory=lambda: RateLimit(burst=TRIES, per_second=1 / SECONDS_A_TRY)
    )
    _until: dict[bytes, float] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def enter(self, password: str) -> str | None:
        """A session for the right password; a try was allowed by ``tries`` before."""
        if not self.password.matches(password):
            self.log.note("wrong password")
            return None
        self.log.note("entered")
        session = secrets.token_urlsafe(32)
        with self._lock:
            self._until[_digest(session)] = self.clock() + LASTS_S
        return session

    def knows(self, session: str | None) -> bool:
        """Whether the session is open still."""
        if session is None:
            return False
        with self._lock:
            return self._until.get(_digest(session), -1.0) > self.clock()

    def leave(self) -> None:
        """Close all sessions."""
        self.log.note("left")
        with self._lock:
            self._until.clear()

    def look(self, community: Community, topic: str, page: int) -> "RankedPeople":
        """One page of the ranking; noted before anything is worked out."""
        self.log.note("looked", topic=topic, measure=community.setting.measure, page=page)
        ranked = _ranked(community, topic)
        rows = ranked.slice((page - 1) * ROWS, ROWS)
        return RankedPeople([RankingRow(**row) for row in rows.to_pylist()], ranked.num_rows)

    def reasons(self, community: Community, topic: str, user: str) -> Person:
        """Whose reasons are looked at; noted with the name before anything is worked out."""
        self.log.note("reasons", topic=topic, measure=community.setting.measure, user=user)
        return Person(community, user=user)

    def export(self, community: Community, topic: str) -> bytes:
        """The ranking as CSV; noted before anything is worked out."""
        self.log.note("exported", topic=topic, measure=community.setting.measure)
        written = io.StringIO()
        writer = csv.writer(written)
        writer.writerow(COLUMNS)
        rows = _ranked(community, topic).to_pylist()
        writer.writerows([_harmless(str(row[name])) for name in COLUMNS] for row in rows)
        return written.getvalue().encode()


@dataclass(frozen=True)
class RankedPeople:
    """A page of the ranking, and of how many people it is: those at 0 or below are not in it."""

    rows: list[RankingRow]
    people: int


def _ranked(community: Community, topic: str) -> pa.RecordBatch:
    """Everybody whom anything puts on the list, the first one first."""
    setting = community.setting
    if community.state is None:
        raise InputError("This community is known by histograms only: it has no ranking.")
    how = {setting.measure: setting.how()}
    (ranked,) = rank_batches(community.state, how, topics=[topic], setting=setting.risk)
    batch = ranked.rows
    return batch.select(COLUMNS).filter(pc.greater(batch["score"], 0.0))


def _harmless(value: str) -> str:
    # A program for tables would take such a name for a formula.
    return f"'{value}" if value.startswith(FORMULAS) else value


def _digest(session: str) -> bytes:
    return hashlib.sha256(session.encode(errors="replace")).digest()


def current_operator(request: Request) -> Operator:
    """Set when the page was started with the operator's view."""
    operator: Operator = request.app.state.operator
    return operator


CurrentOperator = Annotated[Operator, Depends(current_operator)]


def cookie_name(request: Request) -> str:
    """A cookie of its own."""
    return f"{request.app.state.cookie}-operator"


def admitted(request: Request, operator: CurrentOperator) -> Operator:
    """Only for who has given the password."""
    if not operator.knows(request.cookies.get(cookie_name(request))):
        raise HTTPException(FORBIDDEN, "The operator's view needs its password.")
    return operator


@router.get("/operator")
def operator_page(
    request: Request, operator: CurrentOperator, session: CurrentSession
) -> HTMLResponse:
    """The password, or the topics."""
    if not operator.knows(request.cookies.get(cookie_name(request))):
        return _ask_password(request)
    topics = session.community().topics
    return show(request, "operator.html", topics=topics, log=operator.log.path)


@router.post(
    "/operator/enter", status_code=SEE_OTHER, responses=html(SEE_OTHER, FORBIDDEN, TOO_MANY)
)
def enter(
    request: Request,
    operator: CurrentOperator,
    password: Annotated[str, Form(min_length=1, max_length=LONGEST_PASSWORD)],
) -> Response:
    """Give the password."""
    if not operator.tries.allows():
        wait = f"{operator.tries.wait_s():.0f}"
        problem = f"Too many tries; the next is allowed in {wait} seconds."
        answer = _ask_password(request, status=TOO_MANY, problem=problem)
        answer.headers["Retry-After"] = wait
        return answer
    session = operator.enter(password)
    if session is None:
        return _ask_password(request, status=FORBIDDEN, problem="That is not the password.")
    inside = see_other("/operator")
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
    session: CurrentSession,
    name: Annotated[str, Query(min_length=1, max_length=LONGEST_TOPIC)],
    page: Annotated[int, Query(ge=1, le=1_000_000)] = 1,
) -> Response:
    """Everybody's rank for one topic; the look is logged first."""
    community = _with_topic(session, name)
    found = operator.look(community, name, page)
    return show(
        request,
        "ranking.html",
        topic=name,
        rows=found.rows,
        people=found.people,
        page=page,
        more=page + 1 if page * ROWS < found.people else None,
        users=len(community.users),
        measure=community.setting.measure,
        with_reasons=community.holds_posts,
    )


@router.get("/operator/reasons", responses=html(FORBIDDEN, NOT_FOUND))
def reasons(
    request: Request,
    operator: Annotated[Operator, Depends(admitted)],
    session: CurrentSession,
    name: Annotated[str, Query(min_length=1, max_length=LONGEST_TOPIC)],
    user: Annotated[str, Query(min_length=1, max_length=LONGEST_USER)],
) -> Response:
    """Why one member stands where they stand; whose reasons were looked at is logged first."""
    community = _with_topic(session, name)
    if user not in community:
        raise HTTPException(NOT_FOUND, "This community has no member of that name.")
    person = operator.reasons(community, name, user)
    evidence = person.evidence(name, MOST_REASONS)
    return show(
        request,
        "reasons.html",
        topic=name,
        user=user,
        one=views.topic_view(person, name),
        posts=views.post_views(person, evidence),
        all_posts=len(person.posts),
        bands=drawing.bands(),
    )


@router.post("/operator/export", responses=html(FORBIDDEN, NOT_FOUND))
def export(
    operator: Annotated[Operator, Depends(admitted)],
    session: CurrentSession,
    name: Annotated[str, Form(min_length=1, max_length=LONGEST_TOPIC)],
) -> Response:
    """The ranking as a file; that it left is logged first."""
    content = operator.export(_with_topic(session, name), name)
    headers = {"Content-Disposition": 'attachment; filename="ranking.csv"'}
    return Response(content, media_type="text/csv; charset=utf-8", headers=headers)


def _with_topic(session: AdvisorSession, name: str) -> Community:
    community = session.community()
    if name not in community.topics:
        raise HTTPException(NOT_FOUND, "This community has no sensitive topic of that name.")
    return community


@router.post("/operator/leave", status_code=SEE_OTHER, responses=html(SEE_OTHER, FORBIDDEN))
def leave(operator: Annotated[Operator, Depends(admitted)]) -> Response:
    """Close the view again."""
    operator.leave()
    return see_other("/operator")


def _ask_password(
    request: Request, *, status: int = 200, problem: str | None = None
) -> HTMLResponse:
    return show(request, "operator_door.html", status=status, problem=problem)
