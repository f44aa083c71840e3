"""Word counts published under limited-precision local privacy."""

from typing import TYPE_CHECKING

from sottovoce._lazy import attach

__all__ = [
    "AuditReport",
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
    "ReleaseCard",
    "compose_overlapping",
    "load_release",
    "release_counts",
]

if TYPE_CHECKING:
    from sottovoce.privacy._guarantee import LimitedPrecision, LocalPrivacy, compose_overlapping
    from sottovoce.privacy.audit._findings import AuditReport
    from sottovoce.privacy.ledger._ledger import Ledger
    from sottovoce.release._card import ReleaseCard
    from sottovoce.release._estimator import PrivateBagOfWords
    from sottovoce.release._release import Release, load_release
    from sottovoce.release._release_counts import release_counts
    from sottovoce.release.compression._embedding import (
        Embedding,
        EmbeddingClusterCompression,
        EmbeddingDisperseCompression,
    )
    from sottovoce.release.compression._frequency import FrequencyCompression
    from sottovoce.release.compression._maps import RandomCompression
else:
    __getattr__, __dir__ = attach(
        __name__,
        {
            "AuditReport": "sottovoce.privacy.audit._findings",
            "ReleaseCard": "sottovoce.release._card",
            "Embedding": "sottovoce.release.compression",
            "EmbeddingClusterCompression": "sottovoce.release.compression._embedding",
            "EmbeddingDisperseCompression": "sottovoce.release.compression._embedding",
            "FrequencyCompression": "sottovoce.release.compression._frequency",
            "Ledger": "sottovoce.privacy.ledger._ledger",
            "LimitedPrecision": "sottovoce.privacy._guarantee",
            "LocalPrivacy": "sottovoce.privacy._guarantee",
            "PrivateBagOfWords": "sottovoce.release._estimator",
            "RandomCompression": "sottovoce.release.compression._maps",
            "Release": "sottovoce.release._release",
            "compose_overlapping": "sottovoce.privacy._guarantee",
            "load_release": "sottovoce.release._release",
            "release_counts": "sottovoce.release._release_counts",
        },
        extra="release",
    )
