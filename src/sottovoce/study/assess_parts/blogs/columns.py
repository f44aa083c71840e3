"""The columns of a row of the bloggers' table, from draws of people."""

from collections.abc import Mapping, Sequence

import numpy as np

from sottovoce.assess.evaluation import paired_difference, percentile_interval
from sottovoce.assess.evaluation.ties import Floats
from sottovoce.study.assess_parts.blogs.judging import (
    one_sided_p,
)
from sottovoce.study.assess_parts.blogs.scored import (
    NAMED,
)
from sottovoce.study.result import Row


def metric_columns(topics: Sequence[Mapping[str, Floats]]) -> Row:
    row: Row = {}
    columns = {"r_precision": "r_precision", "map": "average_precision", "ndcg": "ndcg"}
    for column, metric in columns.items():
        values = np.mean([topic[metric] for topic in topics], axis=0)
        row |= _interval(column, values)
    return row


def _interval(name: str, values: Floats) -> Row:
    """The value on all people, and the middle 95% over draws of them."""
    found = percentile_interval(float(values[0]), values[1:])
    return {name: found.value, f"{name}_low": found.low, f"{name}_high": found.high}


def gain_columns(
    drawn: Mapping[str, Sequence[Mapping[str, Floats]]], name: str, places: Sequence[int]
) -> Row:
    """Average precision of the named method less this one's, on the same draws of people."""
    if name == NAMED:
        return _no_gain("gain") | {"p": None}
    ours, theirs = (
        np.mean([drawn[each][place]["average_precision"] for place in places], axis=0)
        for each in (NAMED, name)
    )
    return _gain("gain", "p", ours, theirs)


def matched_columns(
    matched: Mapping[str, Sequence[Floats]], name: str, places: Sequence[int]
) -> Row:
    """The same among users of like active weeks, for the baselines."""
    if name not in matched:
        return {"matched_map": None} | _no_gain("matched_gain") | {"matched_p": None}
    ours, own = (np.mean([matched[each][i] for i in places], axis=0) for each in (NAMED, name))
    value: Row = {"matched_map": float(own[0])}
    if name == NAMED:
        return value | _no_gain("matched_gain") | {"matched_p": None}
    return value | _gain("matched_gain", "matched_p", ours, own)


def _no_gain(name: str) -> Row:
    return {name: None, f"{name}_low": None, f"{name}_high": None}


def _gain(name: str, p_name: str, ours: Floats, theirs: Floats) -> Row:
    found = paired_difference(float(ours[0] - theirs[0]), ours[1:], theirs[1:])
    return {
        name: found.value,
        f"{name}_low": found.low,
        f"{name}_high": found.high,
        p_name: found.p_value,
    }


def shuffled_columns(shuffled: Mapping[str, Sequence[Floats]] | None, places: Sequence[int]) -> Row:
    """How often labels shuffled among users of like volume rank as well."""
    if shuffled is None:
        return {"p_by_words": None, "p_by_weeks": None}
    return {
        f"p_by_{volume}": one_sided_p(np.mean([values[place] for place in places], axis=0))
        for volume, values in shuffled.items()
    }
