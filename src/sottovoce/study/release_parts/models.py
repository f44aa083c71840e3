"""Topic models as every release study trains them."""

from typing import Protocol

from sottovoce.release.counts import Counts, Floats
from sottovoce.release.evaluation import fit_topics


class TopicSettings(Protocol):
    """What the studies' settings have in common."""

    @property
    def topics(self) -> int:
        """How many topics."""

    @property
    def seeds(self) -> int:
        """How many repetitions."""

    @property
    def iterations(self) -> int:
        """Rounds of the sampler."""

    @property
    def most_tokens(self) -> int:
        """Longer corpora are thinned to this."""


def study_topics(settings: TopicSettings, counts: Counts, seed: int) -> Floats:
    """The topics of ``counts`` at the study's sizes."""
    return fit_topics(
        counts,
        settings.topics,
        seed + 1,
        iterations=settings.iterations,
        most_tokens=settings.most_tokens,
    )


def other_seed(settings: TopicSettings, seed: int) -> int:
    """A seed that no reference model has: with one in common, little noise would look like none."""
    return seed + settings.seeds
