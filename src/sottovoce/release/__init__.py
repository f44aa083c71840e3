"""Word counts published under limited-precision local privacy.

Begin with `_release_counts`, which is the whole way: the documents are counted (`_inputs`), the
release is worked out (`_settings`, `_plan`), and a `_job` spends, draws once and writes a `_folder`
with its `_card`, charged to the ledger that `privacy.ledger` finds. `compression` maps words to
fewer columns, `analysis` reads sums of a release, `classify` and `topics` learn from one,
`evaluation` measures usefulness, `_audit` checks what was published, `_held` does so given the
texts, and by `_trial` releases
of made-up documents the way that every release goes.
"""

from typing import TYPE_CHECKING

from sottovoce._lazy import attach

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
    from sottovoce.privacy._guarantee import LimitedPrecision
    from sottovoce.privacy.ledger._ledger import Ledger
    from sottovoce.release._card import ReleaseCard
    from sottovoce.release._estimator import PrivateBagOfWords
    from sottovoce.release._job import ReleaseQuote
    from sottovoce.release._release import Release, load_release
    from sottovoce.release._release_counts import release_counts
    from sottovoce.release.classify._bayes import PrivateNaiveBayes
    from sottovoce.release.compression._embedding import (
        Embedding,
        EmbeddingClusterCompression,
        EmbeddingDisperseCompression,
    )
    from sottovoce.release.compression._frequency import FrequencyCompression
    from sottovoce.release.compression._maps import RandomCompression
    from sottovoce.release.topics._estimator import PrivateTopics
else:
    __getattr__, __dir__ = attach(
        __name__,
        {
            "Embedding": "sottovoce.release.compression._embedding",
            "EmbeddingClusterCompression": "sottovoce.release.compression._embedding",
            "EmbeddingDisperseCompression": "sottovoce.release.compression._embedding",
            "FrequencyCompression": "sottovoce.release.compression._frequency",
            "Ledger": "sottovoce.privacy.ledger._ledger",
            "LimitedPrecision": "sottovoce.privacy._guarantee",
            "PrivateBagOfWords": "sottovoce.release._estimator",
            "PrivateNaiveBayes": "sottovoce.release.classify._bayes",
            "PrivateTopics": "sottovoce.release.topics._estimator",
            "RandomCompression": "sottovoce.release.compression._maps",
            "Release": "sottovoce.release._release",
            "ReleaseCard": "sottovoce.release._card",
            "ReleaseQuote": "sottovoce.release._job",
            "load_release": "sottovoce.release._release",
            "release_counts": "sottovoce.release._release_counts",
        },
        extra="release",
    )
