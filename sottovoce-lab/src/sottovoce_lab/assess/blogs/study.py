"""Real people's timelines: do the measures find those who report a sensitive state of themselves?

Not a table of the paper: the same comparison on bloggers, whose own words on other days are the
labels. Users are split by hash; the measure ``voice-t`` was developed and named on one half.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sottovoce.arrays import Floats, Integers
from sottovoce.assess.evaluation.runs import POSTS, RANDOM, WORDS
from sottovoce.assess.evaluation.significance import volume_strata
from sottovoce.assess.measures.catalogue import (
    LARGEST_CONCERNED,
    RECOMMENDED,
    banded_lifts,
    share_concerned,
)
from sottovoce.assess.ranking import BANDS
from sottovoce.report.page import ACCENT, INK, Plot, new_panels
from sottovoce.report.result import Row, StudyResult, number
from sottovoce_lab._data import data_file
from sottovoce_lab.assess.blogs import _judges, _scores
from sottovoce_lab.assess.blogs._judges import BlogTopicRanks
from sottovoce_lab.assess.blogs._people import (
    LEAST_POSTS,
    POST_LABELS,
    Half,
    blog_knowledge,
    checked_half,
    read_timelines,
    sample_posts,
    select,
)
from sottovoce_lab.assess.blogs._scores import NAMED, ScoredTimelines, score_timelines
from sottovoce_lab.columns import correct_rows
from sottovoce_lab.options import StudyOptions, study_notes

RATES = (0.005, 0.01, 0.02, 0.1, 0.2, 0.3)
COMMUNITIES = 40
PEOPLE = 1000


def findings_at_rates(topics: Sequence[BlogTopicRanks], rows: Sequence[Row]) -> list[str]:
    """How far shares computed in two ways are off at other rates; which printed intervals hold."""
    own: dict[Any, Any] = {row["measure"]: row for row in rows}
    cells = [(name, p) for name in RECOMMENDED for p in BANDS if own[name][f"lift_top_{p}"]]
    if not cells:
        return []
    found = []
    for rate in RATES:
        shares = {name: _shares(topics, name, rate) for name in RECOMMENDED}
        true = np.array([shares[name][BANDS.index(p)] for name, p in cells])
        lifts = [own[name][f"lift_top_{p}"] for name, p in cells]
        computed = np.array([share_concerned(lift, rate) for lift in lifts]) / true
        seen = np.array([own[name][f"precision_top_{p}"] for name, p in cells]) / true
        told = (
            f"People drawn so that a topic concerns {100 * rate:g} in 100: the share computed "
            f"from the lift is {computed.min():.2f} to {computed.max():.2f} times the true one, "
            f"that seen here {seen.min():.2f} to {seen.max():.2f} times."
        )
        if rate <= LARGEST_CONCERNED:
            printed = [banded_lifts([name], rate)[name][f"top {p}%"] for name, p in cells]
            held = [
                row["of_100_low"] <= 100 * share <= row["of_100_high"]
                for row, share in zip(printed, true, strict=True)
            ]
            told += f" {sum(held)} of {len(held)} printed intervals hold it."
        found.append(told)
    held = [
        row["low"] <= (own[name][f"lift_top_{p}"] or 0.0) <= row["high"]
        for measure in RECOMMENDED
        for name, bands in banded_lifts([measure]).items()
        for p, row in zip(BANDS, bands.values(), strict=True)
    ]
    return [
        *found,
        f"{sum(held)} of {len(held)} printed intervals hold the lift that is seen here.",
    ]


def _shares(topics: Sequence[BlogTopicRanks], measure: str, rate: float) -> Floats:
    """Of those in each band the share concerned, in communities of that rate; ties by chance."""
    rng, hits, many = np.random.default_rng(0), np.zeros(len(BANDS)), round(rate * PEOPLE)
    for topic in topics:
        order = topic.orders[measure][0]
        place = np.empty(order.users.size)
        place[order.users] = np.searchsorted(order.starts, np.arange(place.size), side="right")
        groups = ((topic.afflicted, many), (~topic.afflicted, PEOPLE - many))
        for _ in range(COMMUNITIES):
            drawn = [rng.choice(np.flatnonzero(flags), number) for flags, number in groups]
            first = np.lexsort((rng.random(PEOPLE), place[np.concatenate(drawn)]))
            hits += [(first[: PEOPLE * percent // 100] < many).sum() for percent in BANDS]
    return hits / (len(topics) * COMMUNITIES * PEOPLE * np.array(BANDS) / 100)


BLOGS = "blogs.parquet"
FIXED = "ten posts"
ALL = "all posts"
EVERY = "all topics"
TO_BEAT = (POSTS, "ent", _scores.KEYWORDS, _scores.KEYWORD_RATE)
"""The baselines that the named method was meant to beat; keyword counting in both its forms."""
ALSO = (WORDS, _scores.WEEKS, _scores.KEYWORDS_T)
"""What else it is held against: other volumes, and keywords under its own aggregation."""
SHOWN = ("ranked_by", "topic", "measure", "r_precision", "map", "auc", "gain", "p_holm")
WIDE = (
    "precision_top_1", "precision_top_5", "precision_top_10", "lift_top_5",
    "auc_posts_alike", "auc_weeks_alike", "matched_map", "matched_map_gain",
    "matched_map_p_holm", "p_by_words", "p_by_weeks", "users", "afflicted",
)  # fmt: skip


@dataclass(frozen=True)
class BlogStudySize:
    """How thorough it is."""

    samples: int = 100
    replicates: int = 4000
    permutations: int = 1000


QUICK = BlogStudySize(samples=2, replicates=100, permutations=100)


def run_assess_blogs(options: StudyOptions) -> StudyResult:
    """All measures on real timelines, against post count, keywords and ENT.

    R-Susceptibility, Section 5, on bloggers: all measures, the named one and the baselines.

    R-precision, average precision and AUC at a fixed number of posts a user and at all of them,
    over all topics and for each, with 95% bootstrap intervals over users; the gain of the named
    method over every other with Holm's correction; the same among users of like active weeks;
    and labels shuffled among users of like volume.
    """
    half = checked_half(options.half or "development")
    size = (
        QUICK if options.quick else BlogStudySize(samples=options.seeds or BlogStudySize().samples)
    )
    knowledge = blog_knowledge(options.topics, options.models, quick=options.quick)
    posts = options.posts or data_file(BLOGS)
    timelines = read_timelines(posts, half, options.labels_column or POST_LABELS)
    scored = score_timelines(timelines, knowledge)
    names = [topic.name for topic in knowledge.catalogue.sensitive]
    ranked = {
        ranked_by: [_ranked_topic(scored, name, ranked_by, size) for name in names]
        for ranked_by in (FIXED, ALL)
    }
    rows = tuple(
        row
        for ranked_by, topics in ranked.items()
        for row in _rows(topics, ranked_by, size, len(timelines.users))
    )
    rates = findings_at_rates(ranked[ALL], _select_rows(rows, EVERY, ALL))
    notes = (*_notes(half, size, posts), *knowledge.notes, *rates)
    return StudyResult(rows, (_plot(rows),), SHOWN, notes, WIDE)


def _ranked_topic(
    scored: ScoredTimelines, name: str, ranked_by: str, size: BlogStudySize
) -> BlogTopicRanks:
    selection = select(scored.timelines, name)
    samples: list[Integers | None] = [None]
    if ranked_by == FIXED:
        samples = [sample_posts(selection, LEAST_POSTS, seed) for seed in range(size.samples)]
    scores = [scored.scores(selection, sample) for sample in samples]
    weeks = scored.active_weeks(selection.writer, selection.posts, selection.users.size)
    return BlogTopicRanks(
        name,
        selection.users,
        selection.afflicted,
        _judges.orders_of(scores),
        {
            "weeks": _judges.week_strata(weeks),
            "posts": volume_strata(np.bincount(selection.writer).astype(np.float64)),
            "words": volume_strata(np.mean([each[WORDS] for each in scores], axis=0)),
        },
    )


def _rows(
    topics: Sequence[BlogTopicRanks], ranked_by: str, size: BlogStudySize, users: int
) -> Iterator[Row]:
    people = _judges.draw_people(users, size.replicates, seed=0)
    names = topics[0].orders
    drawn = {
        name: [_judges.drawn_metrics(topic, name, people) for topic in topics] for name in names
    }
    tested = (NAMED, *TO_BEAT, *ALSO)
    # With a hundred samples all measures would take an hour.
    compared = tested if ranked_by == FIXED else tuple(drawn)
    matched = {
        alike: {
            name: [_judges.matched_metrics(topic, name, people, alike) for topic in topics]
            for name in compared
        }
        for alike in ("weeks", "posts")
    }
    shuffled = {name: _shuffle_labels(topics, name, size) for name in tested}
    groups = [(EVERY, list(range(len(topics))))]
    groups += [(topic.name, [place]) for place, topic in enumerate(topics)]
    for group, places in groups:
        rows = [
            {"ranked_by": ranked_by, "topic": group, "measure": name, "role": _role(name)}
            | _scores.metric_columns([drawn[name][place] for place in places])
            | _scores.gain_columns(drawn, name, places)
            | _scores.matched_columns(matched, name, places)
            | _scores.shuffled_columns(shuffled.get(name), places)
            | {
                "users": sum(int(topics[place].users.size) for place in places),
                "afflicted": sum(int(topics[place].afflicted.sum()) for place in places),
            }
            for name in names
        ]
        rivals = [row for row in rows if row["measure"] in (*TO_BEAT, *ALSO)]
        rows = correct_rows(rows, rivals, "p", "p_holm")
        yield from correct_rows(rows, rivals, "matched_map_p", "matched_map_p_holm")


def _role(name: str) -> str:
    if name == NAMED:
        return "named"
    return "baseline" if name in _scores.BASELINES or name == "ent" else "measure"


def _shuffle_labels(
    topics: Sequence[BlogTopicRanks], name: str, size: BlogStudySize
) -> dict[str, list[Floats]]:
    return {
        alike: [
            _judges.shuffled_precision(topic, name, topic.strata[alike], size.permutations, 0)
            for topic in topics
        ]
        for alike in ("words", "weeks")
    }


def _notes(half: Half, size: BlogStudySize, posts: Path) -> tuple[str, ...]:
    return (
        (
            f"{posts.name}, {half} half of the users. Labels are proxies: somebody who said so of "
            "themselves on a day that is left out here; nobody without one is known to be free."
        ),
        (
            f"Ten posts: {size.samples} samples of {LEAST_POSTS} posts a user, metrics averaged. "
            f"95% intervals from {size.replicates} draws of people. gain is the average precision "
            f"of {NAMED} less that of the row; p is two-sided, p_holm over the baselines."
        ),
        *study_notes("assess-blogs"),
    )


def _select_rows(rows: Sequence[Row], topic: str, ranked_by: str = FIXED) -> list[Row]:
    return [row for row in rows if row["ranked_by"] == ranked_by and row["topic"] == topic]


def _plot(rows: Sequence[Row]) -> Plot:
    """Average precision of every measure by ten posts, with intervals."""
    own = sorted(_select_rows(rows, EVERY), key=lambda row: number(row, "map"))
    figure, panels = new_panels(1, width=6.4, height=0.8 + 0.22 * len(own))
    for place, row in enumerate(own):
        colour = ACCENT if row["measure"] == NAMED else INK
        panels[0].plot([number(row, "map_low"), number(row, "map_high")], [place] * 2, color=colour)
        panels[0].plot([number(row, "map")], [place], "o", color=colour)
    panels[0].set(title="MAP over topics, ten posts a user", yticks=range(len(own)))
    panels[0].set_yticklabels([f"{row['measure']}" for row in own])
    best, random = own[-1], next(row for row in own if row["measure"] == RANDOM)
    named = next(row for row in own if row["measure"] == NAMED)
    finding = (
        f"MAP by ten posts: {NAMED} {number(named, 'map'):.3f}, highest {best['measure']} "
        f"{number(best, 'map'):.3f}, chance {number(random, 'map'):.3f}."
    )
    return Plot(figure, finding, f"Dots with 95% intervals, a row for each measure. {finding}")
