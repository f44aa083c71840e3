"""The same answers as JSON, for the page's own script."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, HTTPException, Query

from sottovoce.advisor.person import Person
from sottovoce.web.advise import _answers as answers
from sottovoce.web.advise._models import (
    LONGEST_TOPIC,
    AlertAnswer,
    Draft,
    DraftAnswer,
    EvidenceAnswer,
    StandingAnswer,
    TimelineAnswer,
    WhatIf,
    WhatIfAnswer,
)
from sottovoce.web.advise._pages import (
    BAD_INPUT,
    NOTHING_BROUGHT,
    UNREADABLE,
    CurrentSession,
    with_refusals,
)
from sottovoce.web.security.requests import Problem

NOT_FOUND = 404
EVIDENCE_MOST = 1000
_NOBODY: dict[int | str, dict[str, Any]] = {NOTHING_BROUGHT: {"model": Problem}}
_NO_TOPIC: dict[int | str, dict[str, Any]] = {**_NOBODY, NOT_FOUND: {"model": Problem}}
_REFUSALS = with_refusals({BAD_INPUT: {"model": Problem}, UNREADABLE: {"model": Problem}})
router = APIRouter(prefix="/api", tags=["api"], responses=_REFUSALS)


def current_person(session: CurrentSession) -> Person:
    """Whoever has brought posts."""
    if session.person is None:
        raise HTTPException(NOTHING_BROUGHT, "Bring some posts first.")
    return session.person


CurrentPerson = Annotated[Person, Depends(current_person)]


def known_topic(
    person: CurrentPerson, name: Annotated[str, Query(min_length=1, max_length=LONGEST_TOPIC)]
) -> str:
    """A sensitive topic of the community."""
    if name not in person.community.topics:
        raise HTTPException(NOT_FOUND, "There is no sensitive topic of that name.")
    return name


KnownTopic = Annotated[str, Depends(known_topic)]


@router.get("/standings", responses=_NOBODY)
def standings(person: CurrentPerson) -> list[StandingAnswer]:
    """Where they stand for each sensitive topic."""
    return [StandingAnswer.of(one) for one in person.standings()]


@router.get("/evidence", responses=_NO_TOPIC)
def evidence(
    person: CurrentPerson,
    topic: KnownTopic,
    most: Annotated[int, Query(ge=1, le=EVIDENCE_MOST)] = 20,
) -> EvidenceAnswer:
    """The posts and words that put them there."""
    return EvidenceAnswer.of(person.evidence(topic, most))


@router.get("/timeline", responses=_NO_TOPIC)
def timeline(person: CurrentPerson, topic: KnownTopic) -> TimelineAnswer:
    """Their history for one topic."""
    return TimelineAnswer.of(person.timeline(topic))


@router.put("/what-if", responses=_NO_TOPIC)
def what_if(session: CurrentSession, person: CurrentPerson, asked: WhatIf) -> WhatIfAnswer:
    """Where they would stand without the posts that are not ticked, which stay unticked."""
    if asked.topic not in person.community.topics:
        raise HTTPException(NOT_FOUND, "There is no sensitive topic of that name.")
    return answers.without_posts(person, asked.topic, session.untick(asked.shown, asked.kept))


@router.post("/draft", responses=_NOBODY)
def draft(session: CurrentSession, person: CurrentPerson, asked: Draft) -> DraftAnswer:
    """What publishing a draft would do; it is kept so that a reload does not lose it."""
    session.draft = asked.text
    return answers.with_draft(person, asked.text)


@router.get("/alerts")
def alerts(session: CurrentSession) -> list[AlertAnswer]:
    """Bands that they entered or left, the latest first."""
    return [
        AlertAnswer(
            time=alert.time,
            topic=alert.topic,
            percent=alert.percent,
            entered=alert.entered,
            outright=alert.outright,
            simulated=alert.simulated,
        )
        for alert in session.store.alerts()
    ]


@router.delete("/everything", status_code=204)
def delete(session: CurrentSession) -> None:
    """Delete everything."""
    session.erase()
