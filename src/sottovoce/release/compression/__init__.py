"""Horizontal compression: words summed into fewer columns before noise, and shared out after."""

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
from sottovoce.release.compression._mapping import WordMap
from sottovoce.release.compression._maps import Compression, NoCompression, RandomCompression
from sottovoce.release.compression._storage import MapCard, load_maps, save_maps

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
