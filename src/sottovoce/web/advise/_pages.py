"""Pages from templates, and what these show of a standing, a piece of evidence, a change.

Everything a person wrote is escaped on its way into a page.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from importlib.resources import files
from typing import Any
from urllib.parse import urlencode

from fastapi import Request
from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.responses import HTMLResponse, Response

import sottovoce
from sottovoce.advisor.alert_store import Alert
from sottovoce.advisor.evidence import Evidence, PostEvidence
from sottovoce.advisor.person import Person
from sottovoce.advisor.person_values import AdvisorSetting
from sottovoce.advisor.standing import Standing
from sottovoce.advisor.verdict import (
    HOW_PLAINLY,
    NOT_A_DIAGNOSIS,
    Signs,
    TextPiece,
    pieces,
    spans_of_words,
    verdict,
)
from sottovoce.assess.disclosure.levels import DisclosureLevel
from sottovoce.assess.measures.catalogue import lift_in_words
from sottovoce.web.advise import _words as words
from sottovoce.web.advise._words import count_of
from sottovoce.web.advise.session import current_session
from sottovoce.web.guards import Problem

SEE_OTHER = 303
BAD_INPUT, NOT_FOUND, TOO_LARGE, UNREADABLE = 400, 404, 413, 422
REFUSED = 409
MENU = (
    ("/standing", "Where you stand"),
    ("/draft", "Check a draft"),
    ("/alerts", "Alerts"),
    ("/settings", "Settings"),
    ("/start", "Bring posts"),
)


@cache
def templates() -> Environment:
    """The page's own templates: always escaping, and a name that is missing is an error."""
    environment = Environment(
        loader=PackageLoader("sottovoce.web.advise"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals |= {
        "version": sottovoce.__version__,
        "menu": MENU,
        "not_a_diagnosis": NOT_A_DIAGNOSIS,
        "bands": words.bands(),
        "OUTRIGHT": DisclosureLevel.OUTRIGHT,
    }
    environment.filters |= {
        "address": topic_address,
        "chip": words.chip,
        "crowd": words.crowd,
        "day": name_day,
        "doubt": words.doubt,
        "event": tell_event,
        "expected": lift_in_words,
        "in_words": words.measure_in_words,
        "mark": place_evident,
        "places": words.short_places,
        "plainly": HOW_PLAINLY.__getitem__,
        "says": count_disclosures,
        "sentence": words.place_sentence,
        "verdict": verdict,
    }
    return environment


def page(template: str, *, status: int = 200, **shown: object) -> HTMLResponse:
    """A page made from ``template``."""
    return HTMLResponse(templates().get_template(template).render(shown), status_code=status)


@cache
def asset(name: str) -> bytes:
    """A style or script of ours."""
    return files("sottovoce.web.advise").joinpath("assets", name).read_bytes()


def show(request: Request, template: str, *, status: int = 200, **shown: object) -> HTMLResponse:
    """A page with the menu around it."""
    session = current_session(request)
    reporting = session.reporting
    frame = {
        "here": request.url.path,
        "reports": None if reporting is None else reporting.folder,
        "kept_in": session.path.name,
        "file_waits": session.kept_file is not None,
    }
    return page(template, status=status, **{"told": None, "problem": None, **frame, **shown})


def see_other(address: str) -> Response:
    """On to another page; reloading it repeats nothing."""
    return HTMLResponse("", SEE_OTHER, {"location": address})


def with_refusals(responses: dict[int | str, dict[str, Any]]) -> dict[int | str, dict[str, Any]]:
    """For the OpenAPI document: what any route may refuse, beside its own answers."""
    return {TOO_LARGE: {"model": Problem, "description": "Too large"}, **responses}


def html(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """For the OpenAPI document: pages with these statuses."""
    content = {"text/html": {"schema": {"type": "string"}}}
    return {
        status: {"description": "Elsewhere"}
        if status == SEE_OTHER
        else {"description": "A page", "content": content}
        for status in statuses
    }


PAGES = with_refusals(html(BAD_INPUT, UNREADABLE))
LONGEST_SHOWN = 1000
_UNITS = (
    (7 * 86_400, "week", "weeks"),
    (86_400, "day", "days"),
    (3600, "hour", "hours"),
    (60, "minute", "minutes"),
)
CLOSENESS = "How close your closest post comes to the topic; at 1 it has no other words."
EVIDENCE_OF_WORDS = (
    "How much your strongest post uses the words of people who speak of the topic as their own; "
    "at 0 they suggest neither."
)
BREADTH = (
    "How much you also write about the topic's neighbours. Someone who writes about all of them "
    "may do so by profession."
)
PERSISTENCE = (
    "The mean of your {m} strongest weeks or other stretches of time. Someone who wrote about it "
    "once may just be curious."
)
EVIDENCE = 20.0


def topic_address(topic: str, **more: object) -> str:
    """The page of one topic; any name can be told apart."""
    return "/topic?" + urlencode({"name": topic, **more})


def report_address(topic: str, **more: object) -> str:
    """The page on which they decide about a report."""
    return "/report?" + urlencode({"name": topic, **more})


def duration(seconds: int) -> str:
    """``1 week``, ``36 hours``."""
    for unit, one, many in _UNITS:
        if seconds % unit == 0:
            return count_of(seconds // unit, one, many)
    return count_of(seconds, "second", "seconds")


def bucket_in_words(bucket: str) -> str:
    """``week`` for ``1w``, ``2 weeks`` for ``2w``."""
    digits = bucket.rstrip("dwmo")
    unit = {"d": "day", "w": "week", "mo": "month"}[bucket[len(digits) :]]
    return unit if digits == "1" else f"{digits} {unit}s"


def name_day(time: datetime) -> str:
    """``1 March 2026, 14:05``."""
    return f"{time.day} {time:%B %Y, %H:%M}"


def widest_band(setting: AdvisorSetting) -> int:
    """The widest band in which one counts as standing out."""
    return max(setting.thresholds)


def read_signs(person: Person, topic: str) -> Signs:
    """One topic of a person's: both signals."""
    said = person.disclosures.of_topic(topic)
    return Signs(person.standing(topic), said, widest_band(person.setting))


def list_signs(person: Person) -> list[Signs]:
    """All topics, those that tell most first."""
    found = [read_signs(person, topic) for topic in person.topics]
    return sorted(found, key=lambda one: (one.order, one.topic))


def count_disclosures(signs: Signs) -> str | None:
    """How many posts say it outright, or are about it, in a few words."""
    said = signs.disclosures
    if said.outright:
        return count_of(len(said.outright), "post says it outright", "posts say it outright")
    return (
        count_of(len(said.about), "post is about it", "posts are about it") if said.about else None
    )


def place_evident(standing: Standing) -> words.StandingMark | None:
    """Their mark on the strip, where anything puts them there."""
    return words.place(standing) if standing.evident else None


def list_components(
    standing: Standing, setting: AdvisorSetting
) -> list[tuple[str, float, str, float]]:
    """Strength, breadth and persistence, for a measure that has them.

    Each with its value, what it means, and up to which value its bar is drawn.
    """
    if standing.strength is None:
        return []
    values = (standing.strength, standing.breadth or 0.0, standing.persistence or 0.0)
    is_voice = setting.how().is_voice
    largest = max(EVIDENCE, *values) if is_voice else 1.0
    meanings = (
        EVIDENCE_OF_WORDS if is_voice else CLOSENESS, BREADTH, PERSISTENCE.format(m=setting.m)
    )  # fmt: skip
    names = ("Strength", "Breadth", "Persistence")
    return [(*each, largest) for each in zip(names, values, meanings, strict=True)]


@dataclass(frozen=True)
class PostView:
    """One post in the list of evidence; a very long one is cut."""

    evidence: PostEvidence
    pieces: list[TextPiece]
    more: str | None
    weight: str
    gone: bool


def weigh_post(post: PostEvidence, above: int) -> str:
    """What the ranking makes of one post; one that others cover would count without them."""
    if post.share > 0:
        return f"{post.share:.0%} of what raises your place"
    if post.adds > 0:
        return "moves the score a little"
    if (post.strength or 0.0) <= 0 or not post.stronger:
        return "the ranking ignores it, but a reader would not"
    count, where = (
        (above, "above") if post.stronger <= above else (post.stronger, "that is stronger")
    )
    if count == 1:
        return f"would count if the post {where} was gone"
    return f"would count if the {count:,} posts {where.replace('is', 'are')} were gone"


def view_posts(person: Person, evidence: Evidence, removed: Collection[int] = ()) -> list[PostView]:
    """The listed posts with their telling words."""
    terms = {word.word for word in evidence.words}
    rules = person.values.scorer.rules
    found = []
    for above, post in enumerate(evidence.posts):
        text, rest = post.text[:LONGEST_SHOWN], len(post.text) - LONGEST_SHOWN
        marked = pieces(text, [*post.spans, *spans_of_words(text, terms, rules)])
        more = f"… ({rest:,} more characters)" if rest > 0 else None
        gone = post.id in removed
        found.append(PostView(post, marked, more, weigh_post(post, above), gone))
    return found


def tell_event(alert: Alert) -> str:
    """What happened at once: a band, and what posts say outright."""
    return " ".join(_tell_parts(alert))


def _tell_parts(alert: Alert) -> Iterator[str]:
    if alert.percent is not None:
        way = "entered" if alert.entered else "left"
        among = f" among {alert.users - 1:,} made-up people" if alert.simulated else ""
        yield f"You {way} the first {alert.percent}%{among}."
    if alert.outright:
        posts = count_of(alert.outright, "post of yours says", "posts of yours say")
        yield f"{posts} it outright."
    if alert.low is not None and alert.high is not None and (alert.entered or not alert.percent):
        places = str(alert.low) if alert.low == alert.high else f"{alert.low:,} to {alert.high:,}"
        told = alert.percent is not None or not alert.simulated
        made_up = "" if told else f": you and {alert.users - 1:,} made-up people"
        yield f"Your place: {places} of {alert.users:,}{made_up}."


def join_names(names: Sequence[str]) -> str:
    """``1%, 5% or 10%``."""
    return " or ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else names[0]
