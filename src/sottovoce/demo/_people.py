"""Whom an adversary finds first for each sensitive topic, why, and who they are in truth."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray
from sottovoce_lab.assess.outcomes import AFFLICTED, PERSONAS, ScoredCommunity

from sottovoce.assess.explain.explain import Question, explain, what_if
from sottovoce.assess.explain.explanation import Explanation, Position, UserPosts
from sottovoce.assess.ranking import BANDS, rank, susceptibility, users_at_least_as_exposed
from sottovoce.assess.scores import Scoring
from sottovoce.assess.setting import Setting
from sottovoce.corpus.read.corpus import open_posts
from sottovoce.report.figures import ACCENT, COLOURS, new_figure, new_panels
from sottovoce.report.page import Plot

REMOVED = 3
WORDS = 6
GREY = COLOURS[-1]


@dataclass(frozen=True, eq=False)
class Portrait:
    """One user as a measure sees them, and what they are in the simulation."""

    user: str
    persona: str
    ranks: Mapping[str, int]
    """By strength alone, and by the measure that is explained."""
    explanation: Explanation
    weeks: NDArray[np.float64]
    """Their strongest post of each of the community's weeks; 0 where they wrote none."""
    posts: int
    without: Position
    """Had they not written the posts that matter most."""

    @property
    def strength(self) -> float:
        """How close their closest post comes."""
        return self._interest[0]

    @property
    def breadth(self) -> float:
        """How close they come to the topic's neighbours."""
        return self._interest[1]

    @property
    def persistence(self) -> float:
        """How close their best weeks come."""
        return self._interest[2]

    @property
    def _interest(self) -> tuple[float, float, float]:
        parts = self.explanation.interest
        if parts is None:
            raise TypeError("only a measure of a vector space has portraits.")
        return parts.strength, parts.breadth, parts.persistence


@dataclass(frozen=True, eq=False)
class Viewer:
    """One topic of a scored community, seen by strength alone and by a measure that asks more."""

    scored: ScoredCommunity
    scoring: Scoring
    topic: int
    strength: str
    measure: str
    setting: Setting

    @property
    def name(self) -> str:
        """The topic's name."""
        return self.scored.community.judged[self.topic].name

    def scores(self, measure: str) -> NDArray[np.float64]:
        """Of all users, in the order of the judged ones."""
        return np.asarray(self.scored.scores(measure, self.setting)[self.topic])

    def chosen(self) -> list[int]:
        """Who stands first, and the first by strength alone whom the measure does not flag."""
        by_strength, shown = self.scores(self.strength), self.scores(self.measure)
        widest = BANDS[-1] * by_strength.size
        flagged = users_at_least_as_exposed(shown) * 100 <= widest
        tempting = users_at_least_as_exposed(by_strength) * 100 <= widest
        fallen = np.flatnonzero(tempting & ~flagged)
        first = int(np.argmax(shown))
        return [first, *([int(fallen[np.argmax(by_strength[fallen])])] if fallen.size else [])]

    def portraits(self) -> tuple[Portrait, ...]:
        """Of those chosen, the first first."""
        return tuple(self._portrait(place) for place in self.chosen())

    def _portrait(self, place: int) -> Portrait:
        user = self.scored.community.judged[self.topic].users[place].as_py()
        her = UserPosts(user)
        for _ in her.passing(open_posts(self.scored.community.posts)):
            pass
        question = Question(user, self.name, self.scored.measures[self.measure], self.setting)
        state = self.scored.state
        found = explain(state, self.scoring, her, question, most=WORDS)
        removed = tuple(post.number for post in found.posts[:REMOVED])
        return Portrait(
            user=user,
            persona=str(self.scored.community.personas[self.topic][place]),
            ranks={
                measure: int(susceptibility(self.scores(measure))[place])
                for measure in (self.strength, self.measure)
            },
            explanation=found,
            weeks=self._weeks(her),
            posts=int(her.numbers.size),
            without=what_if(state, self.scoring, her, question, removed),
        )

    def _weeks(self, her: UserPosts) -> NDArray[np.float64]:
        bucket = self.scoring.header.bucket
        everybody = bucket.numbers(self.scored.community.posts["time"].combine_chunks())
        scorer = self.scoring.scorers[str(self.scored.measures[self.measure].space)]
        counts = self.scoring.counts(scorer, her.table["text"].combine_chunks())
        strengths = scorer.strengths(counts)[:, scorer.topics.index(self.name)]
        weeks = np.zeros(int(everybody.max() - everybody.min()) + 1)
        hers = bucket.numbers(her.table["time"].combine_chunks()) - everybody.min()
        np.maximum.at(weeks, hers, strengths)
        return weeks


def portrait_table(portraits: Sequence[Portrait]) -> tuple[tuple[str, ...], ...]:
    """The portraits side by side."""
    strength, measure = portraits[0].ranks
    users = f"of {portraits[0].explanation.position.users:,}"
    rows = {
        "in truth": [p.persona for p in portraits],
        f"rank by strength alone ({strength})": [
            f"{p.ranks[strength]:,} {users}" for p in portraits
        ],
        f"rank by {measure}": [f"{p.ranks[measure]:,} {users}" for p in portraits],
        "posts": [f"{p.posts:,}" for p in portraits],
        "strength": [f"{p.strength:.2f}" for p in portraits],
        "breadth": [f"{p.breadth:.2f}" for p in portraits],
        "persistence": [f"{p.persistence:.2f}" for p in portraits],
        "words that put them there": [_words(p) for p in portraits],
        f"rank without the {REMOVED} posts that matter most": [_without(p) for p in portraits],
    }
    return (("", *(p.user for p in portraits)), *((name, *cells) for name, cells in rows.items()))


def _words(portrait: Portrait) -> str:
    return ", ".join(share.word for share in portrait.explanation.words) or "none"


def _without(portrait: Portrait) -> str:
    rank = portrait.without.rank
    return "none: they wrote nothing else" if rank is None else f"{rank:,}"


def timeline(portraits: Sequence[Portrait], best: int) -> Plot:
    """How close each came to the topic, week by week; their ``best`` weeks stand out."""
    figure, panels = new_panels(1, len(portraits), width=7.0, height=0.5 + 1.5 * len(portraits))
    for axes, portrait in zip(panels, portraits, strict=True):
        weeks = portrait.weeks
        top = set(np.argsort(-weeks, kind="stable")[:best].tolist())
        colours = [ACCENT if week in top else GREY for week in range(weeks.size)]
        axes.bar(range(1, weeks.size + 1), weeks, color=colours)
        axes.set(ylim=(0, 1), xlim=(0.4, weeks.size + 0.6), ylabel="strength")
        axes.set_title(f"{portrait.user} ({portrait.persona})", loc="left")
        axes.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    panels[-1].set_xlabel("week")
    finding = "; ".join(_weeks_in_words(portrait, best) for portrait in portraits) + "."
    return Plot(figure, finding, f"Bars: their strongest post of each week. {finding}")


def _weeks_in_words(portrait: Portrait, best: int) -> str:
    return (
        f"{portrait.user}'s {best} best weeks come to {portrait.persistence:.2f} on average, their "
        f"breadth is {portrait.breadth:.2f}"
    )


DRAWN_BAND = 5
FIRST = 5


@dataclass(frozen=True, eq=False)
class TopicRanking:
    """All users for one topic, the most exposed first."""

    topic: str
    users: tuple[str, ...]
    personas: NDArray[np.str_]
    bands: NDArray[np.str_]

    def within(self, percent: int) -> NDArray[np.str_]:
        """The personas of those in the top ``percent``, narrower bands included."""
        names = [f"top {narrower}%" for narrower in BANDS if narrower <= percent]
        return self.personas[np.isin(self.bands, names)]

    def afflicted_within(self, percent: int) -> int:
        """How many of those in the top ``percent`` the topic afflicts."""
        return int((self.within(percent) == AFFLICTED).sum())


def topic_rankings(
    scored: ScoredCommunity, measure: str, setting: Setting
) -> tuple[TopicRanking, ...]:
    """The ranking of every judged topic by ``measure``."""
    community = scored.community
    names = [topic.name for topic in community.judged]
    found = rank(scored.state, {measure: scored.measures[measure]}, topics=names, setting=setting)
    rankings = []
    for topic, personas in zip(community.judged, community.personas, strict=True):
        table = found.of(measure, topic.name)
        persona = dict(zip(topic.users.to_pylist(), personas.tolist(), strict=True))
        users = tuple(table["user"].to_pylist())
        bands = np.array(table["band"].to_pylist())
        rankings.append(
            TopicRanking(topic.name, users, np.array([persona[user] for user in users]), bands)
        )
    return tuple(rankings)


def band_facts(rankings: Sequence[TopicRanking]) -> dict[str, str]:
    """For each band, how many of its places go to the afflicted, all topics together."""
    facts = {}
    for percent in BANDS:
        places = sum(len(ranking.within(percent)) for ranking in rankings)
        afflicted = sum(ranking.afflicted_within(percent) for ranking in rankings)
        share = f" ({afflicted / places:.0%})" if places else ""
        told = f"{places:,} places, {afflicted:,} of people concerned{share}"
        facts[f"In the top {percent}%"] = told
    facts["By chance"] = f"{chance(rankings):.0%} of any places would go to them"
    return facts


def chance(rankings: Sequence[TopicRanking]) -> float:
    """The share of the afflicted among all users, over topics."""
    return float(np.mean([(ranking.personas == AFFLICTED).mean() for ranking in rankings]))


def ranking_table(rankings: Sequence[TopicRanking]) -> tuple[tuple[str, ...], ...]:
    """A row for each topic: how many are in each band, and who stands first."""
    bands = (f"people concerned in the top {percent}%" for percent in BANDS)
    head = ("topic", *bands, f"the first {FIRST}, and who they are in truth")
    return (head, *(_row(ranking) for ranking in rankings))


def _row(ranking: TopicRanking) -> tuple[str, ...]:
    bands = (
        f"{ranking.afflicted_within(percent)} of {len(ranking.within(percent))}"
        for percent in BANDS
    )
    first = zip(ranking.users[:FIRST], ranking.personas[:FIRST], strict=True)
    return (ranking.topic, *bands, ", ".join(f"{user} ({persona})" for user, persona in first))


def band_plot(rankings: Sequence[TopicRanking]) -> Plot:
    """Who is in the top 5% of each topic, by persona."""
    figure, axes = new_figure(height=1.2 + 0.36 * len(rankings))
    counts = {
        persona: np.array([int((r.within(DRAWN_BAND) == persona).sum()) for r in rankings])
        for persona in PERSONAS
    }
    left = np.zeros(len(rankings))
    for (persona, number), colour in zip(counts.items(), COLOURS, strict=False):
        axes.barh(range(len(rankings)), number, left=left, color=colour, label=persona)
        left = left + number
    axes.set(yticks=range(len(rankings)), xlabel=f"people in the top {DRAWN_BAND}%")
    axes.set_yticklabels([ranking.topic for ranking in rankings])
    axes.invert_yaxis()
    figure.legend(loc="outside lower center", ncols=len(counts), frameon=False)
    finding = _band_finding({persona: int(number.sum()) for persona, number in counts.items()})
    return Plot(figure, finding, f"Stacked bars, one for each topic. {finding}")


def _band_finding(places: dict[str, int]) -> str:
    total = sum(places.values())
    if not total:
        return f"Too few people for a top {DRAWN_BAND}%."
    each = ", ".join(f"{persona} {number}" for persona, number in places.items())
    afflicted = places[AFFLICTED] / total
    return (
        f"{afflicted:.0%} of the {total:,} places in the top {DRAWN_BAND}% go to people whom the "
        f"topic concerns, {1 - afflicted:.0%} to others: {each}."
    )
