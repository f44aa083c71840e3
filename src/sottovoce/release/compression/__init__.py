"""Horizontal compression: words summed into fewer columns before noise, and shared out after.

`_word_map` is the public map from words to columns and keeps maps on disk, `_maps` what every
compression shares. Maps are chosen by `_frequency` or by `_embedding` (with `_kmeans`); `_choice`
knows all by name. `_grouped` uses several maps for one corpus, `_decompress` goes back to words.
"""

from typing import TYPE_CHECKING

from sottovoce._lazy import attach

__all__ = [
    "COMPRESSIONS",
    "CentralPrior",
    "Compression",
    "Embedding",
    "EmbeddingClusterCompression",
    "EmbeddingDisperseCompression",
    "FrequencyCompression",
    "GroupedCompression",
    "LocalPrior",
    "MapCard",
    "NoCompression",
    "Prior",
    "PublicPrior",
    "RandomCompression",
    "WordMap",
    "WordVectors",
    "chosen_compression",
    "expected_counts",
    "load_maps",
    "multinomial_counts",
    "read_embedding",
    "save_maps",
]

if TYPE_CHECKING:
    from sottovoce.release.compression._choice import COMPRESSIONS, chosen_compression
    from sottovoce.release.compression._decompress import expected_counts, multinomial_counts
    from sottovoce.release.compression._embedding import (
        Embedding,
        EmbeddingClusterCompression,
        EmbeddingDisperseCompression,
        WordVectors,
        read_embedding,
    )
    from sottovoce.release.compression._frequency import (
        CentralPrior,
        FrequencyCompression,
        LocalPrior,
        Prior,
        PublicPrior,
    )
    from sottovoce.release.compression._grouped import GroupedCompression
    from sottovoce.release.compression._maps import Compression, NoCompression, RandomCompression
    from sottovoce.release.compression._word_map import MapCard, WordMap, load_maps, save_maps
else:
    __getattr__, __dir__ = attach(
        __name__,
        {
            "COMPRESSIONS": "sottovoce.release.compression._choice",
            "CentralPrior": "sottovoce.release.compression._frequency",
            "Compression": "sottovoce.release.compression._maps",
            "Embedding": "sottovoce.release.compression._embedding",
            "EmbeddingClusterCompression": "sottovoce.release.compression._embedding",
            "EmbeddingDisperseCompression": "sottovoce.release.compression._embedding",
            "FrequencyCompression": "sottovoce.release.compression._frequency",
            "GroupedCompression": "sottovoce.release.compression._grouped",
            "LocalPrior": "sottovoce.release.compression._frequency",
            "MapCard": "sottovoce.release.compression._word_map",
            "NoCompression": "sottovoce.release.compression._maps",
            "Prior": "sottovoce.release.compression._frequency",
            "PublicPrior": "sottovoce.release.compression._frequency",
            "RandomCompression": "sottovoce.release.compression._maps",
            "WordMap": "sottovoce.release.compression._word_map",
            "WordVectors": "sottovoce.release.compression._embedding",
            "chosen_compression": "sottovoce.release.compression._choice",
            "expected_counts": "sottovoce.release.compression._decompress",
            "load_maps": "sottovoce.release.compression._word_map",
            "multinomial_counts": "sottovoce.release.compression._decompress",
            "read_embedding": "sottovoce.release.compression._embedding",
            "save_maps": "sottovoce.release.compression._word_map",
        },
        extra="release",
    )
