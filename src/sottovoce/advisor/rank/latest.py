"""The latest histogram that a rank server has published: asked for as everybody may."""

from urllib.parse import quote

from sottovoce.advisor.rank.description import Description
from sottovoce.advisor.rank.histogram import Histogram
from sottovoce.advisor.rank.transport import Transport
from sottovoce.errors import InputError

PERIODS_TRIED = 10


def latest_histogram(server: Transport, description: Description, topic: str) -> Histogram | None:
    """The latest histogram of ``topic`` that was not withheld; None where there is none."""
    path = f"/histograms/{quote(topic, safe='')}"
    for period in _periods(server, path):
        record = server.call("GET", f"{path}/{period}")
        if not isinstance(record, dict):
            raise InputError("the rank server's histogram is not as it should be.")
        found = Histogram.from_record(record, description)
        if found.topic != topic:
            raise InputError("the rank server answers with the histogram of another topic.")
        if found.counts is not None:
            return found
    return None


def _periods(server: Transport, path: str) -> list[int]:
    listed = server.call("GET", path)
    periods = listed.get("periods") if isinstance(listed, dict) else None
    if not isinstance(periods, list) or not all(isinstance(each, int) for each in periods):
        raise InputError("the rank server's list of periods is not as it should be.")
    return sorted(periods, reverse=True)[:PERIODS_TRIED]
