"""Word vectors from public files: GloVe and word2vec text, word2vec binary."""

from sottovoce.release.compression.embedding.read import read_embedding
from sottovoce.release.compression.embedding.space import Embedding, WordVectors

__all__ = ["Embedding", "WordVectors", "read_embedding"]
