"""Every measure by its name, and what its bands are worth.

Another package adds a measure by an entry point of the group ``sottovoce.measures`` that names a
``Measure``; its name there is its name here.

How many of a band a topic concerns depends on how many it concerns at all, so no such number is
said but for a share that the user names. What holds at other shares is how often people concerned
are in the band, and how often others are (`docs/research/assess-blogs.md`).
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import EntryPoint, entry_points
from numbers import Real
from statistics import NormalDist

from sottovoce.assess.measures.interest import (
    measure_breadth,
    measure_persistence,
    measure_strength,
)
from sottovoce.assess.measures.measure import Lifts, Measure
from sottovoce.assess.measures.word_use import (
    DIFF_PRIV,
    DIFF_PRIV_PRESENT,
    ENT,
    ENT_PRESENT,
    KEYWORD_KINDS,
    KEYWORD_KINDS_T,
)
from sottovoce.assess.scores import Scoring
from sottovoce.assess.setting import M_KEPT, Bucket
from sottovoce.errors import InputError, ParameterError
from sottovoce.parsing import did_you_mean
from sottovoce.topics.catalogue import Catalogue
from sottovoce.topics.space import BagOfWords, Mode, Space, spaces_of_models

ENTRY_POINTS = "sottovoce.measures"


def _measures_of_space(space: str) -> dict[str, Measure]:
    return {
        space: measure_strength(space),
        f"{space}-d": measure_breadth(space),
        f"{space}-t": measure_persistence(space),
        f"{space}-dt": measure_persistence(space, less_breadth=True),
    }


MEASURES: Mapping[str, Measure] = {
    "ent": ENT,
    "diff-priv": DIFF_PRIV,
    **_measures_of_space("bow"),
    **_measures_of_space("w2v"),
    **_measures_of_space("lda"),
    **_measures_of_space("voice"),
    "voice-s": measure_strength("voice-s"),
    "voice-st": measure_persistence("voice-s"),
    "keyword-kinds": KEYWORD_KINDS,
    "keyword-kinds-t": KEYWORD_KINDS_T,
    "ent-present": ENT_PRESENT,
    "diff-priv-present": DIFF_PRIV_PRESENT,
}
PAPER_METHODS = tuple(MEASURES)[:14]
RECOMMENDED = ("voice-t", "bow-t", "keyword-kinds")
"""The first that a model allows first; without one none is clearly better than volume."""
GROUPS: Mapping[str, tuple[str, ...]] = {
    "recommended": RECOMMENDED,
    "paper": PAPER_METHODS,
    "all": PAPER_METHODS,
}
"""What several measures are called together."""


def known_measures() -> dict[str, Measure]:
    """Ours and those of other packages; a name of ours stays ours.

    >>> known_measures()["lda-dt"].space
    'lda'
    """
    return {**{name: _load_measure(point) for name, point in _others().items()}, **MEASURES}


def chosen_measures(names: Sequence[str], spaces: Sequence[str]) -> dict[str, Measure]:
    """The measures called ``names``; of a group (``GROUPS``) those that ``spaces`` allow."""
    if not names:
        raise ParameterError("measures must name at least 1, got none.")
    chosen: dict[str, Measure] = {}
    for name in names:
        allowed = [each for each in GROUPS.get(name, ()) if MEASURES[each].space in {None, *spaces}]
        chosen |= {each: named_measure(each) for each in (allowed if name in GROUPS else [name])}
    for name, measure in chosen.items():
        if measure.space is not None and measure.space not in spaces:
            # voice-s is another space of the model voice.
            model = measure.space.partition("-")[0]
            raise ParameterError(
                f"the measure {name} needs a model of the space {model}, got none; train one with "
                f"sottovoce topics train --space {model} and give it with --model to the command "
                "that scores the posts."
            )
    return chosen


def named_measure(name: str) -> Measure:
    """The measure of that name; of other packages' only this one is loaded."""
    if name in MEASURES:
        return MEASURES[name]
    others = _others()
    if name not in others:
        known = list({**others, **MEASURES})
        raise ParameterError(
            f"measure must be some of {', '.join(GROUPS)}; {', '.join(known)}, got {name!r}."
            f"{did_you_mean(name, (*GROUPS, *known))}"
        )
    return _load_measure(others[name])


def _others() -> dict[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=ENTRY_POINTS)}


def _load_measure(point: EntryPoint) -> Measure:
    try:
        measure = point.load()
    except Exception as error:  # a stranger's module may fail in any way
        raise InputError(
            f"the measure {point.name} cannot be loaded from {point.value} "
            f"({type(error).__name__}); fix the package that names it, or uninstall it."
        ) from error
    if not isinstance(measure, Measure):
        raise InputError(
            f"the measure {point.name}, {point.value}, must be a sottovoce.assess.Measure, "
            f"got a {type(measure).__name__}."
        )
    return measure


BANDS = (1, 5, 10)
VOLUME = {"posts": "the number of posts alone", "weeks": "the number of weeks with a post alone"}
"""What needs no topic, and stands beside every measure."""
CONFIDENCE = 0.95
LARGEST_CONCERNED = 0.1
"""Where more are concerned bands hold more of them than the lifts say, by up to a quarter."""
LIFTS: Mapping[str, Lifts] = {
    **{name: measure.lifts for name, measure in MEASURES.items() if measure.lifts},
    "posts": ((7.1, 0.98), (2.7, 0.30), (2.4, 0.24)),
    "weeks": ((5.9, 0.72), (3.8, 0.21), (3.5, 0.14)),
}


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
    named = {"lift": "of_100", "low": "of_100_low", "high": "of_100_high"}
    return row | {named[name]: share for name, share in shares.items()}


def lift_rows(measures: Iterable[str], concerned: float | None = None) -> list[dict[str, str]]:
    """A row for each measure that was measured, and for volume, to be shown under `lift_title`."""
    names = (
        ("lift", "low", "high") if concerned is None else ("of_100", "of_100_low", "of_100_high")
    )
    return [
        {"ranked by": VOLUME.get(name, name)}
        | {
            band: "{} ({} to {})".format(*(_round_shown(row[each]) for each in names))
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


def _round_shown(value: float) -> str:
    return f"{value:.1f}" if value < 10 else f"{value:.0f}"  # noqa: PLR2004 - two digits


def plan_scoring(
    catalogue: Catalogue,
    spaces: Sequence[Space],
    measures: Sequence[str],
    *,
    bucket: Bucket = Bucket(1, "w"),  # noqa: B008 - frozen
    kept: int = M_KEPT,
    mode: Mode = "corrected",
    posts: bool = False,
    clean: bool = False,
) -> tuple[dict[str, Measure], Scoring]:
    """The measures called ``measures``, and how to score posts for them and no more."""
    bow = BagOfWords()
    given: dict[str, Space] = {bow.name: bow, **spaces_of_models(spaces)}
    chosen = chosen_measures(measures, tuple(given))
    needed = {measure.space for measure in chosen.values()}
    return chosen, Scoring(
        catalogue,
        [each for name, each in given.items() if name in needed],
        words=bow.scorer(catalogue) if None in needed else None,
        bucket=bucket,
        kept=kept,
        mode=mode,
        posts=posts,
        clean=clean,
        word_buckets=any(measure.word_buckets for measure in chosen.values()),
    )
