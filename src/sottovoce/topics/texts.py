"""Background texts, from wherever they come, as Arrow arrays that can be read again."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import pyarrow as pa

from sottovoce.corpus.reading import Corpus
from sottovoce.corpus.words.scan import text_buffers

Texts: TypeAlias = Corpus | Sequence[str]
"""A corpus that a reader opened, or texts in memory."""


@dataclass(frozen=True)
class CorpusFacts:
    """What a card says about the texts a model was trained on."""

    sha256: str
    texts: int


def text_arrays(texts: Texts) -> Iterator[pa.Array]:
    """The texts, an array at a time; every call starts anew."""
    if isinstance(texts, Corpus):
        for batch in texts:
            yield batch["text"]
    else:
        yield pa.array(texts, pa.large_string())


def corpus_facts(texts: Texts) -> CorpusFacts:
    """The texts' hash, which does not depend on how they were cut into batches, and number."""
    contents, lengths, rows = hashlib.sha256(), hashlib.sha256(), 0
    for array in text_arrays(texts):
        buffers = text_buffers(array)
        offsets = np.asarray(buffers.offsets, np.int64)
        contents.update(buffers.data[offsets[0] : offsets[-1]].tobytes())
        lengths.update(np.diff(offsets).astype("<i8").tobytes())
        rows += buffers.rows
    both = contents.digest() + lengths.digest()
    return CorpusFacts(hashlib.sha256(both).hexdigest(), rows)
