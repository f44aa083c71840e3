"""Which features may be opened, and how many: what enough documents use, and what they hide.

A word that one document uses makes its row of X'X that document. So before any aggregate is
opened, peers add up how many documents use each feature, and rare features are dropped.

With k `fewest_documents` and q `fewest_peers`, a feature j is kept if for one of a few caps c

    sum over peers p of min(c, n_pj)  >=  c (q - 1) + k

where peer p has n_pj documents that use it: for k = 5 and q = 2, ten where a peer counts at most
five, or eight where it counts at most three, or seven where it counts at most two. Then, whichever
q - 1 peers are taken off, with documents that they may have made up, at least k documents of the
others use it. Proof: q - 1 peers count at most c (q - 1), so that at least k of the sum is the
others', who count no more than they have. With q = 2 that is the coordinator and one peer. Who lies
about its count, and not about its documents, passes any feature.

**How many.** An opened G = [X,1,Y]'[X,1,Y] determines the 0/1 rows of X about where it holds as
many bits as they do. Both are worked out from the number of documents m and of those that use each
word, as if words were independent, before anything is opened:

    bits(X) = m (sum over words of H(p)) - log2 m!      rows in no order, H of a coin of chance p
    bits(G) = the sum over pairs of columns of the entropy of the pair's count, given both counts
    rho     = bits(G) / bits(X)

Where the order of the documents takes all bits of the rows, most rows repeat, and rho has no value.
The few that do not repeat can be read then: of 4,000 short messages over 51 rare words, those of
three to five words. So such words are not opened, but where there are so few, d <= log2 m, that
there are no more different rows than documents. These tell no more than r lists like them, and the
least rho of those counts. Of r lists the pairs of words have r^2 W bits, those of a word and a
label r B, the rows r A - L with A = m sum H and L = log2 m!; the quotient is least at
r = L/A (1 + sqrt(1 + A B/(W L))).

A column of other numbers than 0 and 1 counts as a word of as many documents as it is not zero in,
at most half of them, where bits are most. That is the stricter of two: of numbers of b bits rows
hold m d b bits and sums d^2/2 times 2 b, which is d/m; words of half the documents have
d/4m log2(m), more from sixteen documents on.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.special import gammaln

from sottovoce.arrays import Floats
from sottovoce.errors import InputError, LeakError, ParameterError
from sottovoce.learn._examples import Rows, checked_rows

FEWEST_DOCUMENTS = 5
FEWEST_PEERS = 2
Flags: TypeAlias = NDArray[np.bool_]


class FeatureCounts(NamedTuple):
    """What a peer counts by itself, of each feature.

    Attributes:
        uses: documents that use it.
        lacks: documents of which some row lacks it.
        binary: whether it is 0 or 1 in all of the peer's rows.
    """

    uses: Floats
    lacks: Floats
    binary: Flags

    def summand(self, fewest: int, vetoed: Flags | None = None) -> Floats:
        """Documents that use each feature under each cap, those that lack it, and a veto.

        The last is 1 where this peer wants the feature dropped whatever the others have. A
        yes-or-no feature that all but a few documents have shows those few (the totals less its
        row), so that those count too; a feature of other values lacks as many as may be said.
        """
        lacks = np.where(self.binary, self.lacks, fewest)
        last = np.zeros(len(self.uses)) if vetoed is None else vetoed.astype(np.float64)
        capped = [np.minimum(each, c) for each in (self.uses, lacks) for c in caps(fewest)]
        return np.concatenate([*capped, last])


def caps(fewest: int) -> tuple[int, ...]:
    """How many documents a peer counts at most: all that are needed, half, or a third of them."""
    return tuple(sorted({-(-fewest // 3), -(-fewest // 2), fewest}))


def support_size(fewest: int) -> int:
    """How many numbers a peer says of each feature."""
    return 2 * len(caps(fewest)) + 1


def used_entries(rows: Rows) -> sparse.csr_array:
    """1 where a row uses a feature, and nothing elsewhere."""
    matrix = _sparse(rows).copy()
    matrix.data = (matrix.data != 0).astype(np.float64)
    matrix.eliminate_zeros()
    return matrix


def _sparse(rows: Any) -> sparse.csr_array:  # noqa: ANN401 - scipy's stubs know no common type
    return sparse.csr_array(rows)


def with_columns(rows: Rows, columns: ArrayLike) -> sparse.csr_array:
    """The rows with further columns beside their own."""
    return _sparse(sparse.hstack([_sparse(rows), _sparse(columns)]))


def feature_counts(rows: Rows, documents: ArrayLike | None = None) -> FeatureCounts:
    """Count documents: each row is one, or ``documents`` says which each row is of."""
    matrix, used = _sparse(rows), used_entries(rows)
    sizes = np.ones(matrix.shape[0])
    if documents is not None:
        _, at, counts = np.unique(np.asarray(documents), return_inverse=True, return_counts=True)
        groups = sparse.csr_array((sizes, (at, np.arange(len(at)))), shape=(len(counts), len(at)))
        used, sizes = sparse.csr_array(groups @ used), counts.astype(np.float64)
    columns = used.tocoo()
    width = matrix.shape[1]
    whole = np.bincount(columns.col[columns.data == sizes[columns.row]], minlength=width)
    uses = np.bincount(columns.col, minlength=width)
    odd = np.bincount(matrix.indices[~np.isin(matrix.data, (0.0, 1.0))], minlength=width)
    return FeatureCounts(uses.astype(float), (len(sizes) - whole).astype(float), odd == 0)


def local_support(
    rows: Rows,
    *,
    documents: ArrayLike | None = None,
    fewest_documents: int = FEWEST_DOCUMENTS,
    vetoed: Flags | None = None,
) -> Floats:
    """One peer's summand: see `feature_counts` and `FeatureCounts.summand`."""
    return feature_counts(rows, documents).summand(fewest_documents, vetoed)


@dataclass(frozen=True)
class KeptFeatures:
    """Which of the peers' features may be opened, decided from summed supports.

    Attributes:
        kept: one truth value per feature.
    """

    kept: Flags

    @property
    def width(self) -> int:
        """How many columns are left."""
        return int(self.kept.sum())

    def choose(self, names: Sequence[str]) -> tuple[str, ...]:
        """Their names, of those of all features."""
        return tuple(name for name, keep in zip(names, self.kept, strict=True) if keep)

    def apply(self, rows: Rows) -> Floats:
        """The columns that may be opened."""
        matrix = checked_rows(rows)
        if matrix.shape[1] != self.kept.size:
            raise InputError(
                f"peers must agree on the features: {self.kept.size} were counted, "
                f"got {matrix.shape[1]} columns."
            )
        return matrix[:, self.kept]


def all_kept(width: int) -> KeptFeatures:
    """Every feature, for sums that nobody else will see: those of a learner's own rows."""
    return KeptFeatures(np.ones(width, bool))


def kept_from_sums(
    summed: ArrayLike, *, fewest_documents: int = FEWEST_DOCUMENTS, fewest_peers: int = FEWEST_PEERS
) -> KeptFeatures:
    """Decide from the sum of `local_support` over the peers; rare features are dropped."""
    kept = _often_used(summed, fewest_documents, fewest_peers)
    if not kept.any():
        raise LeakError(
            "no feature has enough support: of the documents that use it at least "
            f"{fewest_documents} must be left without those of any {_peers(fewest_peers - 1)}; "
            f"nothing may be opened.{_why(summed, fewest_documents)}"
        )
    return KeptFeatures(kept)


def check_label_support(
    summed: ArrayLike, *, fewest_documents: int = FEWEST_DOCUMENTS, fewest_peers: int = FEWEST_PEERS
) -> None:
    """Refuse to open sums by label where few documents have a label, or lack it: they show those.

    Of a label, the sum of its documents is (sum of x + sum of xy) / 2: of one document that is the
    document itself. A label that no document has, or all have, shows nothing.
    """
    uses, lacks, enough, _ = _count_support(summed, fewest_documents, fewest_peers)
    sound = [(each == 0).all(axis=0) | (each >= enough).any(axis=0) for each in (uses, lacks)]
    if not np.all(sound):
        raise LeakError(
            "a label has too few documents, or too few are of other labels: at least "
            f"{fewest_documents} must be left without those of any {_peers(fewest_peers - 1)}, or "
            "their sum shows single documents; nothing may be opened. Leave the documents of rare "
            "labels out or join labels, or use the hidden mode."
        )


def _peers(number: int) -> str:
    return "peer" if number == 1 else f"{number} peers"


def _why(summed: ArrayLike, fewest_documents: int) -> str:
    """What to do where peers had features dropped that others may have had enough of."""
    dropped = int(np.count_nonzero(_parts(summed, support_size(fewest_documents))[-1]))
    if not dropped:
        return ""
    return (
        f" Peers had {dropped} features dropped, since too few of the "
        "documents that differ from an earlier training use them: train on the documents of before "
        "and hold out as many, or change many more."
    )


def _often_used(summed: ArrayLike, fewest_documents: int, fewest_peers: int) -> Flags:
    uses, lacks, enough, vetoes = _count_support(summed, fewest_documents, fewest_peers)
    often = (uses >= enough).any(axis=0)
    inconspicuous = (lacks == 0).all(axis=0) | (lacks >= enough).any(axis=0)
    decided: Flags = often & inconspicuous & (vetoes == 0)
    return decided


def _count_support(
    summed: ArrayLike, fewest_documents: int, fewest_peers: int
) -> tuple[Floats, Floats, Floats, Floats]:
    """Who uses and who lacks each feature under each cap, how many are enough, and vetoes."""
    if fewest_documents < 1 or fewest_peers < 1:
        raise ParameterError("fewest_documents and fewest_peers must be >= 1.")
    *counts, vetoes = _parts(summed, support_size(fewest_documents))
    each = caps(fewest_documents)
    enough = np.array(each)[:, None] * (fewest_peers - 1) + fewest_documents
    return np.array(counts[: len(each)]), np.array(counts[len(each) :]), enough, vetoes


def _parts(summed: ArrayLike, size: int) -> Floats:
    numbers = np.asarray(summed, np.float64)
    if numbers.ndim != 1 or numbers.size == 0 or numbers.size % size:
        raise InputError(f"summed supports must be {size} numbers per feature.")
    return numbers.reshape(size, -1)


MOST_OPENED_SHARE = 0.5
_EXACT_BELOW = 6.0
"""The variance of a count up to which its entropy is summed; a normal law's is close above it."""
_DEVIATIONS = 12
_HOPELESS = 1.0  # of all bits: there rho only rises
_NONE = 1e-9  # bits


class OpenedBits(NamedTuple):
    """Bits of each prefix of a list of words.

    Attributes:
        pairs: of the sums of two words.
        labels: of those of a word and a label.
        rows: of the rows in their order.
        order: of that order.
        few: of how many words no more rows can differ than there are documents.
    """

    pairs: Floats
    labels: Floats
    rows: Floats
    order: float
    few: int

    @property
    def shares(self) -> Floats:
        """Rho of each prefix; infinite where it has no value."""
        pairs, rows, least = self.pairs + _NONE, self.rows + _NONE, self.order + _NONE
        beside = 1 + rows * self.labels / (pairs * least)
        lists = np.maximum(least / rows * (1 + np.sqrt(beside)), 1.0)
        lists[self.few :] = 1.0
        left = lists * rows - self.order
        share = lists * (lists * pairs + self.labels) / np.maximum(left, _NONE)
        return np.where(left > 0, share, np.inf)


@dataclass(frozen=True)
class OpenedLimit:
    """What a party lets sums hold of documents: its own, whoever proposes the run.

    Attributes:
        share: the most that rho may be.
        collude: how many other peers' documents, of those that have most, hide nothing: they may
            be the reader's.
        named: peers that it has named itself; others' documents, which may be made up, hide
            nothing. None: all peers of the run are.
    """

    share: float = field(default_factory=lambda: MOST_OPENED_SHARE)
    collude: int = 1
    named: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        if not self.share > 0 or self.collude < 1:
            raise ParameterError(
                f"most_opened_share must be > 0 and collude >= 1, got {self.share:g} and "
                f"{self.collude}."
            )

    def documents(self, stated: Mapping[str, int], name: str) -> int:
        """How many documents hide one another, as ``name`` sees it."""
        others = (
            number
            for peer, number in stated.items()
            if peer != name and (self.named is None or peer in self.named)
        )
        return stated.get(name, 0) + sum(sorted(others, reverse=True)[self.collude :])


def opened_bits(documents: float, uses: ArrayLike, labels: ArrayLike = ()) -> OpenedBits:
    """Of each prefix of words that so many of the documents use, with labels' columns beside.

    It ends early where no longer list comes into question.
    """
    m = max(float(documents), 1.0)
    words, beside = _clip_counts(uses, m), _clip_counts(labels, m)
    order = float(gammaln(m + 1) / np.log(2))
    rows = m * np.cumsum(coin_bits(words / m))
    pairs, labels = np.zeros(words.size + 1), np.zeros(words.size + 1)
    end = words.size
    for at, count in enumerate(words):
        bits = pair_bits(m, count, np.append(beside, words[:at]))
        labels[at + 1] = labels[at] + bits[: beside.size].sum()
        pairs[at + 1] = pairs[at] + bits[beside.size :].sum()
        if rows[at] > 2 * order and pairs[at + 1] > _HOPELESS * rows[at]:
            end = at + 1
            break
    return OpenedBits(pairs[1 : end + 1], labels[1 : end + 1], rows[:end], order, int(np.log2(m)))


def most_words(
    documents: float, uses: ArrayLike, labels: ArrayLike, share: float = MOST_OPENED_SHARE
) -> int:
    """How many of the words, the first ones, may be opened: with a rho of at most ``share``.

    A share of 1 or more is no limit.
    """
    if share >= _HOPELESS:
        return np.size(uses)
    allowed = np.flatnonzero(opened_bits(documents, uses, labels).shares <= share)
    return int(allowed[-1]) + 1 if allowed.size else 0


def coin_bits(chance: Floats) -> Floats:
    """The entropy of coins."""
    p = np.clip(chance, 1e-300, 1.0)
    q = np.clip(1 - p, 1e-300, 1.0)
    return -(p * np.log2(p) + q * np.log2(q))


def pair_bits(m: float, one: float, others: ArrayLike) -> Floats:
    """The entropy of how many of m documents use a word and each other, both counts given."""
    a = min(one, m - one)
    b = np.asarray(others, np.float64)
    b = np.minimum(b, m - b)
    variance = a * b * (m - a) * (m - b) / (m * m * max(m - 1, 1))
    found = 0.5 * np.log2(2 * np.pi * np.e * np.maximum(variance, _EXACT_BELOW))
    small = variance < _EXACT_BELOW
    if small.any():
        found[small] = _summed_bits(m, a, b[small])
    return found


def _clip_counts(numbers: ArrayLike, m: float) -> Floats:
    """Numbers of documents; what less than one is expected to use or lack, one does."""
    found = np.clip(np.asarray(numbers, np.float64), 0, m)
    return np.clip(found, np.where(found > 0, 1.0, 0.0), np.where(found < m, m - 1.0, m))


def _summed_bits(m: float, a: float, b: Floats) -> Floats:
    """The same, term by term; neither word is in more than half of the documents."""
    mean = a * b / m
    last = int(min(a, (mean + _DEVIATIONS * np.sqrt(mean + 1)).max()))
    log = gammaln(m - a + 1) + gammaln(m - b + 1) - gammaln(m + 1) - gammaln(m - a - b + 1)
    bits = np.zeros(len(b))
    for k in range(last + 1):
        bits -= np.exp(log) * np.maximum(log, -700) / np.log(2)
        step = (a - k) * np.maximum(b - k, 0) / ((k + 1) * (m - a - b + k + 1))
        log = log + np.log(np.maximum(step, 1e-300))
    return bits
