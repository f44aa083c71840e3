"""The pages of a person who has brought posts: standings, a draft, and reports.

Where they stand, why, and what if; a draft, checked before anybody sees it; and reporting to the
rank server: first what it would be, then, if they agree, the report.
"""

from typing import TYPE_CHECKING, Annotated, Literal

from fastapi import APIRouter, Form, Query, Request
from starlette.responses import HTMLResponse, Response

from sottovoce.advisor.person import Person
from sottovoce.advisor.verdict import guidance, verdict_of_all
from sottovoce.assess.measures.catalogue import lift_in_words
from sottovoce.errors import SottovoceError
from sottovoce.privacy.exact import text_up
from sottovoce.web.advise import _drawing as drawing
from sottovoce.web.advise import _views as views
from sottovoce.web.advise import _what_if as answers
from sottovoce.web.advise import _words as words
from sottovoce.web.advise._pages import PAGES, SEE_OTHER, CurrentSession, html, see_other, show
from sottovoce.web.advise._what_if import LONGEST_DRAFT, LONGEST_TOPIC
from sottovoce.web.advise._words import measure_in_words
from sottovoce.web.advise.session import AdvisorSession

if TYPE_CHECKING:
    from sottovoce.advisor.rank.client import Quote


router = APIRouter(default_response_class=HTMLResponse, tags=["stand"], responses=PAGES)
NOT_FOUND, REFUSED = 404, 409
SHOWN_FIRST = 20
REASONS = 3
SHOWN_MOST = 20_000
MORE = 5
LONGEST_MARK = 64
Topic = Annotated[str, Query(min_length=1, max_length=LONGEST_TOPIC)]


@router.get("/standing", responses=html(SEE_OTHER))
def standing(request: Request, session: CurrentSession) -> Response:
    """All sensitive topics."""
    person = session.person
    if person is None:
        return see_other("/start")
    found = views.topic_views(person)
    first = found[0]
    return show(
        request,
        "standing.html",
        language=person.language_warning,
        simulated=person.among_simulated,
        verdict=verdict_of_all([one.signs for one in found]),
        first=None if first.signs.absent else first,
        reasons=_reasons(person, first.topic),
        bands=drawing.bands(),
        signs=[one for one in found if one.shows],
        rest=[one for one in found if not one.shows],
        words_read=person.disclosures.words,
        edge=views.edge(person.setting),
        unsure=views.leaves_open(found, person.setting),
        measure=person.setting.measure,
        measure_in_words=measure_in_words(person.setting.measure),
        expected=lift_in_words(person.setting.measure),
        posts_in_words=views.count_of(len(person.posts), "post", "posts") + " of yours",
        compared_with=session.compared_with,
        new_alerts=_new_alerts(session),
        help_line=_help_line(request, found),
        read_as=None if session.received is None else session.received.read_as,
        left_out=None if session.received is None else session.received.left_out,
    )


def _reasons(person: Person, topic: str) -> list[views.PostView]:
    """The posts that tell most."""
    found = views.post_views(person, person.evidence(topic, REASONS))
    return [post for post in found if post.says or post.holds]


def _help_line(request: Request, found: list[views.TopicView]) -> str | None:
    """That help exists: said where a topic of health shows, and nowhere else."""
    shown = any(one.about_health and one.shows for one in found)
    return request.app.state.help_line if shown else None


@router.get("/topic", responses=html(SEE_OTHER, NOT_FOUND))
def topic(
    request: Request,
    session: CurrentSession,
    name: Annotated[str, Query(min_length=1, max_length=LONGEST_TOPIC)],
    most: Annotated[int, Query(ge=1, le=SHOWN_MOST)] = SHOWN_FIRST,
) -> Response:
    """One topic: why, over time, what if, what to do."""
    person = session.person
    if person is None:
        return see_other("/start")
    if name not in person.community.topics:
        return unknown_topic(request)
    return _topic_page(request, session, person, name, most)


@router.post("/what-if", status_code=SEE_OTHER, responses=html(SEE_OTHER, NOT_FOUND))
def what_if(
    request: Request,
    session: CurrentSession,
    topic: Annotated[str, Form(min_length=1, max_length=LONGEST_TOPIC)],
    shown: Annotated[list[int], Form()] = [],  # noqa: B006 - FastAPI copies it
    kept: Annotated[list[int], Form()] = [],  # noqa: B006 - FastAPI copies it
    again: Annotated[str, Form()] = "",
) -> Response:
    """Untick posts without a script: the page shows what would change."""
    if session.person is None:
        return see_other("/start")
    if topic not in session.person.community.topics:
        return unknown_topic(request)
    if again:
        session.untick(session.removed, session.removed)
    else:
        session.untick(shown, kept)
    most = max(SHOWN_FIRST, len(shown))
    return see_other(views.topic_address(topic, most=most) + "#why")


def unknown_topic(request: Request) -> HTMLResponse:
    """There is no such topic."""
    problem = "This community has no sensitive topic of that name."
    return show(request, "problem.html", status=NOT_FOUND, problem=problem, back="/standing")


def _topic_page(
    request: Request, session: AdvisorSession, person: Person, name: str, most: int
) -> HTMLResponse:
    evidence = person.evidence(name, most)
    timeline = person.timeline(name)
    view, drawn = views.topic_view(person, name), drawing.draw(timeline)
    return show(
        request,
        "topic.html",
        language=person.language_warning,
        one=view,
        bands=drawing.bands(),
        parts=views.parts_of(view.standing, person.setting),
        drawn=drawn,
        drawings=[drawn, drawing.draw(timeline, drawing.NARROW)],
        bucket=views.bucket_in_words(person.setting.bucket),
        over_time=views.over_time(drawn),
        posts=views.post_views(person, evidence, session.removed),
        more=views.topic_address(name, most=most * MORE) + "#why" if evidence.others else None,
        all_posts=len(person.posts),
        words_read=person.disclosures.words,
        what_if=answers.without_posts(person, name, session.removed),
        words=[views.WordView(word.word, word.share) for word in evidence.words],
        ways=guidance(view.standing, evidence, person),
        report=views.report_address(name) if session.may_report(name) else None,
        measure=person.setting.measure,
        measure_in_words=measure_in_words(person.setting.measure),
        expected=lift_in_words(person.setting.measure),
        help_line=_help_line(request, [view]),
    )


def _new_alerts(session: AdvisorSession) -> str | None:
    unseen = len(session.store.alerts(unseen=True))
    verb = "is" if unseen == 1 else "are"
    return f"There {verb} {views.count_of(unseen, 'new alert', 'new alerts')}." if unseen else None


@router.get("/draft", responses=html(SEE_OTHER))
def draft(request: Request, session: CurrentSession) -> Response:
    """The draft, and what it would do."""
    if session.person is None:
        return see_other("/start")
    found = answers.check_draft(session.person, session.draft)
    return show(
        request,
        "draft.html",
        text=session.draft,
        summary=found.summary,
        rows=found.rows,
        ways=found.ways,
        pieces=found.pieces,
    )


@router.post("/draft", status_code=SEE_OTHER, responses=html(SEE_OTHER))
def check(
    session: CurrentSession,
    text: Annotated[str, Form(max_length=LONGEST_DRAFT)] = "",
    empty: Annotated[str, Form()] = "",
) -> Response:
    """Check it without a script."""
    session.draft = "" if empty else text
    return see_other("/draft")


@router.get("/report", responses=html(SEE_OTHER, NOT_FOUND, REFUSED))
def quote(request: Request, session: CurrentSession, name: Topic, sent: bool = False) -> Response:
    """What a report about one topic would hold, cost and show."""
    return _absent(request, session, name) or _quote_page(request, session, name, sent=sent)


@router.post("/report", status_code=SEE_OTHER, responses=html(SEE_OTHER, NOT_FOUND, REFUSED))
def report(
    request: Request,
    session: CurrentSession,
    name: Annotated[str, Form(min_length=1, max_length=LONGEST_TOPIC)],
    agreed: Annotated[str, Form(min_length=1, max_length=LONGEST_MARK)],
    agree: Annotated[Literal["yes"], Form()],  # noqa: ARG001 - that it is there says enough
) -> Response:
    """Send it, exactly as it was shown."""
    absent = _absent(request, session, name)
    if absent is not None:
        return absent
    try:
        session.report(name, agreed)
    except SottovoceError as error:
        return _quote_page(request, session, name, problem=str(error))
    return see_other(views.report_address(name, sent="true"))


def _absent(request: Request, session: AdvisorSession, name: str) -> Response | None:
    if session.person is None:
        return see_other("/start")
    if session.may_report(name):
        return None
    problem = "There is no rank server to which your place for this topic could be reported."
    return show(request, "problem.html", status=NOT_FOUND, problem=problem, back="/standing")


def _quote_page(
    request: Request,
    session: AdvisorSession,
    name: str,
    *,
    problem: str | None = None,
    sent: bool = False,
) -> HTMLResponse:
    try:
        found: Quote | None = session.quote(name)
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
