"""Whether what is said of bands holds in communities that a topic concerns more or less often.

People of the study are drawn again so that a topic concerns another share of them.
"""

from collections.abc import Sequence

import numpy as np

from sottovoce._arrays import Floats
from sottovoce.assess._ranking import BANDS
from sottovoce.assess.measures._catalogue import RECOMMENDED
from sottovoce.assess.measures._lifts import (
    LARGEST_CONCERNED,
    VOLUME,
    banded_lifts,
    share_concerned,
)
from sottovoce.lab.assess.blogs._judges import BlogTopicRanks
from sottovoce.report._result import Row

RATES = (0.005, 0.01, 0.02, 0.1, 0.2, 0.3)
COMMUNITIES = 40
PEOPLE = 1000


def findings_at_rates(topics: Sequence[BlogTopicRanks], rows: Sequence[Row]) -> list[str]:
    """How far shares computed in two ways are off at other rates; which printed intervals hold."""
    own = {row["measure"]: row for row in rows}
    found = []
    for rate in RATES:
        by_ratio, by_multiple, held = [], [], []
        for measure in (name for name in RECOMMENDED if name in own):
            for percent, share in zip(BANDS, _shares(topics, measure, rate), strict=True):
                lift = own[measure][f"lift_top_{percent}"]
                precision = own[measure][f"precision_top_{percent}"]
                if isinstance(lift, float) and isinstance(precision, float):
                    by_ratio.append(share_concerned(lift, rate) / share)
                    by_multiple.append(precision / share)
                if rate <= LARGEST_CONCERNED:
                    told = banded_lifts([measure], rate)[measure][f"top {percent}%"]
                    held.append(told["of_100_low"] <= 100 * share <= told["of_100_high"])
        if by_ratio:
            found.append(
                f"People drawn so that a topic concerns {100 * rate:g} in 100: the share computed "
                f"from the lift is {min(by_ratio):.2f} to {max(by_ratio):.2f} times the true one, "
                f"that seen here {min(by_multiple):.2f} to {max(by_multiple):.2f} times."
                + (f" {sum(held)} of {len(held)} printed intervals hold it." if held else "")
            )
    return [*found, *_printed(own)]


def _shares(topics: Sequence[BlogTopicRanks], measure: str, rate: float) -> Floats:
    """Of those in each band the share concerned, in communities of that rate; ties by chance."""
    rng = np.random.default_rng(0)
    hits = np.zeros(len(BANDS))
    many = round(rate * PEOPLE)
    for topic in topics:
        order = topic.orders[measure][0]
        place = np.empty(order.users.size)
        place[order.users] = np.searchsorted(order.starts, np.arange(place.size), side="right")
        for _ in range(COMMUNITIES):
            drawn = [
                rng.choice(np.flatnonzero(topic.afflicted == flag), number)
                for flag, number in ((True, many), (False, PEOPLE - many))
            ]
            first = np.lexsort((rng.random(PEOPLE), place[np.concatenate(drawn)]))
            hits += [(first[: PEOPLE * percent // 100] < many).sum() for percent in BANDS]
    return hits / (len(topics) * COMMUNITIES * PEOPLE * np.array(BANDS) / 100)


def _printed(own: "dict[object, Row]") -> list[str]:
    """How many of the printed intervals hold the lifts that are seen here."""
    found = []
    for measure in (name for name in RECOMMENDED if name in own):
        inside = []
        for name, bands in banded_lifts([measure]).items():
            for percent, row in zip(BANDS, bands.values(), strict=True):
                seen = own[name][f"lift_top_{percent}"]
                inside.append(isinstance(seen, float) and row["low"] <= seen <= row["high"])
        found.append(
            f"What assess prints for {measure}, with {' and '.join(VOLUME)}: {sum(inside)} of "
            f"{len(inside)} intervals hold what is seen here."
        )
    return found
