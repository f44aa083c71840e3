"""Which of its documents a peer keeps for evaluation: its own choice, and the same every time.

Whoever proposes a training says what fraction is held out. If it could say which documents, two
trainings whose choices differ by one would open that one: their sums' difference. So

- documents stand in an order that a secret of the peer's own decides, and nobody else knows;
- the order is of the documents alone: the same data are held out in every training, and a choice of
  more documents holds every smaller one;
- the number of documents is a multiple of `BLOCK`, at least one block, and at least one is left:
  two fractions either mean the same documents or differ by `BLOCK` of them or more.

Proof of the last: the choice for n documents and a fraction f is the first ``BLOCK * b`` of the
order, b a whole number; two choices of b and c blocks differ by ``BLOCK * |b - c|`` documents.
"""

import math

import numpy as np
from numpy.typing import NDArray

from sottovoce.errors import DataError, ParameterError
from sottovoce.learn.data_digest import document_numbers, numbered_digests
from sottovoce.learn.documents import Examples
from sottovoce.learn.support import FEWEST_DOCUMENTS

# The proposer's own threshold does not move it: choices by two thresholds could differ by one.
BLOCK = FEWEST_DOCUMENTS


def held_out(examples: Examples, fraction: float, secret: bytes) -> NDArray[np.bool_]:
    """Which rows a peer keeps for evaluation: those of whole documents, in blocks of them."""
    if not fraction:
        return np.zeros(len(examples), bool)
    digests = numbered_digests(examples, secret)
    number = held_out_count(len(digests), fraction)
    chosen = np.zeros(len(digests), bool)
    chosen[sorted(range(len(digests)), key=digests.__getitem__)[:number]] = True
    rows: NDArray[np.bool_] = chosen[document_numbers(examples)]
    return rows


def held_out_count(documents: int, fraction: float) -> int:
    """How many documents are held out: the nearest number of whole blocks, one at least."""
    if documents < 2 * BLOCK:
        raise DataError(
            f"a peer must have at least {2 * BLOCK} documents to hold some out, got {documents}; "
            "give it more, or train with held_out = 0."
        )
    blocks = max(1, math.floor(documents * fraction / BLOCK + 0.5))
    return BLOCK * min(blocks, documents // BLOCK - 1)


def check_estimate(fraction: float, *, training_data: bool) -> None:
    """Refuse to count on what was trained on, unless that is asked for by its name."""
    if not fraction and not training_data:
        raise ParameterError(
            "nothing was held out of this training, and the documents that it was trained on give "
            "no estimate. Train with held_out=0.2, or ask by name for a count on training data: "
            "training_data=True."
        )
