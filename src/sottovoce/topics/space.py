"""What every vector space offers: the adversary's background knowledge, behind one protocol."""

from collections.abc import Sequence
from typing import Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sottovoce.corpus.vocabulary import Vocabulary
from sottovoce.corpus.words.rules import TokenRules
from sottovoce.errors import ParameterError
from sottovoce.topics.catalogue import Catalogue

Mode = Literal["corrected", "paper"]
"""``paper`` computes what the paper prints; ``corrected``, the default, what it must have meant."""


class PostScorer(Protocol):
    """Strength of interest of posts in the topics of one catalogue.

    It holds everything it needs, can be sent to another process, and gives a post the same bits
    whatever other posts stand in the batch, and on however many threads.
    """

    @property
    def topics(self) -> tuple[str, ...]:
        """The names of the columns of ``strengths``: the catalogue's topics, in its order."""
        ...

    @property
    def vocabulary(self) -> Vocabulary:
        """The columns of the counts."""
        ...

    @property
    def rules(self) -> TokenRules:
        """How texts become those counts."""
        ...

    def strengths(
        self, counts: sparse.csr_array, *, threads: int | None = None
    ) -> NDArray[np.float64]:
        """cos(P, X) for each post (a row of ``counts``) and topic: R-Susceptibility, Definition 4.

        A post without a word of the vocabulary scores 0.
        """
        ...

    def contributions(self, counts: sparse.csr_array, topic: str) -> sparse.csr_array:
        """For each word of each post, the strength it adds: with the word less without it."""
        ...


class Space(Protocol):
    """A vector space: ``bow``, ``lda``, ``w2v`` or ``voice``.

    >>> from sottovoce.topics import BagOfWords
    >>> known: Space = BagOfWords()
    >>> known.name
    'bow'
    """

    @property
    def name(self) -> str:
        """What the space is called: ``bow``, ``lda``, ``w2v`` or ``voice``."""
        ...

    @property
    def fingerprint(self) -> str:
        """SHA-256 over what decides a strength: parameters, words and numbers."""
        ...

    def scorer(self, catalogue: Catalogue, *, mode: Mode = "corrected") -> PostScorer:
        """How posts are scored for the topics of ``catalogue``."""
        ...


@runtime_checkable
class HasVariants(Protocol):
    """A model that has further spaces, which need nothing more."""

    def variants(self) -> tuple[Space, ...]:
        """These spaces."""
        ...


def named_spaces(spaces: Sequence[Space]) -> dict[str, Space]:
    """Spaces by name; two of one name are refused, as one would hide the other."""
    named = {space.name: space for space in spaces}
    if len(named) < len(spaces):
        raise ParameterError("give at most one model of each space, got several of one.")
    return named


def spaces_of_models(models: Sequence[Space]) -> dict[str, Space]:
    """Every space that the models have, by name."""
    named = named_spaces(models)
    for model in models:
        if isinstance(model, HasVariants):
            named |= {space.name: space for space in model.variants()}
    return named
