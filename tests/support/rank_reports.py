"""Reports in shares, and how tests hand them to two servers in this process."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sottovoce.advisor.rank.description import Description
from sottovoce.advisor.rank.shares import Message, SharedReport, prio3
from sottovoce.web.rank.pair import FirstServer, SecondServer
from sottovoce.web.rank.service import RankService
from support.rank_servers import Clock, InProcessPeer

TOPIC, PERIOD = "debt", 100
Servers = tuple[FirstServer, SecondServer]


def token(place: int) -> str:
    """The id of the report of somebody."""
    return f"{place:032x}"


def shared(
    rules: Description, place: int, bucket: int, topic: str = TOPIC, period: int = PERIOD
) -> SharedReport:
    """A report of ``bucket``."""
    return SharedReport.of_bucket(rules, topic, period, token(place), bucket)


def forged(rules: Description, place: int, vector: Sequence[int]) -> SharedReport:
    """A report of any vector, its proof made as for an honest one."""
    histogram = prio3(rules, TOPIC, PERIOD)
    elements = histogram._field.elements(vector)
    rand = bytes(range(histogram.randomness_size))
    made = histogram._split(elements, bytes.fromhex(token(place)), rand)
    return SharedReport(token(place), made.public_share, made.input_shares)


def flipped(report: SharedReport, server: int) -> SharedReport:
    """The same with one bit of one server's input share turned."""
    shares = list(report.input_shares)
    shares[server] = bytes([shares[server][0] ^ 1]) + shares[server][1:]
    return replace(report, input_shares=tuple(shares))


def keep(server: RankService, report: SharedReport, place: int, topic: str = TOPIC) -> None:
    """Store what the server at ``place`` gets of ``report``."""
    server.keep(topic, PERIOD, report.token, report.payload(place)).result(10)


def bring(servers: Servers, report: SharedReport, topic: str = TOPIC) -> None:
    """Both servers get their part."""
    for place, server in enumerate(servers):
        keep(server, report, place, topic)


def report_all(servers: Servers, buckets: Sequence[int], topic: str = TOPIC) -> None:
    """Somebody in each of ``buckets`` reports."""
    for place, bucket in enumerate(buckets):
        bring(servers, shared(servers[0].description, place, bucket, topic), topic)


def publish(servers: Servers, clock: Clock) -> tuple[int, Any]:
    """End the period: how many reports are in its histogram, and the counts."""
    clock.day += 1
    found = servers[0].histogram(TOPIC, PERIOD)
    assert found is not None
    return found["reports"], found["counts"]


def sent(servers: Servers, *paths: str) -> list[Message]:
    """What the first server has sent the second at ``paths``."""
    peer = servers[0]._peer
    assert isinstance(peer, InProcessPeer)
    return [message for path, message in peer.sent if path in paths]
