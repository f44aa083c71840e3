"""Whether what is said of bands holds in communities that a topic concerns more or less often.

People of the study are drawn again so that a topic concerns another share of them.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from sottovoce.arrays import Floats
from sottovoce.assess.measures.catalogue import (
    LARGEST_CONCERNED,
    RECOMMENDED,
    banded_lifts,
    share_concerned,
)
from sottovoce.assess.ranking import BANDS
from sottovoce.report.result import Row
from sottovoce_lab.assess.blogs._judges import BlogTopicRanks

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
