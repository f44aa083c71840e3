"""The whole protocol of shares on a crowd: split, agree, check, open, in one process."""

import os

from sottovoce.advisor.rank.description import Description
from sottovoce.advisor.rank.histogram import Histogram
from sottovoce.advisor.rank.opening import Pool, answer, ask, demand, joined, yielded
from sottovoce.advisor.rank.shares import split
from sottovoce.study.advisor_parts.crowds import TOPIC, Crowd
from sottovoce.study.advisor_parts.errors import Publish


def opened_by_protocol(crowd: Crowd, rules: Description) -> Publish:
    """Everybody sends two shares; the two servers check all of them and open their noised sum."""

    def publish() -> Histogram:
        key = os.urandom(32)
        tokens = tuple(os.urandom(16).hex() for _ in range(crowd.people))
        first, second = (
            Pool(rules, TOPIC, 0, tokens, shares)
            for shares in split(crowd.buckets, crowd.counts.size)
        )
        demanded = demand(first, key, answer(second, key, ask(first, key)))
        other = yielded(second, key, demanded)
        total = joined(first.of(demanded["tokens"]).noised_sum(), other)
        return Histogram.of_opened(rules, TOPIC, 0, len(demanded["tokens"]), total)

    return publish
