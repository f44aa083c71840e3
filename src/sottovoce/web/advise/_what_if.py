"""What if, and drafts: tried out on the engine, told in words, as JSON for the page's script."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Annotated, Any

from fastapi import APIRouter, Depends, HTTPException
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints

from sottovoce.advisor import verdict as say
from sottovoce.advisor.person import DraftCheck, DraftTopic, Person
from sottovoce.advisor.person_values import FUNCTION_WORDS, draft_warning
from sottovoce.advisor.standing import Standing
from sottovoce.advisor.verdict import HOW_PLAINLY, TextPiece, pieces
from sottovoce.assess.disclosure.levels import DisclosureLevel
from sottovoce.corpus.clean import clean_text
from sottovoce.web.advise import _words as words
from sottovoce.web.advise._pages import BAD_INPUT, NOT_FOUND, REFUSED, UNREADABLE, with_refusals
from sottovoce.web.advise._words import StandingMark, count_of, place
from sottovoce.web.advise.session import CurrentSession
from sottovoce.web.guards import Problem

_NOBODY: dict[int | str, dict[str, Any]] = {REFUSED: {"model": Problem}}
_REFUSALS = with_refusals({BAD_INPUT: {"model": Problem}, UNREADABLE: {"model": Problem}})
router = APIRouter(prefix="/api", tags=["api"], responses=_REFUSALS)
LONGEST_TOPIC = 1000
LONGEST_DRAFT = 100_000
MOST_POSTS = 50_000
WORDS_NAMED = 6
TOPICS_TOLD = 2
AS_STRONG = 0.5
"""Of their strongest post: a draft that comes half as close would count without it."""
WITHOUT_WORDS_ZERO = frozenset({"bow", "voice", "voice-s"})
"""Spaces in which a text without a telling word has no strength at all."""
REPHRASE_REASON = (
    "A program that ranks people looks for certain words; a reader may understand you without them."
)

NOTHING_OWN = "The draft has no words of your own: quotes and web addresses do not count."
TopicName = Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_TOPIC)]


def _whole(value: object) -> object:
    # To JSON 80.0 is as whole a number as 80.
    return int(value) if isinstance(value, float) and value.is_integer() else value


PostId = Annotated[int, Field(ge=0, lt=2**53, strict=True), BeforeValidator(_whole)]


class Asked(BaseModel):
    """A request: nothing unknown in it, so that a slip is told rather than ignored."""

    model_config = ConfigDict(extra="forbid")


class WhatIf(Asked):
    """Of the posts shown, those still ticked; the others count as never written."""

    topic: TopicName
    shown: list[PostId] = Field(max_length=MOST_POSTS)
    kept: list[PostId] = Field(max_length=MOST_POSTS)


class Draft(Asked):
    """A post that is not published yet."""

    text: Annotated[str, StringConstraints(max_length=LONGEST_DRAFT)]


@dataclass(frozen=True)
class WhatIfAnswer:
    """Where they would stand, in words and on the strip."""

    change: str
    count: str
    mark: StandingMark | None


@dataclass(frozen=True)
class DraftRow:
    """What it would do for one topic."""

    topic: str
    says: str
    now: str
    then: str
    words: str


@dataclass(frozen=True)
class Way:
    """Something they can do, and why."""

    title: str
    reason: str
    effect: str | None


@dataclass(frozen=True)
class DraftAnswer:
    """What a draft says, and what publishing it would do; a piece may give a topic away."""

    summary: str
    rows: tuple[DraftRow, ...] = ()
    ways: tuple[Way, ...] = ()
    pieces: tuple[TextPiece, ...] = ()


def current_person(session: CurrentSession) -> Person:
    """Whoever has brought posts."""
    if session.person is None:
        raise HTTPException(REFUSED, "Bring some posts first.")
    return session.person


CurrentPerson = Annotated[Person, Depends(current_person)]


@router.put("/what-if", responses={**_NOBODY, NOT_FOUND: {"model": Problem}})
def what_if(session: CurrentSession, person: CurrentPerson, asked: WhatIf) -> WhatIfAnswer:
    """Where they would stand without the posts that are not ticked, which stay unticked."""
    if asked.topic not in person.topics:
        raise HTTPException(NOT_FOUND, "There is no sensitive topic of that name.")
    return without_posts(person, asked.topic, session.untick(asked.shown, asked.kept))


@router.post("/draft", responses=_NOBODY)
def draft(session: CurrentSession, person: CurrentPerson, asked: Draft) -> DraftAnswer:
    """What publishing a draft would do; it is kept so that a reload does not lose it."""
    session.draft = asked.text
    return check_draft(person, asked.text)


def without_posts(person: Person, topic: str, removed: Collection[int]) -> WhatIfAnswer:
    """Where they would stand without these posts, in words."""
    before = person.standing(topic)
    if not removed:
        now = "All your posts are ticked: this is where you stand now."
        return WhatIfAnswer(now, "", place(before))
    after = person.standings_without(sorted(removed))[person.column(topic)]
    count = f"{count_of(len(removed), 'post', 'posts')} of {len(person.posts):,} left out."
    if left := set(person.disclosures.of_topic(topic).outright) - set(removed):
        still = count_of(len(left), "of the others still says", "of the others still say")
        count = f"{count} {still} it outright."
    return WhatIfAnswer(words.change(before, after), count, place(after))


def check_draft(person: Person, text: str) -> DraftAnswer:
    """What ``text`` says, and what publishing it would do, in words; quotes in it do not count."""
    if not text.strip():
        return DraftAnswer("There is no draft yet.")
    text = clean_text(text)
    if not text:
        return DraftAnswer(NOTHING_OWN)
    check = person.with_draft(text)
    found = [topic for topic in check.topics if _touches(person, topic)]
    warning = draft_warning(text, built_in=person.community.topics_built_in)
    before = "" if warning is None else f"{warning} "
    found.sort(key=lambda one: (-one.level, one.before.low == one.after.low, one.after.percent))
    if not found:
        return DraftAnswer(before + _describe_none(check))
    return DraftAnswer(
        before + _summary(found),
        tuple(_row(topic, text) for topic in found),
        _ways(found[0]),
        tuple(pieces(text, [span for topic in found for span in topic.spans])),
    )


def _touches(person: Person, topic: DraftTopic) -> bool:
    """Whether the draft names the topic, or weighs on it where a ranking lists them early.

    An unchanged place is no sign that it does not. Among made-up people only what it names counts.
    """
    if topic.after.simulated:
        return bool(topic.level)
    own = topic.strength or 0.0
    as_strong = own > 0 and own >= AS_STRONG * (topic.before.strength or 0.0)
    telling = person.measure.space in WITHOUT_WORDS_ZERO and as_strong
    weighs = telling or topic.before.score != topic.after.score
    early = topic.after.may_be_within(max(person.setting.thresholds))
    return bool(topic.level) or (weighs and early)


def _ways(topic: DraftTopic) -> tuple[Way, ...]:
    """What they could do with the draft; publishing it as it is stands last, and is as good."""
    elsewhere = say.effect_of_anonymity(topic.before)
    ways = [Way(say.ANONYMOUS, say.ANONYMOUS_REASON, elsewhere)]
    if topic.words:
        word = topic.words[0]
        spared = say.place(replace(topic.after, low=word.low, high=word.high))
        effect = f"Without \u201c{word.word}\u201d you would be at {spared}."
        ways.append(Way(say.REPHRASE, REPHRASE_REASON, effect))
    effect = f"You would be at {say.place(topic.after)}."
    return (*ways, Way("Publish it as it is", say.NOTHING_REASON_FLAGGED, effect))


def _describe_none(check: DraftCheck) -> str:
    read = count_of(check.words_read, "word", "words")
    topics = f"any of the {len(check.topics)} sensitive topics"
    if check.topics[0].after.simulated:
        return f"No word of {topics} was found in its {read}."
    found = f"No sign of {topics} in its {read}"
    if not check.known_words:
        return f"{found}, none of which the ranking knows."
    moved = max(check.topics, key=_moves)
    if _moves(moved) <= 0:
        return f"{found}."
    return f"{found}, but a ranking would still move you. {words.change(moved.before, moved.after)}"


def _moves(topic: DraftTopic) -> int:
    """By how many places a ranking would come to them sooner."""
    return (topic.before.high or 0) - (topic.after.high or 0)


def _summary(found: list[DraftTopic]) -> str:
    told = " ".join(f"{_says(topic)} {_place_with(topic)}" for topic in found[:TOPICS_TOLD])
    more = len(found) - TOPICS_TOLD
    return f"{told} {count_of(more, 'more topic', 'more topics')} below." if more > 0 else told


def _says(topic: DraftTopic) -> str:
    if topic.level is DisclosureLevel.OUTRIGHT:
        return f"It says it outright: {topic.before.topic}."
    if topic.level is DisclosureLevel.ABOUT:
        return f"It is about {topic.before.topic}, but does not say outright that it concerns you."
    return f"Some of its words count towards {topic.before.topic}."


def _place_with(topic: DraftTopic) -> str:
    """Where the draft would put them; a place that stays is told with what holds it."""
    before, after = topic.before, topic.after
    if (before.low, before.high) != (after.low, after.high) or before.low is None:
        return words.change(before, after)
    if before.users == 1:
        return "Nobody else is known yet, so you have no place."
    if not after.evident:
        return "The ranking ignores these words, but a reader would not."
    if before.low == 1:
        here = f"{words.places(before)} of {before.users:,}"
        return f"You are {here} already, the highest place there is."
    if topic.covering:
        posts = count_of(topic.covering, "stronger post", "stronger posts")
        return (
            f"Your place stays {words.short_places(before)} of {before.users:,}, held by {posts} "
            "of yours; the draft would count if they were gone."
        )
    return f"Your place stays {words.short_places(before)} of {before.users:,}."


def _row(topic: DraftTopic, text: str) -> DraftRow:
    told = [text[start:end] for start, end in topic.spans]
    weighing = [word.word for word in topic.words if word.word not in FUNCTION_WORDS]
    named = ", ".join((weighing or told)[:WORDS_NAMED])
    return DraftRow(
        topic=topic.before.topic,
        says=HOW_PLAINLY[topic.level],
        now=_where(topic.before),
        then=_where(topic.after),
        words=named or "no single word",
    )


def _where(standing: Standing) -> str:
    return f"{words.short_places(standing)} ({words.chip(standing)})"
