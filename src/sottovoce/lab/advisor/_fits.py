"""Edges fitted to earlier histograms: how many people are told the band of their exact score.

The whole protocol of shares on a crowd: split, agree, check, open, in one process.
"""

import os
from fractions import Fraction

from sottovoce.advisor.rank._description import Description, RankedTopic
from sottovoce.advisor.rank._edges import fitted_buckets
from sottovoce.advisor.rank._histogram import Histogram
from sottovoce.advisor.rank._shares import Pool, answer, ask, demand, joined, split, yielded
from sottovoce.lab.advisor._errors import Publish, published, repeated
from sottovoce.lab.advisor._people import TOPIC, BucketedCrowd, crowd, rules_for
from sottovoce.report._result import Row

ROUNDS = 3
SAME, OTHERS = "same people", "other people each time"


def fitted_rows(people: int, epsilon: Fraction, buckets: int, repetitions: int) -> list[Row]:
    """A row for each mode, case and number of fits, from even buckets on."""
    return [
        row
        for rules in (rules_for("shares", epsilon, buckets), rules_for("noise", epsilon, buckets))
        for case in (SAME, OTHERS)
        for row in _rounds(rules, case, people, repetitions)
    ]


def _rounds(rules: Description, case: str, people: int, repetitions: int) -> list[Row]:
    rows: list[Row] = []
    for fits in range(ROUNDS + 1):
        community = crowd(people, rules, seed=people + (fits if case == OTHERS else 0))
        publish = published(community, rules)
        head: Row = {
            "part": f"fitted edges, {rules.mode}",
            "case": f"{fits} fits, {case}",
            "people": people,
            "epsilon": float(rules.epsilon),
            "fits": fits,
        }
        rows.append(head | repeated(community, rules, publish, repetitions))
        ranked = rules.topic(TOPIC)
        better = fitted_buckets(publish(), rules, ranked.buckets.number)
        rules = Description(
            rules.mode, rules.epsilon, (RankedTopic(TOPIC, ranked.measure, better),)
        )
    return rows


def opened_by_protocol(crowd: BucketedCrowd, rules: Description) -> Publish:
    """Everybody sends two shares; the two servers check all of them and open their noised sum."""

    def publish() -> Histogram:
        key = os.urandom(32)
        tokens = tuple(os.urandom(16).hex() for _ in range(crowd.people))
        first, second = (
            Pool(rules, TOPIC, 0, tokens, shares)
            for shares in split(crowd.buckets, crowd.counts.size)
        )
        demanded = demand(first, key, answer(second, key, ask(first, key)))
        other = yielded(second, key, demanded)
        total = joined(first.of(demanded["tokens"]).noised_sum(), other)
        return Histogram.of_opened(rules, TOPIC, 0, len(demanded["tokens"]), total)

    return publish
