"""What the templates show of a standing, a piece of evidence, a change."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlencode

from sottovoce.advisor.alert_store import Alert
from sottovoce.advisor.evidence import Evidence, PostEvidence
from sottovoce.advisor.person import Person
from sottovoce.advisor.person_values import AdvisorSetting
from sottovoce.advisor.standing import Standing
from sottovoce.advisor.verdict import (
    HOW_PLAINLY,
    Signs,
    Span,
    TextPiece,
    pieces,
    spans_of_words,
    verdict,
)
from sottovoce.assess.disclosure.levels import DisclosureLevel
from sottovoce.web.advise import _drawing as drawing
from sottovoce.web.advise import _words as words
from sottovoce.web.advise._drawing import TimelineDrawing

LONGEST_SHOWN = 1000
HEALTH = frozenset(
    {
        *("addiction", "mental health", "physical health", "medicine", "psychology"),
        *("pregnancy", "infertility and abortion", "domestic violence"),
    }
)
"""Domains and topics beside which a line says that help exists."""
_UNITS = (
    (7 * 86_400, "week", "weeks"),
    (86_400, "day", "days"),
    (3600, "hour", "hours"),
    (60, "minute", "minutes"),
)
CLOSENESS = "How close your closest post comes to the topic; at 1 it has no other words."
EVIDENCE_OF_WORDS = (
    "How much the words of your strongest post are those of people who speak of the topic as their "
    "own; at 0 they tell neither way."
)
BREADTH = (
    "How much you also write about the topic's neighbours. Someone who writes about all of them "
    "may do so by profession."
)
PERSISTENCE = (
    "The mean of your {m} strongest weeks or other stretches of time. Someone who came once may "
    "just be curious."
)
EVIDENCE = 20.0
OVER_TIME = (
    "Bars: how close your closest post of each week or other stretch of time comes to the topic. "
    "Line: your score with all posts up to then. Dashed: above such a line you are in the first "
    "percent that it names."
)


@dataclass(frozen=True)
class TopicView:
    """One topic: both signals in words, and a mark on the strip."""

    signs: Signs

    @property
    def standing(self) -> Standing:
        return self.signs.standing

    @property
    def topic(self) -> str:
        return self.signs.topic

    @property
    def shows(self) -> bool:
        """Whether a post names it, or a ranking of real people lists them among the first."""
        return self.signs.shows

    @property
    def crowd(self) -> str:
        """Whom the strip shows."""
        return words.crowd(self.standing)

    @property
    def address(self) -> str:
        return topic_address(self.topic)

    @property
    def verdict(self) -> str:
        return verdict(self.signs)

    @property
    def sentence(self) -> str:
        return words.place_sentence(self.standing)

    @property
    def doubt(self) -> str | None:
        return words.doubt(self.standing) if self.standing.evident else None

    @property
    def chip(self) -> str:
        return words.chip(self.standing)

    @property
    def says(self) -> str | None:
        """How many posts say it outright, or are about it, in a few words."""
        said = self.signs.disclosures
        if said.outright:
            return count_of(len(said.outright), "post says it outright", "posts say it outright")
        return (
            count_of(len(said.about), "post is about it", "posts are about it")
            if said.about
            else None
        )

    @property
    def about_health(self) -> bool:
        return not HEALTH.isdisjoint((self.standing.domain, self.topic))

    @property
    def is_alone(self) -> bool:
        return self.standing.users == 1

    @property
    def places(self) -> str:
        return words.short_places(self.standing)

    @property
    def mark(self) -> drawing.StandingMark | None:
        return drawing.place(self.standing) if self.standing.evident else None


@dataclass(frozen=True)
class ScoreComponent:
    """Strength, breadth or persistence."""

    name: str
    value: float
    meaning: str
    largest: float
    """Up to which its bar is drawn."""


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


def edge(setting: AdvisorSetting) -> int:
    """The widest band in which one counts as standing out."""
    return max(setting.thresholds)


def topic_view(person: Person, topic: str) -> TopicView:
    """One topic of a person's."""
    said = person.disclosures.of_topic(topic)
    return TopicView(Signs(person.standing(topic), said, edge(person.setting)))


def topic_views(person: Person) -> list[TopicView]:
    """All topics, those that tell most first."""
    found = [topic_view(person, topic) for topic in person.topics]
    return sorted(found, key=lambda one: (one.signs.order, one.topic))


def leaves_open(found: Sequence[TopicView], setting: AdvisorSetting) -> bool:
    """Whether they may stand out on a topic of which that is not known."""
    rest = (one.standing for one in found if not one.signs.stands_out)
    return any(one.may_be_within(edge(setting)) for one in rest)


def parts_of(standing: Standing, setting: AdvisorSetting) -> list[ScoreComponent]:
    """Strength, breadth and persistence apart, for a measure that has them."""
    if standing.strength is None:
        return []
    values = (standing.strength, standing.breadth or 0.0, standing.persistence or 0.0)
    evidence = setting.how().is_voice
    largest = max(EVIDENCE, *values) if evidence else 1.0
    strongest = EVIDENCE_OF_WORDS if evidence else CLOSENESS
    meanings = (strongest, BREADTH, PERSISTENCE.format(m=setting.m))
    names = ("Strength", "Breadth", "Persistence")
    return [
        ScoreComponent(name, value, meaning, largest)
        for name, value, meaning in zip(names, values, meanings, strict=True)
    ]


def day(time: datetime) -> str:
    """``1 March 2026, 14:05``."""
    return f"{time.day} {time:%B %Y, %H:%M}"


def count_of(number: int, one: str, many: str) -> str:
    """``1 post``, ``2 posts``."""
    return f"{number:,} {one if number == 1 else many}"


@dataclass(frozen=True)
class PostView:
    """One post in the list of evidence; a very long one is cut."""

    id: int
    time: str
    pieces: list[TextPiece]
    more: str | None
    weight: str
    holds: bool
    says: str | None
    outright: bool
    gone: bool

    @classmethod
    def from_evidence(
        cls, post: PostEvidence, marks: Sequence[Span], *, above: int, gone: bool
    ) -> "PostView":
        """A post, its telling words, and its part; ``above``: how many are listed before it."""
        rest = len(post.text) - LONGEST_SHOWN
        return cls(
            post.id,
            day(post.time),
            pieces(post.text[:LONGEST_SHOWN], marks),
            f"… ({rest:,} more characters)" if rest > 0 else None,
            weight(post, above),
            post.share > 0,
            HOW_PLAINLY[post.level] if post.level else None,
            post.level is DisclosureLevel.OUTRIGHT,
            gone,
        )


def weight(post: PostEvidence, above: int) -> str:
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


def post_views(person: Person, evidence: Evidence, removed: Collection[int] = ()) -> list[PostView]:
    """The listed posts with their telling words."""
    terms = {word.word for word in evidence.words}
    rules = person.values.scorer.rules
    return [
        PostView.from_evidence(
            post,
            [*post.spans, *spans_of_words(post.text[:LONGEST_SHOWN], terms, rules)],
            above=above,
            gone=post.id in removed,
        )
        for above, post in enumerate(evidence.posts)
    ]


@dataclass(frozen=True)
class WordView:
    """One word and its part."""

    word: str
    value: float

    @property
    def share(self) -> str:
        return f"{self.value:.0%}"


@dataclass(frozen=True)
class AlertView:
    """One alert in words."""

    time: str
    topic: str
    what: str
    seen: bool

    @property
    def address(self) -> str:
        return topic_address(self.topic)

    @classmethod
    def from_alert(cls, alert: Alert) -> "AlertView":
        """From the store."""
        return cls(day(alert.time), alert.topic, " ".join(_tell_event(alert)), alert.seen)


def _tell_event(alert: Alert) -> Iterator[str]:
    """What happened at once: a band, and what posts say outright."""
    if alert.percent is not None:
        way = "entered" if alert.entered else "left"
        among = f"among {alert.users - 1:,} made-up people" if alert.simulated else ""
        yield f"You {way} the first {alert.percent}%{among and ' '}{among}."
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


def over_time(drawn: TimelineDrawing) -> str:
    """What the timeline shows, for who does not see it."""
    said = [OVER_TIME]
    if drawn.lines:
        widest = drawn.lines[0]
        above = next((bar for bar in drawn.bars if bar.score > widest.score), None)
        said.append(
            f"It never rose above the alert line of the first {widest.percent}%."
            if above is None
            else f"It first rose above the alert line of the first {widest.percent}% in the time "
            f"that begins on {above.start}."
        )
    if drawn.left_out:
        said.append(f"{drawn.left_out:,} earlier stretches of time are not drawn.")
    said.append("Other people count as they are today.")
    return " ".join(said)
