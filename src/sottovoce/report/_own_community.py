"""The report on one's own community: what its posts give away of people, and nobody's name.

Numbers below ``FEWEST`` are not told: of three people somebody knows two. People are in it only
where whoever asks for the report asks for them too.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import TYPE_CHECKING

import sottovoce
from sottovoce.assess._community_facts import TopicFacts
from sottovoce.assess._ranking import BANDS
from sottovoce.report._community import posts_by_week_plot
from sottovoce.report._figures import ACCENT, new_figure
from sottovoce.report._page import Plot, Report, Section

if TYPE_CHECKING:
    from sottovoce.assess.disclosure import TopicCounts

FEWEST = 5
_MOST_BARS = 22
_OUTSIDER = (
    "A rational outsider with these posts and a sensitive topic in mind would read people in the "
    "order of their scores. How far the first 1% stand from the person in the middle, in standard "
    "deviations of all scores, says how easily they are told apart."
)
_CLOSELY = (
    "posts, evenly over all of them, were read for what they say by themselves: about a topic, or "
    "of their author that it applies to them. Who wrote them is not looked at. No rank takes back "
    "what is said outright."
)
_GUARDED = (
    "The first people by each topic. This is what an adversary wants: the file is readable by its "
    "owner only, and that it was made is logged beside it."
)
_SCORES = (
    "They say whom a program would look at first, not whom a topic applies to: people who help, "
    "work in the field or are curious score as well."
)
_NO_PROMISE = (
    "A topic of which few speak is not one that applies to nobody, and a small separation is no "
    "promise: what one post says outright, any reader knows."
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
    people: Sequence[tuple[str, str, Sequence[str]]] = ()
    command: str = ""


def community_report(facts: CommunityFacts) -> Report:
    """One page, for who keeps the community."""
    sections = [_read(facts), _standing_out(facts)]
    if facts.said:
        sections.append(_outright(facts))
    if facts.people:
        sections.append(_people(facts))
    sections.append(_how(facts))
    return Report(
        title="What this community gives away",
        summary=_summary(facts),
        sections=tuple(sections),
        version=sottovoce.__version__,
    )


def few(number: int) -> str:
    """A count of people or posts as the page tells it."""
    return f"{number:,}" if number == 0 or number >= FEWEST else f"fewer than {FEWEST}"


def _summary(facts: CommunityFacts) -> str:
    ordered = sorted(facts.topics, key=lambda each: -(each.separation or 0.0))
    named = [each.topic for each in ordered if each.separation][:3]
    said = f"Of {facts.users:,} people who wrote {facts.posts:,} posts, "
    if not named:
        return f"{said}nobody stands out on any of these topics by what was looked at."
    return (
        f"{said}those whom an outsider would look at first stand out most on "
        f"{', '.join(named)}. {_who(facts)}"
    )


def _who(facts: CommunityFacts) -> str:
    return "This page names people: guard it." if facts.people else "This page names nobody."


def _read(facts: CommunityFacts) -> Section:
    told = {"People": f"{facts.users:,}", "Posts": f"{facts.posts:,}"}
    if facts.rows.get("rows"):
        told["Rows of the file"] = f"{facts.rows['rows']:,}"
    for what, title in (("skipped", "Left out"), ("cleaned", "Cleaned")):
        counts = facts.rows.get(what)
        if isinstance(counts, Mapping):
            parts = [f"{name}: {number:,}" for name, number in counts.items() if number]
            told[title] = "; ".join(parts) or "nothing"
    plots = (posts_by_week_plot(facts.weeks),) if len(facts.weeks) > 1 else ()
    return Section(title="What was read", facts=told, plots=plots, command=facts.command or None)


def _standing_out(facts: CommunityFacts) -> Section:
    ordered = sorted(facts.topics, key=lambda each: -(each.separation or 0.0))
    rows = [
        (
            each.topic,
            each.domain,
            *map(few, each.bands),
            "-" if each.separation is None else f"{each.separation:.1f}",
        )
        for each in ordered
    ]
    return Section(
        title="Where people stand out",
        paragraphs=(_OUTSIDER,),
        plots=(_separation_plot(ordered),) if any(each.separation for each in ordered) else (),
        table=(("topic", "domain", *(f"top {each}%" for each in BANDS), "separation"), *rows),
    )


def _separation_plot(ordered: Sequence[TopicFacts]) -> Plot:
    shown = [each for each in ordered if each.separation is not None][:_MOST_BARS]
    figure, axes = new_figure(height=0.6 + 0.26 * len(shown))
    places = range(len(shown))
    axes.barh(places, [each.separation or 0.0 for each in shown], color=ACCENT, height=0.7)
    axes.set_yticks(places, [each.topic for each in shown])
    axes.invert_yaxis()
    axes.set_xlabel("standard deviations between the first 1% and the middle")
    finding = f"The first stand out most on {shown[0].topic} ({shown[0].separation:.1f})."
    listed = ", ".join(f"{each.topic} {each.separation:.1f}" for each in shown)
    return Plot(figure, finding, f"Bars, the longest first: {listed}.")


def _outright(facts: CommunityFacts) -> Section:
    ranked = {each.topic for each in facts.topics}
    said = [each for each in facts.said if each.topic in ranked]
    ordered = sorted(said, key=lambda each: (-each.outright, -each.about))
    rows = [(each.topic, few(each.about), few(each.outright)) for each in ordered]
    return Section(
        title="What posts say outright",
        paragraphs=(f"{facts.closely:,} {_CLOSELY}",),
        table=(("topic", "posts about it", "posts that say it outright"), *rows),
    )


def _people(facts: CommunityFacts) -> Section:
    rows = [(topic, measure, ", ".join(users) or "-") for measure, topic, users in facts.people]
    return Section(
        title="Who would be looked at first",
        paragraphs=(_GUARDED,),
        table=(("topic", "measure", "people"), *rows),
    )


def _how(facts: CommunityFacts) -> Section:
    measures = ", ".join(dict.fromkeys(each.measure for each in facts.topics))
    return Section(
        title="How to read this",
        paragraphs=(
            f"Scores are by {measures}. {_SCORES}",
            _NO_PROMISE,
            f"Of people and posts on a topic 1 to {FEWEST - 1} are told as fewer than {FEWEST}.",
        ),
    )
