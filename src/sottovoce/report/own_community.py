"""The report on one's own community: what its posts give away of people, and nobody's name.

Numbers below ``FEWEST`` are not told: of three people somebody knows two. People are in it only
where whoever asks for the report asks for them too.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import TYPE_CHECKING

import sottovoce
from sottovoce.assess.community_facts import TopicFacts
from sottovoce.assess.measures.catalogue import lift_rows, lift_title
from sottovoce.assess.ranking import BANDS_APART
from sottovoce.corpus.vocabulary import NOT_ENGLISH
from sottovoce.report.community import posts_by_week_plot
from sottovoce.report.page import ACCENT, Plot, Report, Section, new_figure

if TYPE_CHECKING:
    from sottovoce.assess.disclosure.disclosures import TopicCounts

FEWEST = 5
WITH_A_WORD = "people with a word that counts for it"
_MOST_BARS = 22
_OUTSIDER = (
    "An outsider with these posts and a sensitive topic in mind would look at people in the order "
    "of their scores. Separation is how far the first 1% stand from the person in the middle, in "
    "standard deviations of all scores: it says how clearly they differ. Each person counts in the "
    "narrowest band that holds them; if equal scores reach beyond a band, none of these people "
    "is in it."
)
_CLOSELY = (
    "were read one by one: is the post about a topic, and does it say that the topic applies to "
    "its author? Who wrote it does not matter. A low rank does not undo what a post says "
    "outright."
)
_GUARDED = (
    "The first people for each topic. An adversary would want this file: only its owner can read "
    "it, and a log beside it says when it was made."
)
_SCORES = (
    "They say whom a program would look at first, not whom a topic applies to: people who help, "
    "work in the field or are curious score too."
)
_NOT_ENGLISH_OWN_TOPICS = (
    "these posts do not seem to be in English. They were ranked by the topics you gave."
)
_NOT_READ = "The program reads what posts say outright in English only, so this page leaves it out."
_WHY_NOT_ALIKE = (
    "The table above counts people with any word that counts for a topic, even an everyday one; "
    "this one counts posts, and only those whose words together speak of the topic."
)
_DEPENDS = (
    "How many of a band a topic concerns depends on how many it concerns at all. People who write "
    "much are found sooner, whatever they write about."
)
_NO_PROMISE = (
    "If few people use a topic's words, it may still apply to some of them. A small "
    "separation is no promise: any reader knows what one post says outright."
)


@dataclass(frozen=True)
class CommunityFacts:
    """What the page is made of."""

    users: int
    posts: int
    topics: Sequence[TopicFacts]
    rows: Mapping[str, object] = field(default_factory=dict)
    """What became of the rows of the file: ``rows``, ``skipped``, ``cleaned``."""
    weeks: Mapping[date, int] = field(default_factory=dict)
    closely: int = 0
    """Posts that were read for what they say outright."""
    said: "Sequence[TopicCounts]" = ()
    english: bool = True
    """Whether the posts seem to be; what they say outright is read in English only."""
    own_topics: bool = False
    """Whether topics were given, in whatever language; the built-in ones are in English."""
    people: Sequence[tuple[str, str, Sequence[str]]] = ()
    concerned: float | None = None
    """The share whom a topic is supposed to concern."""
    command: str = ""


def community_report(facts: CommunityFacts) -> Report:
    """One page, for who keeps the community."""
    sections = [_read(facts), _standing_out(facts)]
    if _find_statements(facts):
        sections.append(_outright(facts))
    if facts.people:
        sections.append(_people(facts))
    sections.append(_how(facts))
    return Report(
        title="What this community gives away",
        summary=_summary(facts),
        sections=tuple(sections),
        version=sottovoce.__version__,
        warning=_warning(facts),
    )


def _warning(facts: CommunityFacts) -> str | None:
    if facts.english:
        return None
    language = _NOT_ENGLISH_OWN_TOPICS if facts.own_topics else NOT_ENGLISH
    return f"{language[0].upper()}{language[1:]} {_NOT_READ}"


def _find_statements(facts: CommunityFacts) -> "Sequence[TopicCounts]":
    """What posts say outright; nothing where they cannot be read for it."""
    return facts.said if facts.english else ()


def few(number: int) -> str:
    """A count of people or posts as the page tells it."""
    return f"{number:,}" if number == 0 or number >= FEWEST else f"fewer than {FEWEST}"


def _summary(facts: CommunityFacts) -> str:
    said = f"Of {facts.users:,} people who wrote {facts.posts:,} posts, "
    told = [f"{people:,} on {topic}" for topic, people in _most_people(facts)[:3]]
    if not told:
        return f"{said}{_few_or_none(facts)} {_who(facts)}"
    listed = told[0] if len(told) == 1 else f"{', '.join(told[:-1])}, and {told[-1]}"
    more = len({each.topic for each in facts.topics if each.evident}) - len(told)
    others = f"The table has {more} more for which somebody has a word. " if more else ""
    return f"{said}this many used a word that counts for a topic: {listed}. {others}{_who(facts)}"


def _few_or_none(facts: CommunityFacts) -> str:
    """That there is little to tell, in no other words than the tables' numbers."""
    most = max((each.evident for each in facts.topics), default=0)
    if most < FEWEST:
        return f"fewer than {FEWEST}, or none, used a word that counts for any one of these topics."
    return (
        f"up to {most:,} used a word that counts for a topic, but fewer than {FEWEST} posts, or "
        f"none, are about any one of the topics for which {FEWEST} people or more have a word."
    )


def _most_people(facts: CommunityFacts) -> list[tuple[str, int]]:
    """Topics by how many people have evidence; none that few people or few posts speak of."""
    rare = {each.topic for each in _find_statements(facts) if each.about < FEWEST}
    people: dict[str, int] = {}
    for each in facts.topics:
        people[each.topic] = max(each.evident, people.get(each.topic, 0))
    found = [pair for pair in people.items() if pair[1] >= FEWEST and pair[0] not in rare]
    return sorted(found, key=lambda pair: (-pair[1], pair[0]))


def _who(facts: CommunityFacts) -> str:
    return "This page names people: keep it safe." if facts.people else "This page names nobody."


def _read(facts: CommunityFacts) -> Section:
    told = {"People": f"{facts.users:,}", "Posts": f"{facts.posts:,}"}
    if facts.rows.get("rows"):
        told["Rows of the file"] = f"{facts.rows['rows']:,}"
    told |= {title: _list_counts(counts) for title, counts in _became(facts.rows).items()}
    plots = (posts_by_week_plot(facts.weeks),) if len(facts.weeks) > 1 else ()
    return Section(title="What was read", facts=told, plots=plots, command=facts.command or None)


def _became(rows: Mapping[str, object]) -> dict[str, Mapping[str, int]]:
    """What of the rows was left out, and what was cleaned, as the page calls it."""
    skipped, cleaned = rows.get("skipped"), rows.get("cleaned")
    left_out = dict(skipped) if isinstance(skipped, Mapping) else None
    steps = dict(cleaned) if isinstance(cleaned, Mapping) else None
    if steps is not None:
        nobodys = steps.pop("posts of nobody", 0)
        left_out = {**(left_out or {}), "posts of deleted or anonymous authors and bots": nobodys}
        steps["nothing but quotes"] = steps.pop("only quotes", 0)
    both = {"Left out": left_out, "Posts cleaned": steps}
    return {title: counts for title, counts in both.items() if counts is not None}


def _list_counts(counts: Mapping[str, int]) -> str:
    return "; ".join(f"{name}: {number:,}" for name, number in counts.items() if number) or "none"


def _standing_out(facts: CommunityFacts) -> Section:
    ordered = sorted(facts.topics, key=lambda each: -(each.separation or 0.0))
    if len({each.measure for each in ordered}) > 1:
        ordered = [replace(each, topic=f"{each.topic}, by {each.measure}") for each in ordered]
    rows = [
        (
            each.topic,
            each.domain,
            few(each.evident),
            *map(few, each.bands),
            "-" if each.separation is None else f"{each.separation:.1f}",
        )
        for each in ordered
    ]
    return Section(
        title="Where people stand out",
        paragraphs=(_OUTSIDER,),
        plots=(_separation_plot(ordered),) if any(each.separation for each in ordered) else (),
        table=(("topic", "domain", WITH_A_WORD, *BANDS_APART, "separation"), *rows),
    )


def _separation_plot(ordered: Sequence[TopicFacts]) -> Plot:
    shown = [each for each in ordered if each.separation is not None][:_MOST_BARS]
    figure, axes = new_figure(height=0.6 + 0.26 * len(shown))
    places = range(len(shown))
    axes.barh(places, [each.separation or 0.0 for each in shown], color=ACCENT, height=0.7)
    axes.set_yticks(places, [each.topic for each in shown])
    axes.invert_yaxis()
    axes.set_xlabel("standard deviations between the first 1% and the middle")
    first = next((each for each in shown if each.evident >= FEWEST), shown[0])
    finding = f"The first stand out most on {first.topic} ({first.separation:.1f})."
    if first is not shown[0]:
        finding += f" Bars above it rest on fewer than {FEWEST} people."
    listed = ", ".join(f"{each.topic} {each.separation:.1f}" for each in shown)
    return Plot(figure, finding, f"Bars, the longest first: {listed}.")


def _outright(facts: CommunityFacts) -> Section:
    ranked = {each.topic for each in facts.topics}
    said = [each for each in _find_statements(facts) if each.topic in ranked]
    ordered = sorted(said, key=lambda each: (-each.outright, -each.about))
    rows = [(each.topic, few(each.about), few(each.outright)) for each in ordered]
    return Section(
        title="What posts say outright",
        paragraphs=(f"{_how_many_closely(facts)} {_CLOSELY} {_WHY_NOT_ALIKE}",),
        table=(("topic", "posts about it", "posts that say it outright"), *rows),
    )


def _how_many_closely(facts: CommunityFacts) -> str:
    if facts.closely >= facts.posts:
        return f"All {facts.closely:,} posts"
    return f"{facts.closely:,} of {facts.posts:,} posts, chosen at even steps,"


def _people(facts: CommunityFacts) -> Section:
    rows = [(topic, measure, ", ".join(users) or "-") for measure, topic, users in facts.people]
    return Section(
        title="Who would be looked at first",
        paragraphs=(_GUARDED,),
        table=(("topic", "measure", "people"), *rows),
    )


def _how(facts: CommunityFacts) -> Section:
    measures = ", ".join(dict.fromkeys(each.measure for each in facts.topics))
    lifts = lift_rows((each.measure for each in facts.topics), facts.concerned)
    return Section(
        title="How to read this",
        paragraphs=(
            f"Scores are by {measures}. {_SCORES}",
            f"{_DEPENDS} {_NO_PROMISE}",
            f"Of people or posts on a topic, 1 to {FEWEST - 1} are shown as fewer than {FEWEST}.",
            *([f"{lift_title(facts.concerned)}:"] if lifts else ()),
        ),
        table=(tuple(lifts[0]), *(tuple(row.values()) for row in lifts)) if lifts else (),
    )
