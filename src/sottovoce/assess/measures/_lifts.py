"""How much more often than others people concerned stood in a band, by a test on real timelines.

How many of a band a topic concerns depends on how many it concerns at all, so no such number is
said but for a share that the user names. What holds at other shares is how often people concerned
are in the band, and how often others are (`docs/research/assess-blogs.md`).
"""

import math
from collections.abc import Iterable, Mapping
from statistics import NormalDist

from sottovoce.errors import ParameterError

BANDS = (1, 5, 10)
VOLUME = {"posts": "the number of posts alone", "weeks": "the number of weeks with a post alone"}
"""What needs no topic, and stands beside every measure."""
CONFIDENCE = 0.95
LARGEST_CONCERNED = 0.1
"""Where more are concerned bands hold more of them than the lifts say, by up to a third."""
LIFTS: Mapping[str, tuple[tuple[float, float], ...]] = {
    "voice-t": ((7.7, 0.44), (6.1, 0.18), (4, 0.13)),
    "voice-st": ((5.7, 0.47), (5.7, 0.18), (4.7, 0.12)),
    "voice": ((3.7, 0.55), (3.3, 0.21), (3.6, 0.14)),
    "voice-s": ((2.9, 0.63), (3.5, 0.21), (3.4, 0.14)),
    "voice-d": ((3.7, 0.60), (2.1, 0.27), (2.3, 0.18)),
    "voice-dt": ((2.9, 0.55), (3, 0.23), (2.5, 0.17)),
    "bow-t": ((7.4, 0.48), (5.2, 0.21), (4.4, 0.15)),
    "bow": ((2.8, 0.63), (2.9, 0.33), (3.2, 0.15)),
    "bow-d": ((2.2, 0.77), (1, 0.46), (1.4, 0.22)),
    "bow-dt": ((3.4, 0.60), (1.9, 0.35), (2.3, 0.21)),
    "keyword-kinds": ((7.7, 0.50), (4.8, 0.23), (4.1, 0.17)),
    "keyword-kinds-t": ((6.4, 0.56), (4.2, 0.23), (4.2, 0.16)),
    "ent": ((2.9, 0.58), (2.4, 0.26), (3, 0.15)),
    "diff-priv": ((1.5, 0.76), (1.5, 0.44), (2.5, 0.17)),
    "posts": ((1.7, 0.82), (2.5, 0.44), (2.6, 0.26)),
    "weeks": ((5.1, 0.71), (5.8, 0.20), (4.1, 0.13)),
}
"""By band the lift, and the standard error of its logarithm over draws of people.

``study assess-blogs --half development``: 837 bloggers, five topics, all posts of each.
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
    if not 0 < share <= LARGEST_CONCERNED:
        raise ParameterError(
            f"concerned must be a share > 0 and at most {LARGEST_CONCERNED:g}, got {share:g}; "
            "where a topic concerns more, no figure was seen to hold, so leave it out."
        )
    return share


def banded_lifts(
    measures: Iterable[str], concerned: float | None = None
) -> dict[str, dict[str, dict[str, float]]]:
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


def lifts_in_words(measures: Iterable[str], concerned: float | None = None) -> list[str]:
    """What the bands of these measures are worth, as far as it was measured."""
    rows = banded_lifts(measures, concerned)
    if not rows:
        return []
    part = "" if concerned is None else "of_100"
    told = "; ".join(
        f"{VOLUME.get(name, name)} {', '.join(_in_words(row, part) for row in bands.values())}"
        for name, bands in rows.items()
    )
    says = (
        "In a test on bloggers, people whom a topic concerned were in the top 1%, 5% and 10% about "
        "so many times as often as anyone else there"
        if concerned is None
        else f"If a topic concerns {100 * concerned:g} in 100 here, and shows as it did among "
        "bloggers in a test, then of 100 people in the top 1%, 5% and 10% it concerns about"
    )
    return [f"{says}: {told}. These 95% intervals hold all at once."]


def _in_words(row: Mapping[str, float], part: str) -> str:
    value, low, high = (
        (row["lift"], row["low"], row["high"])
        if not part
        else (row[part], row[f"{part}_low"], row[f"{part}_high"])
    )
    return f"{_rounded(value)} ({_rounded(low)} to {_rounded(high)})"


def _rounded(value: float) -> str:
    return f"{value:.1f}" if value < 10 else f"{value:.0f}"  # noqa: PLR2004 - two digits
