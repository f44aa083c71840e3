"""The geometric mechanism under plain local privacy: exact, private, and buried in noise."""

from scipy.sparse import csr_array

from sottovoce.release.baselines.length import cut_lengths
from sottovoce.release.exact import Exact
from sottovoce.release.guarantee import LocalPrivacy
from sottovoce.release.mechanism import GeometricMechanism


class LocalGeometricBaseline:
    """Documents cut to L words, each count under noise at the rate epsilon / (2 L)."""

    def __init__(self, epsilon: Exact, length_cap: int) -> None:
        self.guarantee = LocalPrivacy(epsilon, length_cap)
        self._mechanism = GeometricMechanism.giving(self.guarantee)

    def release(self, counts: csr_array, *, threshold: int | None = None) -> csr_array:
        """``counts``, cut and noised."""
        cut = cut_lengths(counts, self.guarantee.length_cap)
        return self._mechanism.sparse(cut, threshold=threshold)
