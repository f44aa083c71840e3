"""Like words together."""

import numpy as np

from sottovoce.release.compression.embedded import EmbeddingCompression
from sottovoce.release.compression.kmeans import balanced_clusters
from sottovoce.release.counts import Floats, Integers


class EmbeddingClusterCompression(EmbeddingCompression):
    """K clusters of equal size by balanced k-means; each cluster is one column.

    Limited-Precision Release, Method GLOVE-CLUSTER.
    """

    def _place(self, points: Floats, columns: int, generator: np.random.Generator) -> Integers:
        return balanced_clusters(points, min(columns, len(points)), generator)
