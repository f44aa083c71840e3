"""What a rado is, and the signatures behind rados.

These are the owner's own computations: they take observations and signatures together. What the
package offers to others (`RadoMaker`, `SealedSignatures`) never hands both to one party.
"""

import numpy as np
from numpy.typing import NDArray

from sottovoce.errors import ParameterError
from sottovoce.learn.examples import Floats

MOST_EXAMPLES_FOR_ALL = 20


def rademacher_observations(rows: Floats, signs: Floats, signatures: NDArray[np.int8]) -> Floats:
    """Rados, one per signature: half the sum of (sigma_i + y_i) x_i over the m examples.

    Private Text Classification, Definition 2, whose sum is printed to n and runs to m.
    """
    x, y, sigma = rows, signs, signatures
    return 0.5 * (sigma.astype(np.float64) @ x + y @ x)


def all_signatures(examples: int) -> NDArray[np.int8]:
    """Every sigma in {-1, 1}^m, for small m."""
    if not 1 <= examples <= MOST_EXAMPLES_FOR_ALL:
        raise ParameterError(
            f"all signatures are listed for 1 to {MOST_EXAMPLES_FOR_ALL} examples, got {examples}."
        )
    numbers = np.arange(1 << examples)[:, None]
    return (2 * (numbers >> np.arange(examples) & 1) - 1).astype(np.int8)
