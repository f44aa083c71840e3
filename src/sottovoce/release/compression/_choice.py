"""The compressions by name, each given what it needs."""

from collections.abc import Sequence
from typing import Any

from sottovoce.arrays import Floats
from sottovoce.release.compression.embedding import (
    EmbeddingClusterCompression,
    EmbeddingDisperseCompression,
    WordVectors,
)
from sottovoce.release.compression.frequency import FrequencyCompression
from sottovoce.release.compression.maps import Compression, NoCompression, RandomCompression

COMPRESSIONS: dict[str, type[Compression]] = {
    "none": NoCompression,
    "random": RandomCompression,
    "frequency": FrequencyCompression,
    "embedding-cluster": EmbeddingClusterCompression,
    "embedding-disperse": EmbeddingDisperseCompression,
}


def chosen_compression(
    name: str,
    columns: int,
    frequencies: Floats,
    seed: int | None,
    *,
    embedding: WordVectors | None = None,
    vocabulary: Sequence[str] | None = None,
) -> Compression:
    """The compression ``name`` to so many columns, yet to be fitted.

    All share words' frequencies out again by ``frequencies``; those by embedding need vectors of
    the words of ``vocabulary`` too.
    """
    if name == "none":
        return NoCompression()
    parts: dict[str, Any] = {"prior": frequencies, "random_state": seed}
    if name == "frequency":
        parts["frequencies"] = frequencies
    if name.startswith("embedding"):
        parts |= {"embedding": embedding, "vocabulary": vocabulary}
    return COMPRESSIONS[name](columns, **parts)
