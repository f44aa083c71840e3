"""Every measure by its name: those of the paper, and those of other packages.

Another package adds a measure by an entry point of the group ``sottovoce.measures`` that names a
``Measure``; its name there is its name here. Scores that subtract or average strengths are put on a
grid, so that rounding does not decide between users who score alike.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.metadata import EntryPoint, entry_points
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sottovoce.assess.measures.risks import (
    BreadthOfOthers,
    breadth_of_interest,
    differential_privacy_risk,
    differential_privacy_risk_of_presence,
    domain_aware_risk,
    domain_columns,
    domain_time_aware_risk,
    entropy_risk,
    entropy_risk_of_presence,
    keyword_kinds,
    strength_risk,
    time_aware_risk,
)
from sottovoce.assess.setting import Setting
from sottovoce.assess.state.words import WordUse
from sottovoce.compiled import kernel
from sottovoce.errors import InputError, ParameterError, did_you_mean

if TYPE_CHECKING:
    from sottovoce.assess.state.state import State


BITS = 40
# Beyond it numbers are no closer to one another than the grid's.
_SPACED = 2.0 ** (52 - BITS)
_FINE, _COARSE = 2.0**BITS, 2.0**-BITS


@kernel
def _place(scores: NDArray[np.float64], placed: NDArray[np.float64]) -> None:
    """One long step instead of eight, as rankings on several threads take turns between steps."""
    for user in range(scores.size):
        # Times a power of two is exact.
        nearest = np.rint(scores[user] * _FINE) * _COARSE
        placed[user] = nearest if abs(scores[user]) < _SPACED else scores[user]


def on_grid(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """The nearest multiples of 2^-40.

    Sums and differences of strengths that are equal on paper differ in their last bits, which
    would part ties in ranks and bands: sqrt(0.2) - sqrt(0.05) and sqrt(0.05) are one number. The
    grid is some thousand times coarser than these errors, so that of some thousand such ties one
    may still be parted, and far finer than any difference that means something. Infinities and
    numbers of 2^12 and more stay as they are.
    """
    placed = np.empty(scores.shape)
    _place(np.ascontiguousarray(scores).reshape(-1), placed.reshape(-1))
    return placed


ENTRY_POINTS = "sottovoce.measures"
Scores = NDArray[np.float64]
Scoring = Callable[["State", str, Setting], Scores]
SeveralScoring = Callable[["State", Sequence[str], Setting], Scores]


@dataclass(frozen=True)
class Measure:
    """How users are scored from the state of a community.

    ``space`` names the vector space whose strengths it needs; None: it needs which user has used
    which word. ``buckets``: it needs the strengths of the ``m`` best time buckets. ``mentions``:
    who has neither used a salient word nor, in its space, a strength above 0 has given no evidence;
    where nobody has, nobody is in a band. Without it everybody counts as having given some.
    ``word_buckets``: it needs which words were used in which time bucket. ``several``: the scores
    for some topics, a row each, where that takes fewer steps than ``score`` for one after the
    other; they must be the same, so that whoever replaces one replaces both.

    >>> Measure(lambda state, topic, setting: state.posts.astype(float)).buckets
    False
    """

    score: Scoring
    space: str | None = None
    buckets: bool = False
    mentions: bool = False
    word_buckets: bool = False
    several: SeveralScoring | None = None

    def scores(self, state: "State", topics: Sequence[str], setting: Setting) -> Scores:
        """Topics x users."""
        rows: Scores | list[Scores] = (
            [self.score(state, topic, setting) for topic in topics]
            if self.several is None
            else self.several(state, topics, setting)
        )
        if [np.shape(row) for row in rows] != [(len(state),)] * len(topics):
            raise ParameterError(
                f"a measure must give one score for each of the {len(state):,} users and each "
                "topic; mend the measure."
            )
        return np.asarray(rows)

    def evident_users(self, state: "State", topics: Sequence[str]) -> list[int]:
        """For each topic how many users have written anything that speaks for it."""
        if self.mentions and self.space is not None:
            columns = [state.column(topic) for topic in topics]
            strongest = state.strongest(self.space).T[columns]
            numbers: list[int] = np.count_nonzero(strongest > 0, axis=1).tolist()
            return numbers
        return [int(np.count_nonzero(self.evident(state, topic))) for topic in topics]

    def evident(self, state: "State", topic: str) -> NDArray[np.bool_]:
        """Which users have written anything that speaks for ``topic``, whatever their score.

        A score may be above 0 without it (ENT), or below 0 with it (breadth).
        """
        if not self.mentions:
            return np.ones(len(state), np.bool_)
        if self.space is None:
            return state.word_use().any_used(state.salient(topic))
        found: NDArray[np.bool_] = state.strongest(self.space)[:, state.column(topic)] > 0
        return found


def _words(risk: Callable[[WordUse, NDArray[np.int64]], Scores]) -> Measure:
    return Measure(partial(_score_words, risk), mentions=True)


def _score_words(
    risk: Callable[[WordUse, NDArray[np.int64]], Scores],
    state: "State",
    topic: str,
    _setting: Setting,
) -> Scores:
    return risk(state.word_use(), state.salient(topic))


def _strength(space: str, state: "State", topics: Sequence[str], _setting: Setting) -> Scores:
    strongest = state.strongest(space)
    return np.array([strength_risk(strongest, state.column(topic)) for topic in topics])


def _domain(space: str, state: "State", topics: Sequence[str], setting: Setting) -> Scores:
    strength = _strength(space, state, topics, setting)
    breadth = (_breadth if setting.mode == "paper" else _breadth_of_others)(
        space, state, topics, setting
    )
    return on_grid(domain_aware_risk(strength, breadth))


def _breadth(space: str, state: "State", topics: Sequence[str], setting: Setting) -> Scores:
    return np.array(
        [
            state.derived(
                ("breadth", space, state.domain_of(topic), setting.k),
                partial(_breadth_in_domain, space, state, topic, setting),
            )
            for topic in topics
        ]
    )


def _breadth_in_domain(space: str, state: "State", topic: str, setting: Setting) -> Scores:
    return breadth_of_interest(_in_domain(space, state, topic), k=setting.k)


def _breadth_of_others(
    space: str, state: "State", topics: Sequence[str], setting: Setting
) -> Scores:
    found = []
    for domain, same in groupby(topics, state.domain_of):
        some = tuple(same)
        breadth = state.derived(
            ("breadth of others", space, domain, setting.k),
            partial(_others_in_domain, space, state, some[0], setting),
        )
        found.append(breadth.without(_strength(space, state, some, setting)))
    return found[0] if len(found) == 1 else np.concatenate(found)


def _others_in_domain(space: str, state: "State", topic: str, setting: Setting) -> BreadthOfOthers:
    return BreadthOfOthers.of(_in_domain(space, state, topic), k=setting.k)


def _in_domain(space: str, state: "State", topic: str) -> Scores:
    inside = domain_columns(state.domains, state.column(topic), with_itself=True)
    return state.strongest(space)[:, inside]


def _time(space: str, state: "State", topics: Sequence[str], setting: Setting) -> Scores:
    best = (state.best(space, topic, setting.m) for topic in topics)
    return on_grid(np.array([time_aware_risk(each) for each in best]))


def _domain_time(space: str, state: "State", topics: Sequence[str], setting: Setting) -> Scores:
    best = (state.best(space, topic, setting.m) for topic in topics)
    breadths = _breadth_of_others(space, state, topics, setting)
    pairs = zip(best, breadths, strict=True)
    return on_grid(np.array([domain_time_aware_risk(*each) for each in pairs]))


def _kinds_by_bucket(state: "State", topic: str, setting: Setting) -> Scores:
    kept = state.word_buckets_kept()
    return on_grid(time_aware_risk(kept.best(state.salient(topic), setting.m, len(state))))


def _in_space(scores: Callable[..., Scores], space: str, *, buckets: bool = False) -> Measure:
    several = partial(scores, space)
    return Measure(partial(_one, several), space, buckets, mentions=True, several=several)


def _one(several: SeveralScoring, state: "State", topic: str, setting: Setting) -> Scores:
    scores: Scores = several(state, (topic,), setting)[0]
    return scores


def _family(space: str) -> dict[str, Measure]:
    """Strength, breadth and persistence in one space."""
    return {
        space: _in_space(_strength, space),
        f"{space}-d": _in_space(_domain, space),
        f"{space}-t": _in_space(_time, space, buckets=True),
        f"{space}-dt": _in_space(_domain_time, space, buckets=True),
    }


MEASURES: Mapping[str, Measure] = {
    "ent": _words(entropy_risk),
    "diff-priv": _words(differential_privacy_risk),
    **_family("bow"),
    **_family("w2v"),
    **_family("lda"),
    **_family("voice"),
    "voice-s": _in_space(_strength, "voice-s"),
    "voice-st": _in_space(_time, "voice-s", buckets=True),
    "keyword-kinds": _words(keyword_kinds),
    "keyword-kinds-t": Measure(_kinds_by_bucket, mentions=True, word_buckets=True),
    "ent-present": _words(entropy_risk_of_presence),
    "diff-priv-present": _words(differential_privacy_risk_of_presence),
}
PAPER_METHODS = tuple(MEASURES)[:14]
RECOMMENDED = ("voice-t", "bow-t", "keyword-kinds")
"""The first that a model allows first; without one none is clearly better than volume."""
GROUPS: Mapping[str, tuple[str, ...]] = {
    "recommended": RECOMMENDED,
    "paper": PAPER_METHODS,
    "all": PAPER_METHODS,
}
"""What several measures are called together; ``all`` is a former name of the paper's."""


def known_measures() -> dict[str, Measure]:
    """Ours and those of other packages; a name of ours stays ours.

    >>> known_measures()["lda-dt"].space
    'lda'
    """
    return {**{name: _loaded(point) for name, point in _others().items()}, **MEASURES}


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
    return _loaded(others[name])


def _others() -> dict[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=ENTRY_POINTS)}


def _loaded(point: EntryPoint) -> Measure:
    try:
        measure = point.load()
    except Exception as error:  # a stranger's module may fail in any way
        raise InputError(
            f"the measure {point.name} cannot be loaded from {point.value} "
            f"({type(error).__name__}); mend the package that names it, or uninstall it."
        ) from error
    if not isinstance(measure, Measure):
        raise InputError(
            f"the measure {point.name}, {point.value}, must be a sottovoce.assess.Measure, "
            f"got a {type(measure).__name__}."
        )
    return measure
