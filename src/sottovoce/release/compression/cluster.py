"""Like words together."""

import numpy as np

from sottovoce.release.compression.embedded import EmbeddingCompression
from sottovoce.release.compression.kmeans import balanced_clusters
from sottovoce.release.counts import Floats, Integers


class EmbeddingClusterCompression(EmbeddingCompression):
    """K clusters of equal size by balanced k-means; each cluster is one column.

    Limited-Precision Release, Method GLOVE-CLUSTER.

    >>> import numpy as np
    >>> from sottovoce.release import Embedding
    >>> words = ("debt", "loan", "baby", "birth")
    >>> space = Embedding(words, np.array([[1, 0], [1, 0.1], [0, 1], [0.1, 1]], np.float32))
    >>> how = EmbeddingClusterCompression(2, embedding=space, vocabulary=words, random_state=1)
    >>> sorted(how.fit_transform([[1, 2, 3, 4]]).toarray()[0].tolist())
    [3, 7]
    """

    def _place(self, points: Floats, columns: int, generator: np.random.Generator) -> Integers:
        return balanced_clusters(points, min(columns, len(points)), generator)
