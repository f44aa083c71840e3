"""Columns of a study's rows, gathered over communities: means with 95% intervals, and tests."""

from collections.abc import Callable, Sequence

import numpy as np

from sottovoce.assess.evaluation import (
    METRICS,
    paired_difference,
    paired_test,
    percentile_interval,
)
from sottovoce.release.intervals import mean_interval
from sottovoce.study.assess_parts.outcomes import Outcome, share_above
from sottovoce.study.result import Row

PERSONAS = ("afflicted", "supporter", "curious", "professional", "bystander")


def interval_columns(name: str, values: Sequence[float]) -> Row:
    """Mean and Student-t interval over communities: ``name``, ``name_low``, ``name_high``."""
    found = mean_interval(values)
    return {name: found.mean, f"{name}_low": found.low, f"{name}_high": found.high}


def metric_columns(outcomes: Sequence[Outcome], measure: str) -> Row:
    """All metrics of one measure: over communities, or by bootstrap over users if there is one."""
    if len(outcomes) == 1:
        return _bootstrapped(outcomes[0], measure)
    row: Row = {}
    for metric in METRICS:
        row |= interval_columns(metric, [each.metrics[measure][metric] for each in outcomes])
    return row


def gain_columns(outcomes: Sequence[Outcome], measure: str, baseline: str | None) -> Row:
    """How much a measure gains over another in MAP and NDCG, community by community."""
    row: Row = {"against": baseline}
    for metric in ("map", "ndcg"):
        row |= _gain(outcomes, measure, baseline, metric)
    return row


def _gain(outcomes: Sequence[Outcome], measure: str, baseline: str | None, metric: str) -> Row:
    name = f"{metric}_gain"
    if baseline is None:
        return {name: None, f"{name}_low": None, f"{name}_high": None}
    if len(outcomes) == 1:
        return _bootstrapped_gain(outcomes[0], measure, baseline, metric)
    return interval_columns(name, differences(outcomes, measure, baseline, _metric(metric)))


def differences(
    outcomes: Sequence[Outcome],
    measure: str,
    baseline: str,
    value: Callable[[Outcome, str], float],
) -> list[float]:
    """A value of one measure less that of another, for each community."""
    return [value(each, measure) - value(each, baseline) for each in outcomes]


def _metric(metric: str) -> Callable[[Outcome, str], float]:
    return lambda outcome, measure: outcome.metrics[measure][metric]


def persona_columns(outcomes: Sequence[Outcome], measure: str) -> Row:
    """Where each persona stands; blank for personas that nobody has."""
    row: Row = {}
    for persona in PERSONAS:
        values = [
            each.standing[measure][persona]
            for each in outcomes
            if persona in each.standing[measure]
        ]
        blank: Row = {persona: None, f"{persona}_low": None, f"{persona}_high": None}
        row |= interval_columns(persona, values) if values else blank
    return row


def pair_columns(outcomes: Sequence[Outcome], measure: str, topics: Sequence[int]) -> Row:
    """Of pairs of an afflicted and another user, in how many the afflicted stands higher."""
    row: Row = {}
    for persona in PERSONAS[1:]:
        name = f"above_{persona}"
        shares = [_mean_share(each, measure, persona, topics) for each in outcomes]
        known = [share for share in shares if share is not None]
        blank: Row = {name: None, f"{name}_low": None, f"{name}_high": None}
        row |= interval_columns(name, known) if known else blank
    return row


def _mean_share(
    outcome: Outcome, measure: str, persona: str, topics: Sequence[int]
) -> float | None:
    shares = [
        share_above(outcome.runs[measure][place], outcome.community.personas[place], persona)
        for place in topics
    ]
    known = [share for share in shares if share is not None]
    return float(np.mean(known)) if known else None


def significance_columns(outcomes: Sequence[Outcome], measure: str, baseline: str | None) -> Row:
    """The paper's paired t-test on per-user hits, all communities together, and permutation."""
    if baseline is None:
        return {"hits_gain": None, "p_t": None, "p_permutation": None}
    ours, theirs = (
        np.concatenate([each.hits[name] for each in outcomes]) for name in (measure, baseline)
    )
    found = paired_test(ours, theirs)
    return {
        "hits_gain": found.difference,
        "p_t": found.p_t,
        "p_permutation": found.p_permutation,
    }


def _bootstrapped(outcome: Outcome, measure: str) -> Row:
    drawn = outcome.draws[measure]
    row: Row = {}
    for metric, value in outcome.metrics[measure].items():
        found = percentile_interval(value, drawn[metric])
        row |= {metric: found.value, f"{metric}_low": found.low, f"{metric}_high": found.high}
    return row


def _bootstrapped_gain(outcome: Outcome, measure: str, baseline: str, metric: str) -> Row:
    drawn = outcome.draws
    value = outcome.metrics[measure][metric] - outcome.metrics[baseline][metric]
    found = paired_difference(value, drawn[measure][metric], drawn[baseline][metric])
    name = f"{metric}_gain"
    return {name: found.value, f"{name}_low": found.low, f"{name}_high": found.high}
