"""From what a rank server publishes to a community that a person can compare herself with."""

from collections.abc import Iterable

import numpy as np

from sottovoce.advisor.community_histogram import Histogram
from sottovoce.advisor.community_setting import Setting
from sottovoce.advisor.rank.description import COVERAGE, Description
from sottovoce.advisor.rank.histogram import Histogram as Published
from sottovoce.errors import InputError


def published_histograms(
    description: Description,
    published: Iterable[Published],
    setting: Setting,
    *,
    coverage: float = COVERAGE,
) -> dict[str, Histogram]:
    """For each topic that is not withheld, the counts with their margins.

    Each bound of a place holds with (1 + coverage)/2, so that the two together hold with
    ``coverage``; what-if places of one histogram are not independent of one another.
    """
    found = {}
    for histogram in published:
        measure = description.topic(histogram.topic).measure
        if measure != setting.measure:
            raise InputError(
                f"the rank server ranks by {measure}, the setting by {setting.measure}; choose "
                "the server's measure."
            )
        if histogram.counts is not None:
            found[histogram.topic] = _bounded(description, histogram, coverage)
    return found


def _bounded(description: Description, published: Published, coverage: float) -> Histogram:
    """The lowest bucket is open below: everybody who reported is in it or a higher one."""
    edges = description.topic(published.topic).buckets.edges
    counts = published.cumulative()[1:-1]
    margins = published.margins(description, coverage)[1:-1]
    low, high = (np.clip(counts + sign * margins, 0, published.reports) for sign in (-1, 1))
    return Histogram(edges, tuple(low.tolist()), tuple(high.tolist()), published.reports)
