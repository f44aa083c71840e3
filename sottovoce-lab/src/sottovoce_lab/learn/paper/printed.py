"""Training and classification as the paper prints them: the coordinator holds the key.

Ciphertexts go round the peers and end at the coordinator: the encryption protects the peers from
each other, and nobody from the coordinator. It learns the sums over all peers, theta, and the
score of every row that is classified; a message between two peers that it sees, or one peer that
helps it, shows it the sums of the peers before. Nothing guards rare features.

A rado is a sum of rows, each by its label, from which a classifier can be learnt without the rows.
Last come block rados, for peers that hold different features of people whom they cannot match: a
block is all rows that are equal in the shared features and the label.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
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
from sottovoce.learn.rados.rados import RadoMoments, block_minimiser, extra_rado, rado_solution
from sottovoce.learn.ridge import LinearModel, Standard, ridge_from_sums, sums_of_labels
from sottovoce.learn.sums.fixed import FixedPoint, Ring, uniform
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
    parts = {name: _make_part(data, theta, standard, key) for name, data in peers.items()}
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


def _make_part(data: LocalData, theta: Floats, standard: Standard, key: PrivateKey) -> PrintedPart:
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
            weights[:, -1] = name == asker  # the intercept counts once too, at the asker
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


SMALLEST_BLOCK = 5  # a block of one row is a record, and a small one nearly so
# The second moment of block rados grows with the square of the blocks' size, and so must these.
BLOCK_PENALTIES = tuple(float(penalty) for penalty in np.logspace(-2, 6, 9))
BlockName: TypeAlias = tuple[tuple[float, ...], int]
_LARGEST_BLOCK_SUM, _PLACES = 2.0**24, 30


@dataclass(frozen=True, repr=False)
class BlockPeer:
    """One peer's rows: features that all peers have, its own, and labels of -1 and 1."""

    shared: Floats
    own: Floats
    signs: Floats

    @cached_property
    def sums(self) -> dict[BlockName, Floats]:
        """The sum of y x of each large block: rows of equal shared features s and label y."""
        keys, block, sizes = np.unique(
            np.column_stack([self.shared, self.signs]),
            axis=0,
            return_inverse=True,
            return_counts=True,
        )
        totals = np.zeros((len(keys), self.own.shape[1]))
        np.add.at(totals, block.reshape(-1), self.signs[:, None] * self.own)
        return {
            (tuple(key[:-1].tolist()), int(key[-1])): total
            for key, total, size in zip(keys, totals, sizes, strict=True)
            if size >= SMALLEST_BLOCK
        }


class BlockClassifier(NamedTuple):
    """Theta of the shared features and then each peer's own, and the penalty it was solved with."""

    theta: Floats
    penalty: float


def block_rados(peers: Sequence[BlockPeer], *, alpha: float = 1.0) -> Floats:
    """Basic block rados: each peer's sums side by side, and alpha y s once for all.

    Private Text Classification, Definition 3 (eq. 5). Peers lift their sums into their own places,
    zero elsewhere, and S.ADD joins them. A block that some peer lacks, or holds too few rows of, is
    left out: its rado would pretend that peer's features to be zero.
    """
    if len({peer.shared.shape[1] for peer in peers}) != 1:
        raise InputError("peers must agree on the shared features; give each the same columns.")
    common = sorted(set.intersection(*(set(peer.sums) for peer in peers)))
    if not common:
        raise InputError("no block is large enough at every peer; share fewer or coarser features.")
    numbers = FixedPoint(_LARGEST_BLOCK_SUM, len(peers), _PLACES)
    lifted = [numbers.encode(lift(peers, at, common)).ravel() for at in range(len(peers))]
    sums = numbers.decode(add_round_ring(lifted).total).reshape(len(common), -1)
    shared = np.array([alpha * sign * np.array(values) for values, sign in common])
    return np.hstack([shared, sums])


def lift(peers: Sequence[BlockPeer], at: int, blocks: Sequence[BlockName]) -> Floats:
    """A peer's summand: its sums in its own places, zero elsewhere.

    Private Text Classification, Definition 3: lift.
    """
    parts = [np.zeros((len(blocks), peer.own.shape[1])) for peer in peers]
    parts[at] = np.array([peers[at].sums[name] for name in blocks])
    return np.hstack(parts)


def train_on_blocks(peers: Sequence[BlockPeer], penalty: float | None = None) -> BlockClassifier:
    """Theta by eq. 14; None chooses the penalty whose theta calls the fewest own rows wrong.

    Private Text Classification, Protocol 2 with Definition 3. Nobody has a whole row, so each peer
    judges a classifier by the part of it that its own features meet.
    """
    rados = block_rados(peers)
    if penalty is not None:
        return BlockClassifier(solve_blocks(rados, penalty), penalty)
    thetas = np.array([solve_blocks(rados, each) for each in BLOCK_PENALTIES])
    errors = sum(count_errors(peers, at, thetas) for at in range(len(peers)))
    best = int(np.argmin(errors))
    return BlockClassifier(thetas[best], BLOCK_PENALTIES[best])


def solve_blocks(rados: Floats, penalty: float) -> Floats:
    """Theta from rados, the columns of B: (B B' + n lambda I)^-1 B 1 (eq. 14)."""
    moments = RadoMoments.from_rados(rados)
    return block_minimiser(moments, np.full(moments.width, penalty))


def count_errors(peers: Sequence[BlockPeer], at: int, thetas: Floats) -> Floats:
    """How many of one peer's rows each candidate calls wrong."""
    shared, widths = peers[at].shared.shape[1], [peer.own.shape[1] for peer in peers]
    start = shared + sum(widths[:at])
    own = thetas[:, np.r_[:shared, start : start + widths[at]]]
    rows = np.hstack([peers[at].shared, peers[at].own])
    called = np.where(rows @ own.T > 0, 1, -1)
    errors: Floats = np.sum(called != peers[at].signs[:, None], axis=0, dtype=np.float64)
    return errors
