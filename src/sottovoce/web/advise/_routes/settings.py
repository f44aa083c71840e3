"""Settings, alerts, and the end of it all."""

from typing import Annotated, Literal

from fastapi import APIRouter, Form, Request
from starlette.responses import HTMLResponse, Response

from sottovoce.advisor._settings import AdvisorSetting
from sottovoce.errors import ParameterError, SottovoceError
from sottovoce.web.advise import _views as views
from sottovoce.web.advise._pages import PAGES, SEE_OTHER, TheDesk, go, html, show
from sottovoce.web.advise._session import AdvisorSession
from sottovoce.web.advise._words import measure_in_words

router = APIRouter(default_response_class=HTMLResponse, tags=["settings"], responses=PAGES)
REFUSED = 409
MOST_BUCKETS, WIDEST_SLACK = 52, 10
BUCKET = {"pattern": "^[1-9][0-9]{0,3}(d|w|mo)$"}
PERCENTS = {"pattern": "^[1-9][0-9]?%?(, ?[1-9][0-9]?%?)*$"}


@router.get("/settings")
def settings(request: Request, desk: TheDesk, changed: bool = False) -> HTMLResponse:
    """What can be set, and what is kept where."""
    told = "The settings were changed." if changed else None
    return _settings_page(request, desk, desk.setting, told=told)


@router.post("/settings", status_code=SEE_OTHER, responses=html(SEE_OTHER, REFUSED))
def change(
    request: Request,
    desk: TheDesk,
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
        desk.use(AdvisorSetting(measure, k, m, bucket, percents, hysteresis, desk.setting.mode))
    except SottovoceError as error:
        return _settings_page(request, desk, desk.setting, status=REFUSED, problem=str(error))
    return go("/settings?changed=true")


@router.get("/alerts")
def alerts(request: Request, desk: TheDesk) -> HTMLResponse:
    """Bands that she entered or left."""
    percents = [f"{percent}%" for percent in sorted(desk.setting.thresholds)]
    return show(
        request,
        "alerts.html",
        thresholds=views.listed(percents),
        alerts=[views.AlertView.of(alert) for alert in desk.store.alerts()],
        unseen=bool(desk.store.alerts(unseen=True)),
    )


@router.post("/alerts/seen", status_code=SEE_OTHER, responses=html(SEE_OTHER))
def seen(desk: TheDesk) -> Response:
    """She has seen the alerts: they are no longer new, and stay listed."""
    desk.store.acknowledge([alert.id for alert in desk.store.alerts(unseen=True)])
    return go("/alerts")


@router.get("/delete")
def ask_to_delete(request: Request, desk: TheDesk) -> HTMLResponse:
    """Is she sure?"""
    return show(request, "delete.html", store=desk.path)


@router.post("/delete", status_code=SEE_OTHER, responses=html(SEE_OTHER))
def delete(desk: TheDesk, sure: Annotated[Literal["yes", "no"], Form()]) -> Response:
    """Delete everything."""
    if sure != "yes":
        return go("/delete")
    desk.erase()
    return go("/start?deleted=true")


def _percents(written: str) -> tuple[int, ...]:
    parts = [part.strip().removesuffix("%").strip() for part in written.split(",")]
    if not all(part.isascii() and part.isdecimal() for part in parts):
        raise ParameterError("bands must be whole percentages with commas between them: 1, 5, 10.")
    return tuple(sorted({int(part) for part in parts}))


def _settings_page(
    request: Request,
    desk: AdvisorSession,
    setting: AdvisorSetting,
    *,
    status: int = 200,
    problem: str | None = None,
    told: str | None = None,
) -> HTMLResponse:
    community = desk.community() if desk.person is None else desk.person.community
    return show(
        request,
        "settings.html",
        status=status,
        problem=problem,
        told=told,
        setting=setting,
        measures=[(name, measure_in_words(name)) for name in community.measures],
        store=desk.path,
    )
