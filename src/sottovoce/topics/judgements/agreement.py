"""How far the judges of a study agree, and what they decided.

Agreement beyond chance is kappa, beside how many items had how many votes. Sensitivity is decided
by votes, the domain by plurality.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from sottovoce.errors import InputError, ParameterError
from sottovoce.topics.catalogue import Catalogue, Topic
from sottovoce.topics.judgements.votes import CATEGORIES, Vote, vote_counts

Counts: TypeAlias = NDArray[np.int64]

_LEAST_VOTES = 2
_RESAMPLES = 1000
MAJORITY = 0.5


def fleiss_kappa(votes: Counts) -> float | None:
    """Fleiss' kappa of ``votes``, items x categories; None when chance alone would agree fully.

    (P - E) / (1 - E): P is the share of agreeing pairs of judges within an item, E the same if
    every vote were drawn from the categories' overall shares. R-Susceptibility, sections 4.1 and
    5.1.3. Items may have unequal numbers of votes: each item weighs alike in P and in the
    categories' shares, which gives Fleiss' own formula when the numbers are equal. An item with
    fewer than two votes has no pair and counts in the shares only.
    """
    _check(votes)
    judges = votes.sum(axis=1)
    voted, paired = judges >= 1, judges >= _LEAST_VOTES
    if not paired.any():
        raise ParameterError("kappa needs an item with at least 2 votes, got none.")
    shares = (votes[voted] / judges[voted, None]).mean(axis=0)
    pairs = (votes * (votes - 1)).sum(axis=1)[paired] / (judges * (judges - 1))[paired]
    by_chance = float((shares**2).sum())
    if np.count_nonzero(shares) == 1:
        return None
    return (float(pairs.mean()) - by_chance) / (1.0 - by_chance)


@dataclass(frozen=True)
class KappaInterval:
    """Kappa, and where 95% of resampled studies put it; None where it is undefined."""

    kappa: float | None
    low: float | None
    high: float | None


def kappa_interval(votes: Counts, *, seed: int = 0, resamples: int = _RESAMPLES) -> KappaInterval:
    """Kappa with a percentile bootstrap over items.

    It answers for the choice of items, not for the choice of judges.
    """
    rng = np.random.default_rng(seed)
    kappas = [
        _kappa_or_none(votes[rng.integers(0, len(votes), len(votes))]) for _ in range(resamples)
    ]
    known = [kappa for kappa in kappas if kappa is not None]
    if not known:
        return KappaInterval(fleiss_kappa(votes), None, None)
    low, high = np.quantile(known, [0.025, 0.975])
    return KappaInterval(fleiss_kappa(votes), float(low), float(high))


def _kappa_or_none(votes: Counts) -> float | None:
    return fleiss_kappa(votes) if (votes.sum(axis=1) >= _LEAST_VOTES).any() else None


def _check(votes: Counts) -> None:
    if votes.ndim != 2 or votes.shape[1] < 2:  # noqa: PLR2004 - items x at least two categories
        raise ParameterError("votes must be a matrix of items x 2 categories or more.")
    if not np.issubdtype(votes.dtype, np.integer) or (votes < 0).any():
        raise ParameterError("votes must be whole numbers >= 0.")


@dataclass(frozen=True)
class AgreementRow:
    """``items`` items were called sensitive by ``agreeing`` of their ``judges`` judges."""

    agreeing: int
    judges: int
    items: int

    def row(self) -> dict[str, object]:
        """For a table or JSON."""
        return asdict(self)


@dataclass(frozen=True)
class Agreement:
    """Of one set of votes."""

    items: int
    judges: int
    votes: int
    equal_judges: bool
    """Whether every item has the same number of votes, as Fleiss' own formula wants."""
    kappa: KappaInterval
    table: tuple[AgreementRow, ...]


def agreement(votes: Sequence[Vote], *, seed: int = 0) -> Agreement:
    """Kappa with its interval, and R-Susceptibility, Table 1."""
    items, counts = vote_counts(votes)
    judges = counts.sum(axis=1)
    return Agreement(
        items=len(items),
        judges=len({vote.judge for vote in votes}),
        votes=len(votes),
        equal_judges=len(set(judges.tolist())) == 1,
        kappa=kappa_interval(counts, seed=seed),
        table=agreement_table(votes),
    )


def agreement_table(votes: Sequence[Vote]) -> tuple[AgreementRow, ...]:
    """Number of items by number of judges who called them sensitive, most judges first.

    R-Susceptibility, Table 1. Items with unequal numbers of judges have rows of their own.
    """
    _, counts = vote_counts(votes)
    found = Counter(zip(counts[:, 0].tolist(), counts.sum(axis=1).tolist(), strict=True))
    sizes = sorted({judges for _, judges in found}, reverse=True)
    return tuple(
        AgreementRow(agreeing, judges, found[agreeing, judges])
        for judges in sizes
        for agreeing in range(judges, -1, -1)
    )


@dataclass(frozen=True)
class TopicVerdict:
    """The votes on one topic and what follows from them."""

    topic: str
    judges: int
    said_sensitive: int
    share: float
    sensitive: bool
    domain: str
    domain_tied: bool

    def row(self) -> dict[str, object]:
        """For a table or JSON."""
        return asdict(self)


def judged_topics(
    catalogue: Catalogue,
    votes: Iterable[Vote],
    *,
    threshold: float = MAJORITY,
    allow_missing: bool = False,
) -> list[TopicVerdict]:
    """The outcome for every topic that has votes: R-Susceptibility, section 4.1.

    A topic is sensitive when more than ``threshold`` of its judges said so. Topics without a vote
    are refused, unless allowed to be left as they are.
    """
    if not 0.0 <= threshold < 1.0:
        raise ParameterError(f"threshold must be >= 0 and < 1, got {threshold}.")
    by_topic: dict[str, list[Vote]] = {}
    for vote in votes:
        by_topic.setdefault(vote.item, []).append(vote)
    missing = [topic.name for topic in catalogue if topic.name not in by_topic]
    if missing and not allow_missing:
        raise InputError(
            f"{len(missing)} of {len(catalogue)} topics have no vote, the first {missing[0]!r}; "
            "--allow-missing (in Python allow_missing=True) leaves them as they are."
        )
    return [
        _judge_topic(topic, by_topic[topic.name], threshold)
        for topic in catalogue
        if topic.name in by_topic
    ]


def judged_catalogue(catalogue: Catalogue, judged: Iterable[TopicVerdict]) -> Catalogue:
    """The catalogue with sensitivity and domain as judged; dimensions stay as matched."""
    outcome = {each.topic: each for each in judged}
    return replace(
        catalogue,
        topics=tuple(_apply_judgement(topic, outcome.get(topic.name)) for topic in catalogue),
    )


def plurality(domains: Iterable[str]) -> tuple[str, bool] | None:
    """The category with the most votes, and whether others had as many; None without votes.

    Of tied categories the first of ``CATEGORIES`` wins, so that *other* loses every tie.
    """
    counts = Counter(domains)
    if not counts:
        return None
    most = max(counts.values())
    tied = [category for category in CATEGORIES if counts[category] == most]
    return tied[0], len(tied) > 1


def _judge_topic(topic: Topic, votes: list[Vote], threshold: float) -> TopicVerdict:
    said = sum(vote.sensitive for vote in votes)
    chosen = plurality(vote.domain for vote in votes if vote.domain is not None)
    domain, tied = chosen if chosen is not None else (topic.domain, False)
    share = said / len(votes)
    return TopicVerdict(topic.name, len(votes), said, share, share > threshold, domain, tied)


def _apply_judgement(topic: Topic, judged: TopicVerdict | None) -> Topic:
    if judged is None:
        return topic
    return replace(topic, sensitive=judged.sensitive, domain=judged.domain)
