"""How much more often than others people concerned stood in a band, by a test on real timelines.

How many of a band a topic concerns depends on how many it concerns at all, so no such number is
said but for a share that the user names. What holds at other shares is how often people concerned
are in the band, and how often others are (`docs/research/assess-blogs.md`).
"""

import math
from collections.abc import Iterable, Mapping
from numbers import Real
from statistics import NormalDist

from sottovoce.errors import ParameterError

BANDS = (1, 5, 10)
VOLUME = {"posts": "the number of posts alone", "weeks": "the number of weeks with a post alone"}
"""What needs no topic, and stands beside every measure."""
CONFIDENCE = 0.95
LARGEST_CONCERNED = 0.1
"""Where more are concerned bands hold more of them than the lifts say, by up to a quarter."""
LIFTS: Mapping[str, tuple[tuple[float, float], ...]] = {
    "voice-t": ((6.5, 0.47), (5.9, 0.17), (4.5, 0.12)),
    "voice-st": ((8.9, 0.43), (5.7, 0.17), (4.3, 0.12)),
    "voice": ((5.6, 0.53), (3.8, 0.20), (3.8, 0.13)),
    "voice-s": ((4.6, 0.57), (3.8, 0.21), (3.5, 0.14)),
    "voice-d": ((2.1, 0.65), (1.8, 0.28), (1.7, 0.20)),
    "voice-dt": ((2.9, 0.56), (2.4, 0.24), (2.1, 0.18)),
    "bow-t": ((10, 0.41), (5.9, 0.20), (4.6, 0.14)),
    "bow": ((7.5, 0.52), (5.7, 0.25), (3.9, 0.19)),
    "bow-d": ((2, 0.76), (2.1, 0.41), (2.1, 0.21)),
    "bow-dt": ((1.1, 0.75), (2.5, 0.32), (2.3, 0.19)),
    "keyword-kinds": ((19, 0.47), (6.6, 0.22), (4, 0.15)),
    "keyword-kinds-t": ((12, 0.46), (5.8, 0.20), (5, 0.14)),
    "ent": ((6.5, 0.49), (4, 0.20), (3.4, 0.14)),
    "diff-priv": ((2.1, 0.80), (2.4, 0.33), (3, 0.16)),
    "posts": ((7.1, 0.98), (2.7, 0.30), (2.4, 0.24)),
    "weeks": ((5.9, 0.72), (3.8, 0.21), (3.5, 0.14)),
}
"""By band the lift, and the standard error of its logarithm over draws of people.

``study assess-blogs --half test``: 880 bloggers, five topics, all posts of each.
"""


def share_concerned(lift: float, concerned: float) -> float:
    """Of those in a band the share concerned, where the share ``concerned`` of all are.

    Bayes' rule: the odds of all, times how much more often those concerned are in the band.

    >>> round(share_concerned(4.0, 0.02), 3)
    0.075
    """
    return concerned * lift / (concerned * lift + 1.0 - concerned)


def check_concerned(share: float) -> float:
    """The share that a user names."""
    if not isinstance(share, Real) or not 0 < share <= LARGEST_CONCERNED:
        raise ParameterError(
            f"concerned must be a share > 0 and at most {LARGEST_CONCERNED:g}, got {share!r}; "
            "where a topic concerns more, no figure was seen to hold, so leave it out."
        )
    return share


BandedLifts = dict[str, dict[str, dict[str, float]]]
"""By measure and band its figures."""


def banded_lifts(measures: Iterable[str], concerned: float | None = None) -> BandedLifts:
    """By measure and band the lift and its interval; the intervals hold all at once.

    With ``concerned``, the share of the community whom a topic concerns, also ``of_100``: of 100
    people in the band about so many are concerned.
    """
    if concerned is not None:
        check_concerned(concerned)
    named = [name for name in dict.fromkeys(measures) if name in LIFTS]
    shown = [*named, *VOLUME] if named else []
    # Bonferroni: no interval of those shown misses, 95 times in 100.
    tail = (1.0 - CONFIDENCE) / (2 * len(BANDS) * max(1, len(shown)))
    width = NormalDist().inv_cdf(1.0 - tail)
    return {
        name: {
            f"top {percent}%": _row(lift, math.exp(width * error), concerned)
            for percent, (lift, error) in zip(BANDS, LIFTS[name], strict=True)
        }
        for name in shown
    }


def _row(lift: float, factor: float, concerned: float | None) -> dict[str, float]:
    row = {"lift": lift, "low": lift / factor, "high": lift * factor}
    if concerned is None:
        return row
    shares = {name: 100 * share_concerned(each, concerned) for name, each in row.items()}
    told = {"lift": "of_100", "low": "of_100_low", "high": "of_100_high"}
    return row | {told[name]: share for name, share in shares.items()}


def lift_rows(measures: Iterable[str], concerned: float | None = None) -> list[dict[str, str]]:
    """A row for each measure that was measured, and for volume, to be shown under `lift_title`."""
    names = (
        ("lift", "low", "high") if concerned is None else ("of_100", "of_100_low", "of_100_high")
    )
    return [
        {"ranked by": VOLUME.get(name, name)}
        | {
            band: "{} ({} to {})".format(*(_rounded(row[each]) for each in names))
            for band, row in bands.items()
        }
        for name, bands in banded_lifts(measures, concerned).items()
    ]


def lift_title(concerned: float | None = None) -> str:
    """What `lift_rows` are: figures, and intervals that hold all at once."""
    if concerned is None:
        return (
            "In a test on bloggers, how many times as often people whom a topic concerned were in "
            "the top 1%, 5% and 10% as others (95% intervals that hold all at once)"
        )
    return (
        f"If a topic concerns {100 * concerned:g} in 100 here and shows as it did in a test on "
        "bloggers, how many it concerns of 100 people in the top 1%, 5% and 10% (95% intervals "
        "that hold all at once)"
    )


def lift_in_words(measure: str) -> list[str]:
    """A sentence on the top 5% by one measure; none where it was not measured."""
    told = [f"by {row['ranked by']} {row['top 5%']}" for row in lift_rows([measure])]
    sentence = (
        "In a test on bloggers, how many times as often people whom a topic concerned were in the "
        f"top 5% as others: {', '.join(told)} (95% intervals that hold all at once)."
    )
    return [sentence] if told else []


def _rounded(value: float) -> str:
    return f"{value:.1f}" if value < 10 else f"{value:.0f}"  # noqa: PLR2004 - two digits
