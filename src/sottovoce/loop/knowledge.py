"""The adversary's background knowledge: vector spaces, and a catalogue that fits them."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sottovoce.errors import NothingFitsError, ParameterError
from sottovoce.topics import (
    Catalogue,
    LdaModel,
    LdaParameters,
    SkipGramParameters,
    Space,
    load_model,
    train_lda,
    train_skip_gram,
)
from sottovoce.topics.match import match_model


@dataclass(frozen=True, eq=False)
class Knowledge:
    """Models, and the topics they are asked about."""

    spaces: tuple[Space, ...]
    catalogue: Catalogue
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Training:
    """How large the models are, and how long they are trained.

    >>> Training(topics=50).words()
    'LDA of 50 topics, 150 iterations; skip-gram of 500 dimensions, 10 epochs'
    """

    topics: int = 100
    iterations: int = 150
    burn_in: int = 50
    dimensions: int = 500
    epochs: int = 10

    def words(self) -> str:
        """In words, for notes."""
        return (
            f"LDA of {self.topics} topics, {self.iterations} iterations; skip-gram of "
            f"{self.dimensions} dimensions, {self.epochs} epochs"
        )


def train_knowledge(
    texts: Sequence[str],
    catalogue: Catalogue,
    training: Training,
    seed: int,
    spaces: Sequence[str] = ("w2v", "lda"),
) -> Knowledge:
    """Learn ``spaces`` from background texts; one worker, so that a seed gives one result."""
    models: list[Space] = []
    if "w2v" in spaces:
        vectors = SkipGramParameters(
            dimensions=training.dimensions, epochs=training.epochs, seed=seed, workers=1
        )
        models.append(train_skip_gram(texts, vectors))
    if "lda" in spaces:
        latent = LdaParameters(
            topics=training.topics,
            iterations=training.iterations,
            burn_in=training.burn_in,
            seed=seed,
            workers=1,
        )
        models.append(train_lda(texts, latent))
    return fitted(models, catalogue)


def load_knowledge(models: Sequence[Path], topics: Path) -> Knowledge:
    """A user's own models and catalogue."""
    return fitted([load_model(path) for path in models], Catalogue.load(topics))


def fitted(spaces: Sequence[Space], catalogue: Catalogue) -> Knowledge:
    """Match the catalogue to the latent model, if there is one and nobody has matched it yet.

    Only topics of a sensitive topic's domain are kept: no measure looks at any other.
    """
    if not catalogue.sensitive:
        raise ParameterError("the catalogue must have at least 1 sensitive topic, got none.")
    notes: tuple[str, ...] = ()
    latent = [space for space in spaces if isinstance(space, LdaModel)]
    if latent and catalogue.model != latent[0].fingerprint:
        matching = match_model(catalogue, latent[0])
        if not any(topic.sensitive and topic.dimensions for topic in matching.catalogue):
            raise NothingFitsError("no sensitive topic of the catalogue is in the latent model.")
        catalogue = matching.without_unmatched()
        notes = tuple(
            f"Nothing in the latent model fits the topic {each.topic!r}; it is left out."
            for each in matching.unmatched
        )
    return Knowledge(tuple(spaces), focused(catalogue), notes)


def focused(catalogue: Catalogue) -> Catalogue:
    """The topics that share a domain with a sensitive one."""
    domains = {topic.domain for topic in catalogue.sensitive}
    kept = tuple(topic for topic in catalogue if topic.domain in domains)
    return Catalogue(kept, catalogue.model)
