"""Every measure, for all users at once, against its definition worked out user by user."""

import importlib
import math
from collections.abc import Callable
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import sparse
from support.communities import CATALOGUE, FixedSpace, random_posts

from sottovoce.assess import Scoring, Setting
from sottovoce.assess.measures.catalogue import MEASURES
from sottovoce.assess.measures.word_use import (
    differential_privacy_risk,
    differential_privacy_risk_of_presence,
    entropy_risk,
    entropy_risk_of_presence,
)
from sottovoce.assess.state.words import WordUse

Incidence = NDArray[np.bool_]
SEEDS = st.integers(0, 2**32 - 1)


def incidences(seed: int) -> Incidence:
    """A random community: rare, common, unused and universal words."""
    generator = np.random.default_rng(seed)
    users, words = generator.integers(2, 9), generator.integers(1, 6)
    rates = generator.choice([0.0, 0.2, 0.5, 0.9, 1.0], words)
    return generator.random((users, words)) < rates


def shares(incidence: Incidence, user: int, word: int) -> tuple[float, float]:
    """P_U[x=1] and P_U*[x=1]."""
    others = np.delete(incidence[:, word], user)
    return float(others.mean()), float(incidence[:, word].mean())


def brute_entropy(incidence: Incidence, user: int, *, present: bool = False) -> float:
    total = 0.0
    for word in range(incidence.shape[1]):
        if present and not incidence[user, word]:
            continue
        p, q = shares(incidence, user, word)
        for local, overall in ((p, q), (1 - p, 1 - q)):
            if local > 0:
                total += local * math.log2(local / overall)
    return float(total / incidence.shape[1])


def brute_differential_privacy(incidence: Incidence, user: int, *, present: bool = False) -> float:
    largest = 0.0
    for word in range(incidence.shape[1]):
        if present and not incidence[user, word]:
            continue
        p, q = shares(incidence, user, word)
        if p == 0 < q:
            return math.inf
        if q > 0:
            largest = max(largest, abs(math.log2(p / q)))
    return largest


def check_words(seed: int, name: str) -> None:
    incidence = incidences(seed)
    brute = brute_entropy if name.startswith("ent") else brute_differential_privacy
    use = WordUse.of_incidence(sparse.csr_array(incidence.astype(np.int32)))
    risk = {
        "ent": entropy_risk,
        "ent-present": entropy_risk_of_presence,
        "diff-priv": differential_privacy_risk,
        "diff-priv-present": differential_privacy_risk_of_presence,
    }[name]
    found = risk(use, np.arange(incidence.shape[1]))
    present = name.endswith("present")
    wanted = [brute(incidence, user, present=present) for user in range(len(incidence))]
    np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-14)


def check_space(seed: int, kind: str, setting: Setting) -> None:
    posts = random_posts(seed)
    scoring = Scoring(CATALOGUE, [FixedSpace(seed=seed)], mode=setting.mode)
    state = scoring.state_of(posts.to_batches())
    scorer = scoring.scorers["lda"]
    strengths = scorer.strengths(scoring.counts(scorer, posts["text"].combine_chunks()))
    weeks = [(time.date().toordinal() - 1) // 7 for time in posts["time"].to_pylist()]
    for topic in CATALOGUE.names:
        found = MEASURES[f"lda{kind}"].score(state, topic, setting)
        for user, row in ((name, state.users.row(name)) for name in set(posts["user"].to_pylist())):
            mine = [i for i, name in enumerate(posts["user"].to_pylist()) if name == user]
            wanted = brute_risk(strengths[mine], [weeks[i] for i in mine], topic, kind, setting)
            assert found[row] == pytest.approx(wanted, rel=0, abs=2.0**-41 + 1e-15)


def brute_risk(
    strengths: NDArray[np.float64], weeks: list[int], topic: str, kind: str, setting: Setting
) -> float:
    column = CATALOGUE.names.index(topic)
    score = max(strengths[:, column])
    if "t" in kind:
        of_week: dict[int, float] = {}
        for strength, week in zip(strengths[:, column], weeks, strict=True):
            of_week[week] = max(of_week.get(week, -math.inf), strength)
        score = sum(sorted(of_week.values(), reverse=True)[: setting.m]) / setting.m
    if "d" not in kind:
        return float(score)
    itself = setting.mode == "paper" and kind == "-d"
    domain = [
        max(strengths[:, other])
        for other, each in enumerate(CATALOGUE)
        if each.domain == CATALOGUE.by_name[topic].domain and (itself or other != column)
    ]
    if not domain:
        return float(score)
    place = math.ceil(round(setting.k * len(domain), 9))
    return float(score - sorted(domain, reverse=True)[place - 1])


WORD_MEASURES = ("ent", "diff-priv", "ent-present", "diff-priv-present")
KINDS = ("", "-d", "-t", "-dt")


@pytest.mark.kernel
@pytest.mark.parametrize("name", WORD_MEASURES)
@given(seed=SEEDS)
@settings(max_examples=60, deadline=None)
def test_word_measures_match_their_definition(name: str, seed: int) -> None:
    check_words(seed, name)


@pytest.mark.parametrize(("kind", "mode"), list(product(KINDS, ("corrected", "paper"))))
@given(seed=SEEDS, k=st.sampled_from([0.1, 0.25, 0.3, 0.5, 0.75, 1.0]), m=st.integers(1, 5))
@settings(max_examples=15, deadline=None)
def test_topical_measures_match_their_definitions(
    kind: str, mode: str, seed: int, k: float, m: int
) -> None:
    check_space(seed, kind, Setting(k, m, mode))  # type: ignore[arg-type] # one of both modes


def negated(function: Callable[..., object]) -> Callable[..., object]:
    def wrong(*arguments: object, **options: object) -> object:
        found = function(*arguments, **options)
        if isinstance(found, tuple):
            return tuple(-part for part in found)
        return -found  # type: ignore[operator] # an array

    return wrong


FAULTS = {
    "ent": "word_use.divergences",
    "ent-present": "word_use.divergences",
    "diff-priv": "word_use.probability_changes",
    "diff-priv-present": "word_use.probability_changes",
    "": "interest.strength_risk",
    "-d": "interest.domain_aware_risk",
    "-d, breadth": "interest.find_breadth_of_others",
    "-t": "interest.time_aware_risk",
    "-dt": "interest.domain_time_aware_risk",
    "-dt, breadth": "interest.find_breadth_of_others",
    "-dt, time": "interest.time_aware_risk",
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_sign_error_is_caught(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The checks above fail once any term of a measure has the wrong sign."""
    file, _, name = FAULTS[fault].partition(".")
    module = importlib.import_module(f"sottovoce.assess.measures.{file}")
    kind = fault.partition(",")[0]

    def check() -> None:
        for seed in range(5):
            if kind in WORD_MEASURES:
                check_words(seed, kind)
            else:
                check_space(seed, kind, Setting())

    check()
    monkeypatch.setattr(module, name, negated(getattr(module, name)))
    with pytest.raises(AssertionError):
        check()
