"""Where she stands, why, and what if."""

from typing import Annotated

from fastapi import APIRouter, Form, Query, Request
from starlette.responses import HTMLResponse, Response

from sottovoce.advisor.guidance import guidance
from sottovoce.advisor.person import Person
from sottovoce.advisor.person_evidence import Evidence
from sottovoce.web.advise import drawing, drawing_time, trying, views
from sottovoce.web.advise.desk import Desk
from sottovoce.web.advise.models import LONGEST_TOPIC, WhatIfAnswer
from sottovoce.web.advise.parts import PAGES, SEE_OTHER, TheDesk, go, html, show
from sottovoce.web.advise.words import measure_in_words

router = APIRouter(default_response_class=HTMLResponse, tags=["stand"], responses=PAGES)
NOT_FOUND = 404
SHOWN_FIRST = 20
SHOWN_MOST = 20_000
MORE = 5


@router.get("/standing", responses=html(SEE_OTHER))
def standing(request: Request, desk: TheDesk) -> Response:
    """All sensitive topics."""
    person = desk.person
    if person is None:
        return go("/start")
    found = views.standing_views(person.standings(), person.setting)
    return show(
        request,
        "standing.html",
        bands=drawing.bands(),
        out=[one for one in found if one.stands_out],
        rest=[one for one in found if not one.stands_out and not one.alone],
        alone=[one for one in found if one.alone],
        users={one.standing.users for one in found},
        edge=views.edge(person.setting),
        unsure=views.leaves_open(found, person.setting),
        measure=person.setting.measure,
        measure_in_words=measure_in_words(person.setting.measure),
        posts_in_words=views.counted(len(person.posts), "post", "posts") + " of yours",
        compared_with=desk.compared_with,
        new_alerts=_new_alerts(desk),
    )


@router.get("/topic", responses=html(SEE_OTHER, NOT_FOUND))
def topic(
    request: Request,
    desk: TheDesk,
    name: Annotated[str, Query(min_length=1, max_length=LONGEST_TOPIC)],
    most: Annotated[int, Query(ge=1, le=SHOWN_MOST)] = SHOWN_FIRST,
) -> Response:
    """One topic: why, over time, what if, what to do."""
    person = desk.person
    if person is None:
        return go("/start")
    if name not in person.community.topics:
        return unknown_topic(request)
    return _topic_page(request, desk, person, name, most)


@router.post("/what-if", status_code=SEE_OTHER, responses=html(SEE_OTHER, NOT_FOUND))
def what_if(
    request: Request,
    desk: TheDesk,
    topic: Annotated[str, Form(min_length=1, max_length=LONGEST_TOPIC)],
    shown: Annotated[list[int], Form()] = [],  # noqa: B006 - FastAPI copies it
    kept: Annotated[list[int], Form()] = [],  # noqa: B006 - FastAPI copies it
    again: Annotated[str, Form()] = "",
) -> Response:
    """Untick posts without a script: the page shows what would change."""
    if desk.person is None:
        return go("/start")
    if topic not in desk.person.community.topics:
        return unknown_topic(request)
    if again:
        desk.untick(desk.removed, desk.removed)
    else:
        desk.untick(shown, kept)
    most = max(SHOWN_FIRST, len(shown))
    return go(views.topic_address(topic, most=most) + "#why")


def unknown_topic(request: Request) -> HTMLResponse:
    """There is no such topic."""
    problem = "This community has no sensitive topic of that name."
    return show(request, "problem.html", status=NOT_FOUND, problem=problem, back="/standing")


def _topic_page(request: Request, desk: Desk, person: Person, name: str, most: int) -> HTMLResponse:
    one = person.standing(name)
    evidence = person.evidence(name, most)
    drawn = drawing_time.draw(person.timeline(name))
    answer = trying.without_posts(person, name, desk.removed)
    view = views.StandingView(one, one.within(views.edge(person.setting)))
    return show(
        request,
        "topic.html",
        one=view,
        bands=drawing.bands(),
        parts=views.parts_of(one, person.setting),
        drawn=drawn,
        bucket=person.setting.bucket,
        over_time=views.over_time(drawn),
        posts=_posts(evidence, desk),
        more=views.topic_address(name, most=most * MORE) + "#why" if evidence.others else None,
        all_posts=len(person.posts),
        what_if=views.WhatIfView(answer.change, answer.count, _mark(answer)),
        words=[views.WordView(word.word, word.share) for word in evidence.words],
        ways=guidance(one, evidence, person),
        report=views.report_address(name) if desk.may_report(name) else None,
    )


def _mark(answer: WhatIfAnswer) -> drawing.Mark | None:
    mark = answer.after.mark
    return None if mark is None else drawing.Mark(mark.x, mark.width)


def _new_alerts(desk: Desk) -> str | None:
    unseen = len(desk.store.alerts(unseen=True))
    verb = "is" if unseen == 1 else "are"
    return f"There {verb} {views.counted(unseen, 'new alert', 'new alerts')}." if unseen else None


def _posts(evidence: Evidence, desk: Desk) -> list[views.PostView]:
    return [views.PostView.of(post, gone=post.id in desk.removed) for post in evidence.posts]
