"""Settings, alerts, and deleting everything."""

from collections.abc import Collection, Iterable
from typing import Annotated, Literal

from fastapi import APIRouter, Form, Request
from starlette.responses import HTMLResponse, Response

from sottovoce.advisor.person_values import AdvisorSetting
from sottovoce.assess.measures.catalogue import PAPER_METHODS, RECOMMENDED, lift_in_words
from sottovoce.errors import ParameterError, SottovoceError
from sottovoce.web.advise import _views as views
from sottovoce.web.advise._pages import PAGES, SEE_OTHER, CurrentSession, html, see_other, show
from sottovoce.web.advise._words import measure_in_words
from sottovoce.web.advise.session import AdvisorSession

router = APIRouter(default_response_class=HTMLResponse, tags=["settings"], responses=PAGES)
REFUSED = 409
MOST_BUCKETS, WIDEST_SLACK = 52, 10
USUAL_BUCKETS = ("1d", "1w", "2w", "1mo")
BUCKET = {"pattern": "^[1-9][0-9]{0,3}(d|w|mo)$"}
PERCENTS = {"pattern": "^[1-9][0-9]?%?(, ?[1-9][0-9]?%?)*$"}


@router.get("/settings")
def settings(request: Request, session: CurrentSession, changed: bool = False) -> HTMLResponse:
    """What can be set, and what is kept where."""
    told = "The settings were changed." if changed else None
    return _settings_page(request, session, session.setting, told=told)


@router.post("/settings", status_code=SEE_OTHER, responses=html(SEE_OTHER, REFUSED))
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
        return _settings_page(request, session, session.setting, status=REFUSED, problem=str(error))
    return see_other("/settings?changed=true")


@router.get("/alerts")
def alerts(request: Request, session: CurrentSession) -> HTMLResponse:
    """Bands that they entered or left."""
    percents = [f"{percent}%" for percent in sorted(session.setting.thresholds)]
    return show(
        request,
        "alerts.html",
        thresholds=views.join_names(percents),
        alerts=[views.AlertView.from_alert(alert) for alert in session.store.alerts()],
        unseen=bool(session.store.alerts(unseen=True)),
    )


@router.post("/alerts/seen", status_code=SEE_OTHER, responses=html(SEE_OTHER))
def mark_seen(session: CurrentSession) -> Response:
    """The alerts were seen: they are no longer new, and stay listed."""
    session.store.acknowledge([alert.id for alert in session.store.alerts(unseen=True)])
    return see_other("/alerts")


@router.get("/delete")
def ask_to_delete(request: Request, session: CurrentSession) -> HTMLResponse:
    """Are they sure?"""
    return show(request, "delete.html", store=session.path)


@router.post("/delete", status_code=SEE_OTHER, responses=html(SEE_OTHER))
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


def _list_measures(names: Iterable[str], among: Collection[str]) -> list[tuple[str, str]]:
    """Those of ``names`` that are there, in words; a sentence begins with a capital."""
    found = [(name, measure_in_words(name)) for name in names if name in among]
    return [(name, words[:1].upper() + words[1:]) for name, words in found]


def _buckets(present: str) -> list[tuple[str, str]]:
    """Stretches of time to choose from, the present one among them."""
    names = dict.fromkeys([*USUAL_BUCKETS, present])
    return [(name, views.bucket_in_words(name)) for name in names]


def _settings_page(
    request: Request,
    session: AdvisorSession,
    setting: AdvisorSetting,
    *,
    status: int = 200,
    problem: str | None = None,
    told: str | None = None,
) -> HTMLResponse:
    community = session.community() if session.person is None else session.person.community
    return show(
        request,
        "settings.html",
        status=status,
        problem=problem,
        told=told,
        setting=setting,
        recommended=_list_measures(RECOMMENDED, community.measures),
        paper=_list_measures(PAPER_METHODS, set(community.measures) - set(RECOMMENDED)),
        others=_list_measures(
            community.measures, set(community.measures) - {*RECOMMENDED, *PAPER_METHODS}
        ),
        expected=lift_in_words(setting.measure),
        buckets=_buckets(setting.bucket),
        store=session.path,
    )
