"""Compared with a community that is known by a rank server's histograms only.

The page asks the server what everybody may ask, once, when it is started, and sends it nothing of
hers: her scores stay here, and her place is looked up in the histograms.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from urllib.parse import quote

import numpy as np

from sottovoce.advisor.community import Community
from sottovoce.advisor.community_histogram import Histogram
from sottovoce.advisor.community_setting import Setting
from sottovoce.advisor.rank.description import Description
from sottovoce.advisor.rank.histogram import Histogram as Published
from sottovoce.advisor.rank.transport import Transport
from sottovoce.errors import InputError
from sottovoce.topics.catalogue import Catalogue
from sottovoce.topics.space import Space
from sottovoce.web.advise.desk import Comparison

PERIODS_TRIED = 10
_SETTING = re.compile(r"k (?P<k>[0-9.]+), m (?P<m>[0-9]+), bucket (?P<bucket>[0-9]+(?:d|w|mo))\b")


def ask(server: Transport, spaces: Sequence[Space], catalogue: Catalogue) -> Comparison:
    """The latest histograms of all topics that the server and the catalogue both have."""
    description = Description.from_record(server.call("GET", "/description"))
    setting = _setting(description)
    names = [topic.name for topic in catalogue.sensitive if topic.name in description.by_name]
    found = {name: _latest(server, description, name) for name in names}
    histograms = {name: each for name, each in found.items() if each is not None}
    if not histograms:
        raise InputError(
            "the rank server has published no histogram of a topic of this catalogue yet."
        )
    known = Community.from_histograms(histograms, spaces, catalogue, setting)

    def by_setting(wanted: Setting) -> Community:
        fitting = replace(setting, thresholds=wanted.thresholds, hysteresis=wanted.hysteresis)
        return known if fitting == known.setting else known.with_setting(fitting)

    return Comparison(by_setting, "those who report to the rank server", tuple(spaces), fixed=True)


def bounds(published: Published, description: Description) -> Histogram:
    """How many people score at least so much, between two bounds that hold with the coverage.

    Bounds of one edge alone; where they would cross those of a neighbour they are widened, which
    never takes away from their coverage.
    """
    estimates, margins = published.cumulative(), published.margins(description)
    # The first and the last are about everybody and nobody.
    low = np.clip(estimates - margins, 0, published.reports)[1:-1]
    high = np.clip(estimates + margins, 0, published.reports)[1:-1]
    falling_low = np.minimum.accumulate(low)
    falling_high = np.maximum.accumulate(high[::-1])[::-1]
    edges = description.topic(published.topic).buckets.edges
    return Histogram(
        edges, tuple(falling_low.tolist()), tuple(falling_high.tolist()), published.reports
    )


def _latest(server: Transport, description: Description, topic: str) -> Histogram | None:
    path = f"/histograms/{quote(topic, safe='')}"
    listed = server.call("GET", path)
    periods = listed.get("periods") if isinstance(listed, dict) else None
    if not isinstance(periods, list) or not all(isinstance(each, int) for each in periods):
        raise InputError("the rank server's list of periods is not as it should be.")
    for period in sorted(periods, reverse=True)[:PERIODS_TRIED]:
        record = server.call("GET", f"{path}/{period}")
        if not isinstance(record, dict):
            raise InputError("the rank server's histogram is not as it should be.")
        found = Published.from_record(record, description)
        if found.counts is not None:
            return bounds(found, description)
    return None


def _setting(description: Description) -> Setting:
    measures = {topic.measure for topic in description.topics}
    said = _SETTING.search(description.setting)
    if len(measures) > 1 or said is None:
        raise InputError(
            "the rank server must name one measure and its setting as 'k 0.3, m 3, bucket 1w'; "
            "otherwise scores could not be compared."
        )
    return Setting(measures.pop(), float(said["k"]), int(said["m"]), said["bucket"])
