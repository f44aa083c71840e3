"""Horizontal compression: words summed into fewer columns before noise, and shared out after."""

from sottovoce.release.compression.base import Compression
from sottovoce.release.compression.choice import COMPRESSIONS, chosen_compression
from sottovoce.release.compression.cluster import EmbeddingClusterCompression
from sottovoce.release.compression.decompress import expected_counts, multinomial_counts
from sottovoce.release.compression.disperse import EmbeddingDisperseCompression
from sottovoce.release.compression.embedding import Embedding, WordVectors, read_embedding
from sottovoce.release.compression.frequency import FrequencyCompression
from sottovoce.release.compression.grouped import GroupedCompression
from sottovoce.release.compression.mapping import WordMap
from sottovoce.release.compression.none import NoCompression
from sottovoce.release.compression.prior import CentralPrior, LocalPrior, Prior, PublicPrior
from sottovoce.release.compression.shuffled import RandomCompression
from sottovoce.release.compression.storage import MapCard, load_maps, save_maps

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
