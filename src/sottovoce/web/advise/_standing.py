"""The pages of a person who has brought posts: standings, a draft, reports, alerts, settings.

Where they stand, why, and what if; a draft, checked before anybody sees it; reporting to the rank
server: first what it would be, then, if they agree, the report; and deleting everything.
"""

from collections.abc import Iterable, Sequence
from typing import Annotated, Literal

from fastapi import APIRouter, Form, Query, Request
from starlette.responses import HTMLResponse, Response

from sottovoce.advisor.person import Person
from sottovoce.advisor.person_values import AdvisorSetting
from sottovoce.advisor.verdict import Signs, guidance, verdict_of_all
from sottovoce.assess.measures.catalogue import PAPER_METHODS, RECOMMENDED
from sottovoce.errors import ParameterError, SottovoceError
from sottovoce.privacy.exact import text_up
from sottovoce.web.advise import _pages as pages
from sottovoce.web.advise import _what_if as answers
from sottovoce.web.advise import _words as words
from sottovoce.web.advise._pages import NOT_FOUND, PAGES, REFUSED, SEE_OTHER, html, see_other, show
from sottovoce.web.advise._what_if import LONGEST_DRAFT, LONGEST_TOPIC
from sottovoce.web.advise._words import count_of
from sottovoce.web.advise.session import AdvisorSession, CurrentSession

router = APIRouter(default_response_class=HTMLResponse, tags=["stand"], responses=PAGES)
settings_router = APIRouter(default_response_class=HTMLResponse, tags=["settings"], responses=PAGES)
HEALTH = frozenset(
    {
        *("addiction", "mental health", "physical health", "medicine", "psychology"),
        *("pregnancy", "infertility and abortion", "domestic violence"),
    }
)
"""Domains and topics beside which a line says that help exists."""
SHOWN_FIRST = 20
REASONS = 3
SHOWN_MOST = 20_000
MORE = 5
LONGEST_MARK = 64
MOST_BUCKETS, WIDEST_SLACK = 52, 10
USUAL_BUCKETS = ("1d", "1w", "2w", "1mo")
BUCKET = {"pattern": "^[1-9][0-9]{0,3}(d|w|mo)$"}
PERCENTS = {"pattern": "^[1-9][0-9]?%?(, ?[1-9][0-9]?%?)*$"}
Topic = Annotated[str, Query(min_length=1, max_length=LONGEST_TOPIC)]


@router.get("/standing", responses=html(SEE_OTHER))
def standing(request: Request, session: CurrentSession) -> Response:
    """All sensitive topics."""
    person = session.person
    if person is None:
        return see_other("/start")
    found = pages.list_signs(person)
    first, received = found[0], session.received
    edge = pages.widest_band(person.setting)
    reasons = pages.view_posts(person, person.evidence(first.topic, REASONS))
    return show(
        request,
        "standing.html",
        language=person.language_warning,
        simulated=person.among_simulated,
        verdict=verdict_of_all(found),
        first=None if first.absent else first,
        reasons=[one for one in reasons if one.evidence.level or one.evidence.share > 0],
        signs=[one for one in found if one.shows],
        rest=[one for one in found if not one.shows],
        words_read=person.disclosures.words,
        edge=edge,
        # They may stand out on a topic of which that is not known.
        unsure=any(one.standing.may_be_within(edge) for one in found if not one.stands_out),
        measure=person.setting.measure,
        posts_in_words=count_of(len(person.posts), "post", "posts") + " of yours",
        compared_with=session.compared_with,
        new_alerts=_new_alerts(session),
        help_line=_help_line(request, found),
        read_as=None if received is None else received.read_as,
        left_out=None if received is None else received.left_out,
    )


def _help_line(request: Request, found: Sequence[Signs]) -> str | None:
    """That help exists: said where a topic of health shows, and nowhere else."""
    about = {name for one in found if one.shows for name in (one.standing.domain, one.topic)}
    return None if HEALTH.isdisjoint(about) else request.app.state.help_line


@router.get("/topic", responses=html(SEE_OTHER, NOT_FOUND))
def topic(
    request: Request,
    session: CurrentSession,
    name: Topic,
    most: Annotated[int, Query(ge=1, le=SHOWN_MOST)] = SHOWN_FIRST,
) -> Response:
    """One topic: why, over time, what if, what to do."""
    person = session.person
    if person is None:
        return see_other("/start")
    if name not in person.topics:
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
    if topic not in session.person.topics:
        return unknown_topic(request)
    if again:
        session.untick(session.removed, session.removed)
    else:
        session.untick(shown, kept)
    most = max(SHOWN_FIRST, len(shown))
    return see_other(pages.topic_address(topic, most=most) + "#why")


def unknown_topic(request: Request) -> HTMLResponse:
    """There is no such topic."""
    problem = "This community has no sensitive topic of that name."
    return show(request, "problem.html", status=NOT_FOUND, problem=problem, back="/standing")


def _topic_page(
    request: Request, session: AdvisorSession, person: Person, name: str, most: int
) -> HTMLResponse:
    evidence, timeline = person.evidence(name, most), person.timeline(name)
    signs, drawn = pages.read_signs(person, name), words.draw(timeline)
    return show(
        request,
        "topic.html",
        language=person.language_warning,
        one=signs,
        parts=pages.list_components(signs.standing, person.setting),
        drawn=drawn,
        drawings=[drawn, words.draw(timeline, words.NARROW)],
        bucket=pages.bucket_in_words(person.setting.bucket),
        over_time=words.over_time(drawn),
        posts=pages.view_posts(person, evidence, session.removed),
        more=pages.topic_address(name, most=most * MORE) + "#why" if evidence.others else None,
        all_posts=len(person.posts),
        words_read=person.disclosures.words,
        what_if=answers.without_posts(person, name, session.removed),
        words=evidence.words,
        ways=guidance(signs.standing, evidence, person),
        report=pages.report_address(name) if session.may_report(name) else None,
        measure=person.setting.measure,
        help_line=_help_line(request, [signs]),
    )


def _new_alerts(session: AdvisorSession) -> str | None:
    unseen = len(session.store.alerts(unseen=True))
    verb = "is" if unseen == 1 else "are"
    return f"There {verb} {count_of(unseen, 'new alert', 'new alerts')}." if unseen else None


@router.get("/draft", responses=html(SEE_OTHER))
def draft(request: Request, session: CurrentSession) -> Response:
    """The draft, and what it would do."""
    if session.person is None:
        return see_other("/start")
    found = answers.check_draft(session.person, session.draft)
    return show(request, "draft.html", text=session.draft, **vars(found))


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
    return _refuse_report(request, session, name) or _quote_page(request, session, name, sent=sent)


@router.post("/report", status_code=SEE_OTHER, responses=html(SEE_OTHER, NOT_FOUND, REFUSED))
def report(
    request: Request,
    session: CurrentSession,
    name: Annotated[str, Form(min_length=1, max_length=LONGEST_TOPIC)],
    agreed: Annotated[str, Form(min_length=1, max_length=LONGEST_MARK)],
    agree: Annotated[Literal["yes"], Form()],  # noqa: ARG001 - that it is there says enough
) -> Response:
    """Send it, exactly as it was shown."""
    refused = _refuse_report(request, session, name)
    if refused is not None:
        return refused
    try:
        session.report(name, agreed)
    except SottovoceError as error:
        return _quote_page(request, session, name, problem=str(error))
    return see_other(pages.report_address(name, sent="true"))


def _refuse_report(request: Request, session: AdvisorSession, name: str) -> Response | None:
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
    shown: dict[str, object] = {"quote": None}
    try:
        found = session.quote(name)
    except SottovoceError as error:
        problem = problem or str(error)
    else:
        shown = {
            "quote": found,
            "epsilon": text_up(found.epsilon),
            "factor": words.factor_in_words(float(found.epsilon)),
            "cost": text_up(found.cost),
            "left": text_up(found.left),
            "budget": text_up(found.budget),
            "period": pages.duration(found.period_s),
        }
    return show(
        request,
        "report.html",
        status=200 if problem is None else REFUSED,
        problem=problem,
        told="Your report was sent." if sent else None,
        topic=name,
        back=pages.topic_address(name),
        **shown,
    )


@settings_router.get("/settings")
def settings(request: Request, session: CurrentSession, changed: bool = False) -> HTMLResponse:
    """What can be set, and what is kept where."""
    told = "The settings were changed." if changed else None
    return _settings_page(request, session, told=told)


@settings_router.post("/settings", status_code=SEE_OTHER, responses=html(SEE_OTHER, REFUSED))
def change(
    request: Request,
    session: CurrentSession,
    measure: Annotated[str, Form(min_length=1, max_length=100)],
    k: Annotated[float, Form(gt=0, le=1)],
    m: Annotated[int, Form(ge=1, le=MOST_BUCKETS)],
    # Checked by the setting itself, whose sentences are better.
    bucket: Annotated[str, Form(min_length=1, max_length=10, json_schema_extra=BUCKET)],
    thresholds: Annotated[str, Form(min_length=1, max_length=100, json_schema_extra=PERCENTS)],
    hysteresis: Annotated[float, Form(ge=0, le=WIDEST_SLACK)],
) -> Response:
    """Use other settings."""
    try:
        percents = _percents(thresholds)
        session.use(
            AdvisorSetting(measure, k, m, bucket, percents, hysteresis, session.setting.mode)
        )
    except SottovoceError as error:
        return _settings_page(request, session, status=REFUSED, problem=str(error))
    return see_other("/settings?changed=true")


@settings_router.get("/alerts")
def alerts(request: Request, session: CurrentSession) -> HTMLResponse:
    """Bands that they entered or left."""
    percents = [f"{percent}%" for percent in sorted(session.setting.thresholds)]
    return show(
        request,
        "alerts.html",
        thresholds=pages.join_names(percents),
        alerts=session.store.alerts(),
        unseen=bool(session.store.alerts(unseen=True)),
    )


@settings_router.post("/alerts/seen", status_code=SEE_OTHER, responses=html(SEE_OTHER))
def mark_seen(session: CurrentSession) -> Response:
    """The alerts were seen: they are no longer new, and stay listed."""
    session.store.acknowledge([alert.id for alert in session.store.alerts(unseen=True)])
    return see_other("/alerts")


@settings_router.get("/delete")
def ask_to_delete(request: Request, session: CurrentSession) -> HTMLResponse:
    """Are they sure?"""
    return show(request, "delete.html", store=session.path)


@settings_router.post("/delete", status_code=SEE_OTHER, responses=html(SEE_OTHER))
def delete(session: CurrentSession, sure: Annotated[Literal["yes", "no"], Form()]) -> Response:
    """Delete everything."""
    if sure != "yes":
        return see_other("/delete")
    session.erase()
    return see_other("/start?deleted=true")


def _percents(written: str) -> tuple[int, ...]:
    parts = [part.strip().removesuffix("%").strip() for part in written.split(",")]
    if not all(part.isascii() and part.isdecimal() for part in parts):
        raise ParameterError("bands must be whole percentages with commas between them: 1, 5, 10.")
    return tuple(sorted({int(part) for part in parts}))


def _list_measures(names: Iterable[str]) -> list[tuple[str, str]]:
    """Measures in words; a sentence begins with a capital."""
    found = [(name, words.measure_in_words(name)) for name in names]
    return [(name, said[:1].upper() + said[1:]) for name, said in found]


def _settings_page(
    request: Request,
    session: AdvisorSession,
    *,
    status: int = 200,
    problem: str | None = None,
    told: str | None = None,
) -> HTMLResponse:
    setting = session.setting
    community = session.community() if session.person is None else session.person.community
    at_hand = community.measures
    paper = [name for name in PAPER_METHODS if name not in RECOMMENDED and name in at_hand]
    # Stretches of time to choose from, the present one among them.
    buckets = dict.fromkeys([*USUAL_BUCKETS, setting.bucket])
    return show(
        request,
        "settings.html",
        status=status,
        problem=problem,
        told=told,
        setting=setting,
        recommended=_list_measures(name for name in RECOMMENDED if name in at_hand),
        paper=_list_measures(paper),
        others=_list_measures(name for name in at_hand if name not in {*RECOMMENDED, *paper}),
        buckets=[(name, pages.bucket_in_words(name)) for name in buckets],
        store=session.path,
    )
