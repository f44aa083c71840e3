"""Like words kept apart."""

import numpy as np

from sottovoce.release.compression.embedded import EmbeddingCompression
from sottovoce.release.compression.kmeans import balanced_clusters
from sottovoce.release.counts import Floats, Integers


class EmbeddingDisperseCompression(EmbeddingCompression):
    """About M/K clusters of at most K words, the words of a cluster sent to different columns.

    Limited-Precision Release, Method GLOVE-DISPERSE.

    >>> import numpy as np
    >>> from sottovoce.release import Embedding
    >>> words = ("debt", "loan", "baby", "birth")
    >>> space = Embedding(words, np.array([[1, 0], [1, 0.1], [0, 1], [0.1, 1]], np.float32))
    >>> how = EmbeddingDisperseCompression(2, embedding=space, vocabulary=words, random_state=1)
    >>> sorted(how.fit_transform([[1, 1, 5, 5]]).toarray()[0].tolist())
    [6, 6]
    """

    def _place(self, points: Floats, columns: int, generator: np.random.Generator) -> Integers:
        clusters = -(-len(points) // columns)
        return dealt(balanced_clusters(points, clusters, generator), columns, generator)


def dealt(cluster: Integers, columns: int, generator: np.random.Generator) -> Integers:
    """Deal the words, cluster after cluster, to columns 0, 1, ..., K-1, 0, 1, ...

    No cluster is larger than K, so that its words land in different columns.
    """
    order = np.lexsort((generator.permutation(cluster.size), cluster))
    column = np.empty(cluster.size, dtype=np.int64)
    column[order] = np.arange(cluster.size) % columns
    return column
