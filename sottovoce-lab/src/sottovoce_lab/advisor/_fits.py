"""Edges fitted to earlier histograms: how many people are told the band of their exact score."""

from fractions import Fraction

from sottovoce.advisor.rank.description import Description, RankedTopic
from sottovoce.advisor.rank.histogram import Histogram, fitted_buckets
from sottovoce.report.result import Row
from sottovoce_lab.advisor._errors import published, repeated
from sottovoce_lab.advisor._people import TOPIC, crowd, rules_for

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
        rules = _better(rules, publish())
    return rows


def fitted(rules: Description, people: int, fits: int) -> Description:
    """The rules with edges that were fitted so often, each time to what the same people gave."""
    for _ in range(fits):
        rules = _better(rules, published(crowd(people, rules, seed=people), rules)())
    return rules


def _better(rules: Description, histogram: Histogram) -> Description:
    ranked = rules.topic(TOPIC)
    buckets = fitted_buckets(histogram, rules, ranked.buckets.number)
    return Description(rules.mode, rules.epsilon, (RankedTopic(TOPIC, ranked.measure, buckets),))
