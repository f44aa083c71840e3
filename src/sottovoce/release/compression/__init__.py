"""Horizontal compression: words summed into fewer columns before noise, and shared out after.

`_word_map` is the public map from words to columns and keeps maps on disk, `_maps` what every
compression shares. Maps are chosen by `_frequency` or by `_embedding` (with `_kmeans`); `_choice`
knows all by name. `_grouped` uses several maps for one corpus, `_decompress` goes back to words.
"""

from typing import TYPE_CHECKING

from sottovoce.lazy import attach

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
    from sottovoce.release.compression.decompress import expected_counts, multinomial_counts
    from sottovoce.release.compression.embedding import (
        Embedding,
        EmbeddingClusterCompression,
        EmbeddingDisperseCompression,
        WordVectors,
        read_embedding,
    )
    from sottovoce.release.compression.frequency import (
        CentralPrior,
        FrequencyCompression,
        LocalPrior,
        Prior,
        PublicPrior,
    )
    from sottovoce.release.compression.grouped import GroupedCompression
    from sottovoce.release.compression.maps import Compression, NoCompression, RandomCompression
    from sottovoce.release.compression.word_map import MapCard, WordMap, load_maps, save_maps
else:
    __getattr__, __dir__ = attach(
        __name__,
        {
            "COMPRESSIONS": "sottovoce.release.compression._choice",
            "CentralPrior": "sottovoce.release.compression.frequency",
            "Compression": "sottovoce.release.compression.maps",
            "Embedding": "sottovoce.release.compression.embedding",
            "EmbeddingClusterCompression": "sottovoce.release.compression.embedding",
            "EmbeddingDisperseCompression": "sottovoce.release.compression.embedding",
            "FrequencyCompression": "sottovoce.release.compression.frequency",
            "GroupedCompression": "sottovoce.release.compression.grouped",
            "LocalPrior": "sottovoce.release.compression.frequency",
            "MapCard": "sottovoce.release.compression.word_map",
            "NoCompression": "sottovoce.release.compression.maps",
            "Prior": "sottovoce.release.compression.frequency",
            "PublicPrior": "sottovoce.release.compression.frequency",
            "RandomCompression": "sottovoce.release.compression.maps",
            "WordMap": "sottovoce.release.compression.word_map",
            "WordVectors": "sottovoce.release.compression.embedding",
            "chosen_compression": "sottovoce.release.compression._choice",
            "expected_counts": "sottovoce.release.compression.decompress",
            "load_maps": "sottovoce.release.compression.word_map",
            "multinomial_counts": "sottovoce.release.compression.decompress",
            "read_embedding": "sottovoce.release.compression.embedding",
            "save_maps": "sottovoce.release.compression.word_map",
        },
        extra="release",
    )
