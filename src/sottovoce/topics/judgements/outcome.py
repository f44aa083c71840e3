"""What the judges decided: sensitivity by votes, domain by plurality."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace

from sottovoce.errors import InputError, ParameterError
from sottovoce.topics.catalogue import Catalogue, Topic
from sottovoce.topics.judgements.questions import CATEGORIES
from sottovoce.topics.judgements.votes import Vote

MAJORITY = 0.5


@dataclass(frozen=True)
class JudgedTopic:
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
) -> list[JudgedTopic]:
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
        _judged(topic, by_topic[topic.name], threshold)
        for topic in catalogue
        if topic.name in by_topic
    ]


def judged_catalogue(catalogue: Catalogue, judged: Iterable[JudgedTopic]) -> Catalogue:
    """The catalogue with sensitivity and domain as judged; dimensions stay as matched."""
    outcome = {each.topic: each for each in judged}
    return replace(
        catalogue, topics=tuple(_applied(topic, outcome.get(topic.name)) for topic in catalogue)
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


def _judged(topic: Topic, votes: list[Vote], threshold: float) -> JudgedTopic:
    said = sum(vote.sensitive for vote in votes)
    chosen = plurality(vote.domain for vote in votes if vote.domain is not None)
    domain, tied = chosen if chosen is not None else (topic.domain, False)
    share = said / len(votes)
    return JudgedTopic(topic.name, len(votes), said, share, share > threshold, domain, tied)


def _applied(topic: Topic, judged: JudgedTopic | None) -> Topic:
    if judged is None:
        return topic
    return replace(topic, sensitive=judged.sensitive, domain=judged.domain)
