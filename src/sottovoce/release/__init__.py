"""Word counts published under limited-precision local privacy.

Begin with `make`, which is the whole way: a `request` is counted by its `inputs`, worked out by a
`plan` and quoted (`quote`); a `job` spends, draws once and writes a `folder` with its `card`,
charged to the ledger that `privacy.ledger` finds. `compression` maps words to fewer columns,
`analysis` reads sums of a release, `classify` and `topics` learn from one, `audit` checks what was
published, and `trial` releases made-up documents the way that every release goes.
"""

from typing import TYPE_CHECKING

from sottovoce.lazy import attach

__all__ = [
    "Embedding",
    "EmbeddingClusterCompression",
    "EmbeddingDisperseCompression",
    "FrequencyCompression",
    "Ledger",
    "LimitedPrecision",
    "PrivateBagOfWords",
    "PrivateNaiveBayes",
    "PrivateTopics",
    "RandomCompression",
    "Release",
    "ReleaseCard",
    "ReleaseQuote",
    "load_release",
    "release_counts",
]

if TYPE_CHECKING:
    from sottovoce.privacy.guarantee import LimitedPrecision
    from sottovoce.privacy.ledger.ledger import Ledger
    from sottovoce.release.card import ReleaseCard
    from sottovoce.release.classify.bayes import PrivateNaiveBayes
    from sottovoce.release.compression.embedding import (
        Embedding,
        EmbeddingClusterCompression,
        EmbeddingDisperseCompression,
    )
    from sottovoce.release.compression.frequency import FrequencyCompression
    from sottovoce.release.compression.maps import RandomCompression
    from sottovoce.release.estimator import PrivateBagOfWords
    from sottovoce.release.make import release_counts
    from sottovoce.release.quote import ReleaseQuote
    from sottovoce.release.release import Release, load_release
    from sottovoce.release.topics.estimator import PrivateTopics
else:
    __getattr__, __dir__ = attach(
        __name__,
        {
            "Embedding": "sottovoce.release.compression.embedding",
            "EmbeddingClusterCompression": "sottovoce.release.compression.embedding",
            "EmbeddingDisperseCompression": "sottovoce.release.compression.embedding",
            "FrequencyCompression": "sottovoce.release.compression.frequency",
            "Ledger": "sottovoce.privacy.ledger.ledger",
            "LimitedPrecision": "sottovoce.privacy.guarantee",
            "PrivateBagOfWords": "sottovoce.release.estimator",
            "PrivateNaiveBayes": "sottovoce.release.classify.bayes",
            "PrivateTopics": "sottovoce.release.topics.estimator",
            "RandomCompression": "sottovoce.release.compression.maps",
            "Release": "sottovoce.release.release",
            "ReleaseCard": "sottovoce.release.card",
            "ReleaseQuote": "sottovoce.release.quote",
            "load_release": "sottovoce.release.release",
            "release_counts": "sottovoce.release.make",
        },
        extra="release",
    )
