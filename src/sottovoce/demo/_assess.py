"""The demo's assess part: whom an adversary finds, why them, and how well each measure does."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

import sottovoce as sv
from sottovoce.assess.evaluation.runs import Evaluated, Evaluation, evaluate_ranks
from sottovoce.assess.explanation import Explanation, Interest
from sottovoce.assess.ranking import BANDS, REST, Ranking
from sottovoce.corpus.simulate.community import SimulatedCommunity
from sottovoce.loop.adversary import Knowledge, Training, train_knowledge
from sottovoce.loop.subject import simulated_catalogue
from sottovoce.report.page import ACCENT, COLOURS, Plot, Section, new_figure, new_panels

AFFLICTED = "afflicted"
PERSONAS = (AFFLICTED, "supporter", "curious", "professional", "bystander")
FIRST, DRAWN_BAND = 5, 5


@dataclass(frozen=True, eq=False)
class TopicRanking:
    """All users for one topic, the most exposed first."""

    topic: str
    users: tuple[str, ...]
    personas: NDArray[np.str_]
    bands: NDArray[np.str_]

    def personas_in_top(self, percent: int) -> NDArray[np.str_]:
        """The personas of those in the top ``percent``, narrower bands included."""
        names = [f"top {narrower}%" for narrower in BANDS if narrower <= percent]
        return self.personas[np.isin(self.bands, names)]

    def count_afflicted_in_top(self, percent: int) -> int:
        """How many of those in the top ``percent`` the topic afflicts."""
        return int((self.personas_in_top(percent) == AFFLICTED).sum())


def band_facts(rankings: Sequence[TopicRanking]) -> dict[str, str]:
    """For each band, how many of its places go to the afflicted, all topics together."""
    facts = {}
    for percent in BANDS:
        places = sum(len(ranking.personas_in_top(percent)) for ranking in rankings)
        afflicted = sum(ranking.count_afflicted_in_top(percent) for ranking in rankings)
        share = f" ({afflicted / places:.0%})" if places else ""
        told = f"{places:,} places, {afflicted:,} of people concerned{share}"
        facts[f"In the top {percent}%"] = told
    chance = np.mean([(ranking.personas == AFFLICTED).mean() for ranking in rankings])
    facts["By chance"] = f"{chance:.0%} of any places would go to them"
    return facts


def ranking_table(rankings: Sequence[TopicRanking]) -> tuple[tuple[str, ...], ...]:
    """A row for each topic: how many are in each band, and who stands first."""
    bands = (f"people concerned in the top {percent}%" for percent in BANDS)
    head = ("topic", *bands, f"the first {FIRST}, and who they are in truth")
    rows = []
    for each in rankings:
        sizes = [(each.count_afflicted_in_top(p), len(each.personas_in_top(p))) for p in BANDS]
        tops = (f"{found} of {places}" for found, places in sizes)
        first = zip(each.users[:FIRST], each.personas[:FIRST], strict=True)
        rows.append((each.topic, *tops, ", ".join(f"{user} ({name})" for user, name in first)))
    return (head, *rows)


def band_plot(rankings: Sequence[TopicRanking]) -> Plot:
    """Who is in the top 5% of each topic, by persona."""
    figure, axes = new_figure(height=1.2 + 0.36 * len(rankings))
    counts = {
        persona: np.array([int((r.personas_in_top(DRAWN_BAND) == persona).sum()) for r in rankings])
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
    found = {persona: int(number.sum()) for persona, number in counts.items()}
    finding = f"Too few people for a top {DRAWN_BAND}%."
    if total := sum(found.values()):
        afflicted = found[AFFLICTED] / total
        finding = (
            f"{afflicted:.0%} of the {total:,} places in the top {DRAWN_BAND}% go to people whom "
            f"the topic concerns, {1 - afflicted:.0%} to others: "
            f"{', '.join(f'{persona} {number}' for persona, number in found.items())}."
        )
    return Plot(figure, finding, f"Stacked bars, one for each topic. {finding}")


# Seconds of training: enough to find the topics, far less than the studies do.
TRAINING = Training(topics=100, iterations=60, burn_in=15, dimensions=48, epochs=3)
STRENGTH, SHOWN = "lda", "lda-dt"
MOST_WEEKS = 3
METRICS = {"r_precision_micro": "R-precision", "map": "MAP", "ndcg": "NDCG"}
BASELINES = ("ent", "posts", "random")
_ALL_POSTS = 1_000_000
REMOVED, WORDS = 3, 6
# A hyphen at which no line breaks, so that an interval stays whole on a narrow screen.
_DASH = "\u2011"

_ADVERSARY = (
    "Suppose an adversary wants the people whom a sensitive topic concerns. They need not read "
    "anybody: from texts that anyone can get they learn which words go together, let a program "
    f"rank everybody by how close their posts come to the topic (by {SHOWN}, told below), and "
    "start at the top."
)
_NO_DIAGNOSIS = (
    "A rank is exposure: how soon such an adversary would turn to them, rightly or not. It is "
    "not a diagnosis, and nobody should be treated as if it were one."
)
_NAMES = (
    "These people do not exist, so this page may name them. Of real ones such a list is what the "
    "adversary wants: sottovoce assess writes it to a file that only its owner can read, and the "
    "screen shows counts."
)
_PARTS = (
    "Strength is how close their closest post comes to the topic, from 0 to 1. Breadth is how "
    "close they come to the topic's neighbours: who writes about them all is perhaps there by "
    f"profession. Persistence is how close their {MOST_WEEKS} best weeks come on average: who came "
    f"once was perhaps curious. {SHOWN} is persistence less breadth."
)
_METRICS = (
    "The simulation knows whom a topic concerns, so every ranking can be judged. R-precision: if "
    "as many people are picked from the top as it concerns, the share whom it does. MAP: down to "
    "the place of each of them, that share, averaged. NDCG: how far the order follows how much it "
    "concerns them, 1 at best. In brackets 95% intervals over users drawn again, each by itself."
)
_MEASURES = (
    "ent and diff-priv look for rare words; bow, w2v and lda for closeness to the topic in a bag "
    "of words, in word vectors and in latent topics; -d takes off breadth, -t asks for "
    "persistence, -dt does both. What all must beat stands last: chance, the numbers of posts and "
    "of words, and ent."
)
_LITTLE = (
    "One community and models trained in seconds: for several communities, larger models and a "
    "control, run sottovoce study assess-table-5."
)
_ROLES = {
    AFFLICTED: "the topic concerns them",
    "supporter": "they support others",
    "professional": "they work in the field",
    "curious": "they were curious for a week",
    "bystander": "they are a bystander to it",
}


@dataclass(frozen=True, eq=False)
class Portrait:
    """One user as a measure sees them, and what they are in the simulation."""

    user: str
    persona: str
    ranks: Mapping[str, int]
    """By strength alone, and by the measure that is explained."""
    explanation: Explanation

    @property
    def interest(self) -> Interest:
        """How close they come to the topic, to its neighbours, and for how long."""
        if self.explanation.interest is None:
            raise TypeError("only a measure of a vector space has portraits.")
        return self.explanation.interest

    def weeks(self) -> dict[date, float]:
        """Their strongest post of each week in which they wrote."""
        strongest: dict[date, float] = {}
        for post in self.explanation.posts:
            strongest[post.bucket] = max(post.strength or 0.0, strongest.get(post.bucket, 0.0))
        return strongest


@dataclass(frozen=True, eq=False)
class AssessDemo:
    """What the sections say."""

    knowledge: Knowledge
    texts: int
    unknown: tuple[str, ...]
    """Sensitive topics that the adversary's model does not have."""
    rankings: tuple[TopicRanking, ...]
    portraits: tuple[Portrait, ...]
    judged: Evaluation


def make_sections(community: SimulatedCommunity, command: str) -> tuple[Section, ...]:
    """The whole part of the report."""
    demo = run_assess_demo(community)
    person = Section(
        title="Why one person stands out",
        paragraphs=(_first(demo), _PARTS, *_fallen(demo.portraits)),
        plots=(timeline(demo.portraits),),
        table=portrait_table(demo.portraits),
        command=command,
    )
    measures = _make_measure_section(demo.judged, command)
    return (_make_rank_section(demo, command), person, measures)


def run_assess_demo(community: SimulatedCommunity) -> AssessDemo:
    """Learn from the background, score the community by all measures, judge and explain."""
    texts = community.background["text"].to_pylist()
    seed = community.parameters.seed % 2**31 + 1
    knowledge = train_knowledge(texts, simulated_catalogue(community), TRAINING, seed)
    sensitive = community.parameters.sensitive_topics
    known = [name for name in sensitive if name in knowledge.catalogue.names]
    truth = community.truth.filter(pc.is_in(community.truth["topic"], pa.array(known)))
    ranking = sv.assess_posts(
        community.posts, topics=knowledge.catalogue, model=knowledge.spaces, measures="paper"
    )
    rankings = tuple(_topic_ranking(ranking, truth, name) for name in known)
    return AssessDemo(
        knowledge=knowledge,
        texts=len(texts),
        unknown=tuple(name for name in sensitive if name not in known),
        rankings=rankings,
        portraits=tuple(
            _portrait(ranking, rankings[0], user) for user in chosen_users(ranking, known[0])
        ),
        judged=evaluate_ranks(ranking.table, truth, posts=community.posts),
    )


def _topic_ranking(ranking: Ranking, truth: pa.Table, topic: str) -> TopicRanking:
    table, own = ranking.select(SHOWN, topic), truth.filter(pc.field("topic") == topic)
    persona = dict(zip(own["user"].to_pylist(), own["persona"].to_pylist(), strict=True))
    users = tuple(table["user"].to_pylist())
    personas, bands = [persona[user] for user in users], table["band"].to_pylist()
    return TopicRanking(topic, users, np.array(personas), np.array(bands))


def chosen_users(ranking: Ranking, topic: str) -> list[str]:
    """Who stands first, and the first by strength alone whom the measure does not flag."""
    shown, strength = ranking.select(SHOWN, topic), ranking.select(STRENGTH, topic)
    flagged = set(shown.filter(pc.field("band") != REST)["user"].to_pylist())
    tempting = strength.filter(pc.field("band") != REST)["user"].to_pylist()
    return [shown["user"][0].as_py(), *[user for user in tempting if user not in flagged][:1]]


def _portrait(ranking: Ranking, found: TopicRanking, user: str) -> Portrait:
    posts = ranking.explain(user, found.topic, measure=SHOWN, most=REMOVED).posts
    removed = [post.number for post in posts]
    own = ranking.select(STRENGTH, found.topic).filter(pc.field("user") == user)
    explanation = ranking.explain(
        user, found.topic, measure=SHOWN, without=removed, most=_ALL_POSTS
    )
    ranks = {STRENGTH: own["rank"][0].as_py(), SHOWN: int(explanation.position.rank or 0)}
    persona = str(found.personas[found.users.index(user)])
    return Portrait(user, persona, ranks, explanation)


def _make_rank_section(demo: AssessDemo, command: str) -> Section:
    missed = (
        f"Their model has nothing for {', '.join(demo.unknown)}, which is therefore left out here.",
    )
    return Section(
        title="Who stands out",
        paragraphs=(_ADVERSARY, _NO_DIAGNOSIS, _NAMES, *(missed if demo.unknown else ())),
        facts={
            "They learn from": f"{demo.texts:,} texts of the same simulated world",
            "They learn": (
                f"{TRAINING.topics} latent topics, word vectors of {TRAINING.dimensions} dimensions"
            ),
            **band_facts(demo.rankings),
        },
        plots=(band_plot(demo.rankings),),
        table=ranking_table(demo.rankings),
        command=command,
    )


def _first(demo: AssessDemo) -> str:
    first = demo.portraits[0]
    alarm = "" if first.persona == AFFLICTED else " A false alarm."
    users = first.explanation.position.users
    return (
        f"For {demo.rankings[0].topic}, {first.user} stands first of {users:,}. In truth "
        f"{_ROLES[first.persona]}.{alarm} This is what put them there, and where they would stand "
        "without the posts that matter most."
    )


def _fallen(portraits: Sequence[Portrait]) -> tuple[str, ...]:
    """What keeps the other one from being flagged: the larger of two differences."""
    if len(portraits) == 1:
        return ()
    first, other = portraits
    hers, theirs = first.interest, other.interest
    why = (
        f"their breadth, {theirs.breadth:.2f} against {hers.breadth:.2f}"
        if theirs.breadth - hers.breadth > hers.persistence - theirs.persistence
        else f"their persistence, {theirs.persistence:.2f} against {hers.persistence:.2f}"
    )
    told = (
        f"{other.user} is number {other.ranks[STRENGTH]:,} by strength alone, but number "
        f"{other.ranks[SHOWN]:,} by {SHOWN}. What sets them apart from {first.user} is above all "
        f"{why}. In truth {_ROLES[other.persona]}."
    )
    return (told,)


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
        "posts": [f"{len(p.explanation.posts):,}" for p in portraits],
        "strength": [f"{p.interest.strength:.2f}" for p in portraits],
        "breadth": [f"{p.interest.breadth:.2f}" for p in portraits],
        "persistence": [f"{p.interest.persistence:.2f}" for p in portraits],
        "words that put them there": [
            ", ".join(share.word for share in p.explanation.words[:WORDS]) or "none"
            for p in portraits
        ],
        f"rank without the {REMOVED} posts that matter most": [
            "none: they wrote nothing else"
            if (rest := p.explanation.without) is None or rest.rank is None
            else f"{rest.rank:,}"
            for p in portraits
        ],
    }
    return (("", *(p.user for p in portraits)), *((name, *cells) for name, cells in rows.items()))


def timeline(portraits: Sequence[Portrait], best: int = MOST_WEEKS) -> Plot:
    """How close each came to the topic, week by week; their ``best`` weeks stand out."""
    figure, panels = new_panels(1, len(portraits), width=7.0, height=0.5 + 1.5 * len(portraits))
    for axes, portrait in zip(panels, portraits, strict=True):
        weeks = portrait.weeks()
        top = sorted(weeks, key=lambda week: -weeks[week])[:best]
        colours = [ACCENT if week in top else COLOURS[-1] for week in weeks]
        axes.bar([week.toordinal() / 7 for week in weeks], [*weeks.values()], color=colours)
        axes.set(ylim=(0, 1), ylabel="strength", xticks=[])
        axes.set_title(f"{portrait.user} ({portrait.persona})", loc="left")
    panels[-1].set_xlabel("weeks in which they wrote")
    means = (
        f"{each.user}'s {best} best weeks come to {each.interest.persistence:.2f} on average, "
        f"their breadth is {each.interest.breadth:.2f}"
        for each in portraits
    )
    finding = "; ".join(means) + "."
    return Plot(figure, finding, f"Bars: their strongest post of each week. {finding}")


def _make_measure_section(judged: Evaluation, command: str) -> Section:
    gains = {each.baseline: each.map for each in judged.comparisons if each.measure == SHOWN}
    return Section(
        title="How well each measure finds them",
        paragraphs=(_METRICS, _MEASURES, _LITTLE),
        facts={
            f"MAP of {SHOWN} less that of {name}": (
                f"{gains[name].value:+.3f} (95%: {gains[name].low:+.2f} to {gains[name].high:+.2f})"
            )
            for name in BASELINES
        },
        plots=(measures_plot(judged.measures),),
        table=(("measure", *METRICS.values()), *(_cells(each) for each in judged.measures)),
        command=command,
    )


def _cells(each: Evaluated) -> tuple[str, ...]:
    found = (each.metrics[name] for name in METRICS)
    return (each.measure, *(f"{m.value:.3f} ({m.low:.2f}{_DASH}{m.high:.2f})" for m in found))


def measures_plot(measures: Sequence[Evaluated]) -> Plot:
    """MAP and NDCG of every measure, with intervals."""
    figure, panels = new_panels(2, width=8.2, height=0.8 + 0.24 * len(measures))
    for axes, metric in zip(panels, ("map", "ndcg"), strict=True):
        found = [each.metrics[metric] for each in measures]
        sides = [[m.value - m.low for m in found], [m.high - m.value for m in found]]
        places = range(len(found))
        axes.errorbar(
            [m.value for m in found], places, xerr=np.maximum(sides, 0), fmt="o", color=ACCENT,
            markersize=4, capsize=2,
        )  # fmt: skip
        axes.set(title=metric.upper(), yticks=places)
        axes.set_yticklabels([each.measure for each in measures])
        axes.invert_yaxis()
    best = max(measures, key=lambda each: each.metrics["ndcg"].value)
    finding = (
        f"Highest NDCG: {best.measure}, {best.metrics['ndcg'].value:.3f}, and its MAP is "
        f"{best.metrics['map'].value:.3f}."
    )
    return Plot(figure, finding, f"Dots with 95% intervals, a row for each measure. {finding}")
