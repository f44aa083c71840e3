"""Training and classification as the paper prints them: the coordinator holds the key.

Ciphertexts go round the peers and end at the coordinator: the encryption protects the peers from
each other, and nobody from the coordinator. It learns the sums over all peers, theta, and the
score of every row that is classified; a message between two peers that it sees, or one peer that
helps it, shows it the sums of the peers before. Nothing guards rare features.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal, NamedTuple, TypeAlias, assert_never

import numpy as np
from numpy.typing import NDArray

from sottovoce.arrays import Floats
from sottovoce.errors import InputError
from sottovoce.learn.paillier.array import EncryptedArray
from sottovoce.learn.paillier.keys import PrivateKey
from sottovoce.learn.paillier.slots import Program, plan_slots
from sottovoce.learn.paillier.wire import decrypt, encrypt
from sottovoce.learn.rados.learners import rado_solution
from sottovoce.learn.rados.rados import extra_rado
from sottovoce.learn.ridge import LinearModel, Standard, ridge_from_sums, sums_of_labels
from sottovoce.learn.sums.fixed import Ring, uniform
from sottovoce.learn.support import all_kept
from sottovoce.learn.training_terms import LocalData
from sottovoce_lab.learn.paper.shown import Outline

Statistics: TypeAlias = Literal["exact", "rados"]
Offset: TypeAlias = Literal["print", "mean"]
_SUM_BITS, _LARGEST_SUM = 30, 2.0**30
_THETA_BITS, _LARGEST_THETA = 30, 2.0**16
_ROW_BITS, _LARGEST_ROW = 24, 2.0**20  # of a row, and of a rado, which is a sum of rows


class RingSum(NamedTuple):
    """A sum, and what each peer handed on."""

    total: Ring
    handed: list[Ring]


def add_round_ring(summands: Sequence[Ring]) -> RingSum:
    """SM.ADD: a vector goes round a ring under a random offset that the first peer takes off again.

    Clifton et al., Tools for privacy preserving distributed data mining, SIGKDD Explorations 4(2),
    2002, section 3.1. The two neighbours of a peer learn its summand together.
    """
    if len({each.size for each in summands}) != 1:
        raise InputError("peers must sum as many values each.")
    offset = uniform(summands[0].size)
    handed = list(accumulate(summands, initial=offset))[1:]
    return RingSum(handed[-1] - offset, handed)


@dataclass(frozen=True)
class PrintedPart:
    """What a peer holds in the end: theta of its own features, encrypted, and a rado.

    Attributes:
        has: which of the standardised columns are the peer's, the intercept's among them.
        theta: under the coordinator's key, a number for each of these.
        rado: the peer's part of the common extra rado, over these columns, the intercept's zero.
        rado_rows: how many rows the rado is made from.
    """

    has: NDArray[np.bool_]
    theta: EncryptedArray
    rado: Floats
    rado_rows: int


@dataclass(frozen=True)
class PrintedTraining:
    """A training, with all that anybody holds.

    Attributes:
        standard: how rows are standardised, which all know.
        parts: what each peer holds.
        handed: the encrypted statistics that each peer handed on.
        opened: what the coordinator opened of them.
        model: theta, which the coordinator knows.
    """

    standard: Standard
    parts: Mapping[str, PrintedPart]
    handed: tuple[EncryptedArray, ...]
    opened: Floats
    model: LinearModel


def train_as_printed(
    peers: Mapping[str, LocalData],
    key: PrivateKey,
    *,
    penalty: float = 0.1,
    statistics: Statistics = "rados",
    rados: int = 1000,
) -> PrintedTraining:
    """Sums go round under the coordinator's key, who opens them, solves, and encrypts theta.

    Private Text Classification, Protocol 2.
    """
    width = next(iter(peers.values())).has.size
    kept = all_kept(width)
    moments = decrypt(_hand_round([each.moments(kept) for each in peers.values()], key)[-1], key)
    standard = Standard.from_moments(moments, kept)
    handed = _hand_round(
        [_statistics(each, standard, statistics, rados) for each in peers.values()], key
    )
    opened = decrypt(handed[-1], key)
    match statistics:
        case "exact":
            model = ridge_from_sums(sums_of_labels(opened, width, 1)[0], penalty)
        case "rados":
            model = rado_solution(opened, standard, penalty)
        case _:
            assert_never(statistics)
    intercept = model.intercept + float(model.coefficients @ standard.means)
    theta = np.append(model.coefficients * standard.scales, intercept)
    parts = {name: _part(data, theta, standard, key) for name, data in peers.items()}
    return PrintedTraining(standard, parts, tuple(handed), opened, model)


def _statistics(data: LocalData, standard: Standard, statistics: Statistics, rados: int) -> Floats:
    match statistics:
        case "exact":
            return data.sums(standard.kept)
        case "rados":
            return data.rado_moments(standard, rados)
        case _:
            assert_never(statistics)


def _hand_round(vectors: Sequence[Floats], key: PrivateKey) -> list[EncryptedArray]:
    """SM.ADD over encrypted summands: each peer adds its own to what it is handed."""
    program = Program.start(_LARGEST_SUM / len(vectors), _SUM_BITS).add_up(len(vectors))
    plan = plan_slots(program, key_bits=key.public.bits)
    return list(accumulate(encrypt(vector, plan, key.public) for vector in vectors))


def _part(data: LocalData, theta: Floats, standard: Standard, key: PrivateKey) -> PrintedPart:
    has = np.append(data.has, True)
    outline = Outline.of_numbers((int(has.sum()),), _LARGEST_THETA, _THETA_BITS)
    hidden = encrypt(theta[has], outline.plan(key.public.bits), key)
    return PrintedPart(has, hidden, *extra_rado(standard.apply(data.rows)[:, has], data.signs))


class PrintedAnswer(NamedTuple):
    """The signs that the asker is told, and the scores that the coordinator opens."""

    signs: NDArray[np.int64]
    scores: Floats


def classify_as_printed(
    training: PrintedTraining,
    key: PrivateKey,
    rows: Mapping[str, Floats],
    *,
    offset: Offset | None = None,
) -> PrintedAnswer:
    """The first peer of ``rows`` asks; local scores go round, and the coordinator tells the signs.

    Private Text Classification, Protocol 3. With an ``offset`` the other peers, who do not know
    the entities, add the score of their rado (eq. 25): ``print``, which drowns every local score
    since a rado is a sum of rows, or ``mean``, divided by their number.
    """
    asker, *_ = rows
    size, taken, local = len(rows[asker]), np.zeros(training.standard.width, bool), []
    for name, part in training.parts.items():
        if name in rows:
            weights = _standardise_rows(rows[name], part, training.standard)
            weights[:, taken[part.has]] = 0.0  # a feature of two peers counts once
            weights[:, -1] = name == asker  # and so does the intercept
            taken |= part.has
        elif offset is not None:
            scale = 1.0 if offset == "print" else 1.0 / max(part.rado_rows, 1)
            weights = np.tile(part.rado * scale, (size, 1))
        else:
            continue
        local.append(score_locally(part, weights))
    scores = decrypt(list(accumulate(local))[-1], key)
    return PrintedAnswer(np.where(scores > 0, 1, -1), scores)


def score_locally(part: PrintedPart, weights: Floats) -> EncryptedArray:
    """A peer's local scores under the coordinator's key.

    Private Text Classification, Protocol 3 (eq. 22): S.LOCALINNERPROD.
    """
    if weights.size and np.abs(weights).max() > _LARGEST_ROW:
        raise InputError(f"rows and rados must lie within +-{_LARGEST_ROW:g} when standardised.")
    heaviest = int(_LARGEST_ROW * (1 << _ROW_BITS)) * part.theta.shape[0]
    return part.theta.combine(weights, fraction_bits=_ROW_BITS, weight=heaviest)


def _standardise_rows(rows: Floats, part: PrintedPart, standard: Standard) -> Floats:
    whole = np.zeros((len(rows), standard.width - 1))
    whole[:, part.has[:-1]] = rows
    return standard.apply(whole)[:, part.has]
