"""Compared with a community that is known by a rank server's histograms only.

The page asks the server what everybody may ask, once, when it is started, and tells it nothing of
the person: their scores stay here, and their place is looked up in the histograms. Reports are
another matter, and their own decision: see `_reports`.
"""

from collections.abc import Sequence
from dataclasses import replace

from sottovoce.advisor.community import Community
from sottovoce.advisor.crowd import ScoreHistogram, published_histograms
from sottovoce.advisor.rank.client import latest_histogram
from sottovoce.advisor.rank.description import Description
from sottovoce.advisor.rank.transport import Transport
from sottovoce.advisor.settings import AdvisorSetting
from sottovoce.errors import InputError
from sottovoce.topics.catalogue import Catalogue
from sottovoce.topics.space import Space
from sottovoce.web.advise.session import ComparedCommunity


def ask(
    server: Transport, spaces: Sequence[Space], catalogue: Catalogue, *, unpublished: bool = False
) -> ComparedCommunity:
    """The latest histograms of all topics that the server and the catalogue both have.

    ``unpublished``: topics without one are there as well, for who wants to be among the first to
    report; they have nobody to be compared with then.
    """
    description = Description.from_record(server.call("GET", "/description"))
    setting = _setting(description)
    names = [topic.name for topic in catalogue.sensitive if topic.name in description.by_name]
    found = [latest_histogram(server, description, name) for name in names]
    published = [each for each in found if each is not None]
    known = published_histograms(description, published, setting)
    if unpublished:
        known = {name: _empty_histogram(description, name) for name in names} | known
    if not known:
        raise InputError(
            "the rank server has published no histogram of a topic of this catalogue yet."
        )
    community = Community.from_histograms(known, spaces, catalogue, setting)

    def by_setting(wanted: AdvisorSetting) -> Community:
        fitting = replace(setting, thresholds=wanted.thresholds, hysteresis=wanted.hysteresis)
        return community if fitting == community.setting else community.with_setting(fitting)

    return ComparedCommunity(
        by_setting,
        "those who report to the rank server",
        tuple(spaces),
        rules=description.version,
    )


def _empty_histogram(description: Description, topic: str) -> ScoreHistogram:
    edges = description.topic(topic).buckets.edges
    return ScoreHistogram(edges, (0.0,) * len(edges), (0.0,) * len(edges), 0)


def _setting(description: Description) -> AdvisorSetting:
    measures = {topic.measure for topic in description.topics}
    if len(measures) > 1:
        raise InputError(
            "the rank server must rank all topics by one measure; otherwise scores could not be "
            "compared."
        )
    return AdvisorSetting(measures.pop(), description.k, description.m, description.bucket)
