"""Better bucket edges from published histograms, and the file that carries them to new servers.

All in a bucket count as tied, so a bucket that a band's limit cuts keeps its people out of a band
that some of them are in. With edges close to where the limits lie, few are. Where they lie is read
from histograms that everybody may read, so this is free post-processing of noised counts.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from sottovoce.advisor.rank.buckets import BUCKETS, Buckets, check_number, score_range
from sottovoce.advisor.rank.description import Description, RankedTopic
from sottovoce.advisor.rank.histogram import BANDS, Histogram
from sottovoce.arrays import Floats
from sottovoce.errors import InputError, ParameterError
from sottovoce.files import whole_file
from sottovoce.json import parse_json

FORMAT = "sottovoce-rank-edges"
_LARGEST_FILE = 1 << 22
# Edges around a limit, in steps of its uncertainty, the most needed first. One inside a limit is
# worth more: whoever is above it is told the band. Chosen by trying others in the study.
_STEPS = (-1, -3, 1)
_PART_OF_BUCKET = 16


def fitted_buckets(
    histogram: Histogram, description: Description, number: int = BUCKETS
) -> Buckets:
    """At most ``number`` buckets with edges close to the limits of the bands.

    Near the limit q (a share of people) edges lie at the scores that q - 3s, q - s and q + s of all
    people reach, read off the histogram by straight lines. The step s is the deviation of a share
    among as many people, and half the margin of its noise, but at least 1/16 of the bucket that q
    cuts: within a wide bucket a straight line can be far off. So repeat it, period after period,
    until the edges hardly move. What is left of ``number`` halves the widest gaps.
    """
    check_number(number)
    topic = description.topic(histogram.topic)
    shares = histogram.at_least() / histogram.reports
    margins = histogram.margins(description) / histogram.reports
    limits = np.array(BANDS) / 100
    cut = np.array([np.flatnonzero(shares >= limit)[-1] for limit in limits])
    spread = np.sqrt(limits * (1 - limits) / histogram.reports) + margins[cut] / 2
    step = np.maximum(spread, (shares[cut] - shares[cut + 1]) / _PART_OF_BUCKET)
    wanted = np.concatenate([limits + each * step for each in _STEPS])
    levels = wanted[(wanted > 0) & (wanted < 1)][: number - 1]
    return Buckets(tuple(_scores_at(_filled(np.unique(levels), number - 1), shares, topic)))


def save_edges(path: Path, topics: Mapping[str, RankedTopic]) -> None:
    """Write the edges of ``topics`` for `load_edges`."""
    rows = [topic.record() for topic in topics.values()]
    with whole_file(path) as part:
        part.write_text(json.dumps({"format": FORMAT, "topics": rows}) + "\n", encoding="utf-8")


def load_edges(path: Path) -> dict[str, RankedTopic]:
    """What `save_edges` wrote, by topic."""
    try:
        with path.open("rb") as file:
            topics = _topics(parse_json(file.read(_LARGEST_FILE)))
    except OSError as error:
        raise InputError(f"cannot read the edges {path}: {error.strerror}.") from None
    except (KeyError, TypeError, ValueError, RecursionError, ParameterError):
        raise InputError(
            f"{path} is not a file of edges; write one with sottovoce rank-edges."
        ) from None
    return {topic.name: topic for topic in topics}


def _topics(record: Any) -> list[RankedTopic]:  # noqa: ANN401 - JSON
    if record["format"] != FORMAT:
        raise ValueError(FORMAT)
    return [RankedTopic.from_record(row) for row in record["topics"]]


def _filled(levels: Floats, number: int) -> Floats:
    """More levels, up to ``number``, each in the middle of the widest gap."""
    while levels.size < number:
        ends = np.array([0.0, *levels, 1.0])
        widest = int(np.argmax(np.diff(ends)))
        levels = np.insert(levels, widest, ends[widest : widest + 2].mean())
    return levels


def _scores_at(levels: Floats, shares: Floats, topic: RankedTopic) -> list[float]:
    """The scores that these shares of people reach or exceed, increasing."""
    edges = np.array(topic.buckets.edges)
    low, high = _ends(topic)
    known = np.array([min(low, edges[0]), *edges, max(high, edges[-1])])
    scores: list[float] = np.unique(np.interp(levels, shares[::-1], known[::-1])).tolist()
    return scores


def _ends(topic: RankedTopic) -> tuple[float, float]:
    """Between which bounds all scores lie; a guess for measures without any."""
    try:
        return score_range(topic.measure)
    except ParameterError:
        first, last = topic.buckets.edges[0], topic.buckets.edges[-1]
        wide = max(last - first, abs(first), abs(last))
        return first - wide, last + wide
