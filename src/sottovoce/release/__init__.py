"""Word counts published under limited-precision local privacy."""

from typing import TYPE_CHECKING

from sottovoce._lazy import attach

__all__ = [
    "AuditReport",
    "Card",
    "Embedding",
    "EmbeddingClusterCompression",
    "EmbeddingDisperseCompression",
    "FrequencyCompression",
    "Ledger",
    "LimitedPrecision",
    "LocalPrivacy",
    "PrivateBagOfWords",
    "RandomCompression",
    "Release",
    "compose_overlapping",
    "load_release",
    "release_counts",
]

if TYPE_CHECKING:
    from sottovoce.release.audit.result import AuditReport
    from sottovoce.release.card import Card
    from sottovoce.release.compression.cluster import EmbeddingClusterCompression
    from sottovoce.release.compression.disperse import EmbeddingDisperseCompression
    from sottovoce.release.compression.embedding import Embedding
    from sottovoce.release.compression.frequency import FrequencyCompression
    from sottovoce.release.compression.shuffled import RandomCompression
    from sottovoce.release.estimator import PrivateBagOfWords
    from sottovoce.release.from_documents import release_counts
    from sottovoce.release.guarantee import LimitedPrecision, LocalPrivacy, compose_overlapping
    from sottovoce.release.ledger.ledger import Ledger
    from sottovoce.release.released import Release, load_release
else:
    __getattr__, __dir__ = attach(
        __name__,
        {
            "AuditReport": "sottovoce.release.audit.result",
            "Card": "sottovoce.release.card",
            "Embedding": "sottovoce.release.compression.embedding",
            "EmbeddingClusterCompression": "sottovoce.release.compression.cluster",
            "EmbeddingDisperseCompression": "sottovoce.release.compression.disperse",
            "FrequencyCompression": "sottovoce.release.compression.frequency",
            "Ledger": "sottovoce.release.ledger.ledger",
            "LimitedPrecision": "sottovoce.release.guarantee",
            "LocalPrivacy": "sottovoce.release.guarantee",
            "PrivateBagOfWords": "sottovoce.release.estimator",
            "RandomCompression": "sottovoce.release.compression.shuffled",
            "Release": "sottovoce.release.released",
            "compose_overlapping": "sottovoce.release.guarantee",
            "load_release": "sottovoce.release.released",
            "release_counts": "sottovoce.release.from_documents",
        },
        extra="release",
    )
