"""An opened sum over documents, and what our attacks read from it.

**All documents at once**, by relaxed reflections between two sets that both hold X.

One set is every matrix with that X'X whose columns add up, label by label, to the opened totals:
its nearest point is a polar factor. The other is 0/1 matrices with those totals: its nearest point
has the largest values of each column as ones. Documents are told apart by nothing but their label,
so that those of one label stand together. No word, label or other text needs to be known.

**Single documents**, one after the other; each that is read is taken off.

Two columns that differ in one document: the difference of their rows of X'X is that document. The
constant, labels and nothing at all are columns too, so that a word of one document is such a pair.
In fewer dimensions than columns: two words of one document name it, and a linear programme finds it
among the combinations of rows. Both work on differences of sums too, where some documents count -1.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import chain, cycle
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linprog
from scipy.special import gammaln
from threadpoolctl import threadpool_limits

from sottovoce.arrays import Floats, Integers
from sottovoce.learn.ridge import ExampleSums
from sottovoce.learn.support import coin_bits, pair_bits


@dataclass(frozen=True, repr=False)
class OpenedSums:
    """Of m documents over d words; never printed.

    Attributes:
        name: what was opened.
        words: the words' names, in the order of the columns.
        sizes: how many documents have each label; none are known with both signs in a difference.
        totals: how many documents of each label use each word, a row a label.
        products: X'X, how many documents use two words; NaN where no pairs were opened.
        members: numbers of the documents that an auditor knows it to be over; no attack sees them.
    """

    name: str
    words: tuple[str, ...]
    sizes: Integers
    totals: Floats
    products: Floats
    members: Integers = field(default_factory=lambda: np.zeros(0, np.int64), kw_only=True)

    @classmethod
    def from_documents(cls, name: str, rows: ArrayLike, labels: ArrayLike) -> "OpenedSums":
        """What the sums over these documents are; labels are numbers from 0."""
        x, y = np.asarray(rows, np.float64), np.asarray(labels, np.int64)
        member, words = np.eye(int(y.max(initial=0)) + 1)[y], tuple(map(str, range(x.shape[1])))
        sizes = member.sum(axis=0).astype(np.int64)
        return cls(name, words, sizes, member.T @ x, x.T @ x, members=np.arange(len(x)))

    @classmethod
    def of_sums(
        cls, name: str, words: tuple[str, ...], sums: list[ExampleSums], members: Integers
    ) -> "OpenedSums":
        """From the sums of each label against the others; of two labels one says all."""
        first = sums[0]
        sizes = [(first.count + each.label_total) / 2 for each in sums]
        totals = [(first.totals + each.cross) / 2 for each in sums]
        if len(sums) == 1:
            sizes.insert(0, first.count - sizes[0])
            totals.insert(0, first.totals - totals[0])
        whole = np.rint(sizes).astype(np.int64)
        return cls(name, words, whole, np.rint(totals), np.rint(first.products), members=members)

    @property
    def documents(self) -> int:
        """The number of documents, m."""
        return int(self.sizes.sum())

    @property
    def is_of_documents(self) -> bool:
        """Whether documents can have these sums: some differences are of documents less others."""
        inside = (self.totals >= 0) & (self.totals <= self.sizes[:, None])
        return bool(self.documents > 0 and inside.all())

    @property
    def has_pairs(self) -> bool:
        """Whether sums of two words were opened."""
        return not np.isnan(self.products).any()

    def __sub__(self, other: "OpenedSums") -> "OpenedSums":
        """Over the common words, the sums over what documents only one of the two is over."""
        words = tuple(word for word in self.words if word in set(other.words))
        own, others = self.of_words(words), other.of_words(words)
        return OpenedSums(
            " less ".join(
                f"({name})" if " less " in name else name for name in (self.name, other.name)
            ),
            words,
            own.sizes - others.sizes,
            own.totals - others.totals,
            own.products - others.products,
            members=np.setxor1d(self.members, other.members),
        )

    def of_words(self, words: tuple[str, ...]) -> "OpenedSums":
        """The sums of some of the words."""
        at = [self.words.index(word) for word in words]
        products = self.products[np.ix_(at, at)]
        return replace(self, words=words, totals=self.totals[:, at], products=products)


def plain_share(opening: OpenedSums) -> float:
    """Rho of these very words, not of longer lists like theirs: see `opened_bits`."""
    m, uses = opening.documents, opening.totals.sum(axis=0)
    pairs = sum(pair_bits(m, one, uses[:at]).sum() for at, one in enumerate(uses))
    rows = m * coin_bits(uses / m).sum() - gammaln(m + 1) / np.log(2)
    return float(pairs / rows) if rows > 0 else float("inf")


Small = NDArray[np.float32]


STEPS = (0.2, 0.1, 0.3)


_LOOK = 25  # steps between two looks at how far X'X is off


_RANK = 1e-9  # of the largest eigenvalue: below there are none


_STALE = 4000  # steps without gain before another start


class JointAttack:
    """The two sets of one opening, and the way between them.

    Attributes:
        rows: the best documents so far,
        off: and by how much their X'X differs, summed up over all pairs.
    """

    def __init__(self, opening: OpenedSums) -> None:
        self.rows, self.off = np.zeros((0, len(opening.words))), np.inf
        sizes = opening.sizes[opening.sizes > 0]
        self._products, totals = opening.products, opening.totals[opening.sizes > 0]
        self._ones, ends = np.rint(totals).astype(np.int64), np.cumsum(sizes)
        self._blocks = [slice(end - size, end) for size, end in zip(sizes, ends, strict=True)]
        means = totals / sizes[:, None]
        self._means: Small = np.repeat(means, sizes, axis=0).T.astype(np.float32)
        inner = opening.products - means.T @ totals
        values, vectors = np.linalg.eigh(inner)
        real = values > _RANK * values[-1]
        self._roots = vectors[:, real] * np.sqrt(values[real])
        # Distances are measured in each column's own spread: rare words say as much as common ones.
        spread = np.maximum(np.diag(inner), 1e-6 * np.diag(inner).max())
        self._turn: Small = (self._roots / spread[:, None]).T.astype(np.float32)
        self._chance = np.random.default_rng(0)

    def run(self, seconds: float) -> Self:
        """Look for the best from several starts, in processor time that is bounded."""
        until, steps = time.process_time() + seconds, cycle(STEPS)
        with threadpool_limits(1):  # threads that wait for each other would eat the time
            while self.off > 0 and time.process_time() <= until:
                self._one_start(next(steps), until)
        return self

    def _one_start(self, step: float, until: float) -> None:
        noise = self._chance.standard_normal(self._means.shape, np.float32)
        least, since, taken = np.inf, 0, 0
        at: Small = self._means + noise / np.float32(2)
        while since < _STALE:
            binary = self._nearest_binary(at)
            if taken % _LOOK == 0:
                off = float(np.abs(binary @ binary.T - self._products).sum() / 2)
                since = 0 if off < least else since
                least = min(least, off)
                if off < self.off:
                    self.rows, self.off = binary.T.astype(np.float64), off
                if off == 0 or time.process_time() > until:
                    return
            at += np.float32(step) * (self._nearest_gram(2 * binary - at) - binary)
            taken, since = taken + 1, since + 1

    def _nearest_gram(self, at: Small) -> Small:
        """The nearest matrix whose X'X and totals are the opened ones."""
        inner = at - self._means
        for block in self._blocks:
            inner[:, block] -= inner[:, block].mean(axis=1, keepdims=True)
        turned = self._turn @ inner
        values, vectors = np.linalg.eigh((turned @ turned.T).astype(np.float64))
        upright = vectors / np.sqrt(np.maximum(values, 1e-12 * values[-1]))
        polar = (self._roots @ upright) @ vectors.T
        nearest: Small = self._means + polar.astype(np.float32) @ turned
        return nearest

    def _nearest_binary(self, at: Small) -> Small:
        """The nearest 0/1 matrix with the opened totals."""
        chosen = np.zeros_like(at)
        for ones, block in zip(self._ones, self._blocks, strict=True):
            ordered = np.sort(at[:, block], axis=1)
            first = np.minimum(ordered.shape[1] - ones, ordered.shape[1] - 1)
            cut = np.where(ones > 0, ordered[np.arange(len(ordered)), first], np.inf)
            chosen[:, block] = at[:, block] >= cut[:, None]
        return chosen


_LEAST_RANK = 1e-8  # of the largest eigenvalue: below there are none


_TOLERANCE = 1e-4


def read_one_by_one(opening: OpenedSums, seconds: float) -> Floats:
    """The documents that give themselves away, in processor time that is bounded."""
    until, width, read = time.process_time() + seconds, len(opening.words), []
    if not opening.has_pairs:
        return np.zeros((0, width))
    labels = np.diag(opening.sizes.astype(np.float64))
    gram = np.block([[opening.products, opening.totals.T], [opening.totals, labels]])
    while time.process_time() < until:
        ways = chain(_told_by_pairs(gram, width), _in_row_space(gram, width, until))
        row, sign = next(ways, (None, 0))
        if row is None:
            break
        gram = gram - sign * np.outer(row, row)
        read.append(row[:width])
    return np.array(read).reshape(-1, width)


def _told_by_pairs(gram: Floats, width: int) -> Iterator[tuple[Floats, int]]:
    """Documents in which alone two columns differ, and whether they count 1 or -1."""
    every = np.zeros((len(gram) + 2, len(gram)))
    every[: len(gram)] = np.eye(len(gram))
    every[-2, width:] = 1  # the constant; the last column is nothing
    rows = every @ gram
    inner = rows @ every.T
    apart = np.diag(inner)[:, None] + np.diag(inner)[None, :] - 2 * inner
    for one, other in np.argwhere(np.triu(np.abs(np.abs(apart) - 1) < _TOLERANCE, 1)):
        row = rows[one] - rows[other]
        row = np.rint(row if row.sum() >= 0 else -row)
        if _is_document(row, width):
            yield row, int(np.sign(apart[one, other]))


def _in_row_space(gram: Floats, width: int, until: float) -> Iterator[tuple[Floats, int]]:
    """Documents that two words name, among the combinations of the rows, if those are few."""
    values, vectors = np.linalg.eigh(gram)
    real = np.abs(values) > _LEAST_RANK * np.abs(values).max(initial=0)
    if not real.any() or real.all():
        return
    basis = vectors[:, real]
    inverse = (basis / values[real]) @ basis.T
    one_label = np.r_[np.zeros(width), np.ones(len(gram) - width)] @ basis
    for pair in np.argwhere(np.triu(np.abs(np.abs(gram[:width, :width]) - 1) < _TOLERANCE)):
        if time.process_time() > until:
            return
        bounds = np.vstack([basis, -basis]), np.r_[np.ones(len(gram)), np.zeros(len(gram))]
        fixed = np.vstack([basis[pair], one_label])
        solved = linprog(
            basis.sum(axis=0), *bounds, fixed, np.ones(len(fixed)), (None, None), method="highs"
        )
        row = np.rint(basis @ solved.x) if solved.success else np.zeros(len(gram))
        sign = row @ inverse @ row  # of a row among independent ones: 1 or -1
        near = solved.success and np.abs(basis @ solved.x - row).max() < _TOLERANCE
        if near and abs(abs(sign) - 1) < _TOLERANCE and _is_document(row, width):
            yield row, int(np.sign(sign))


def _is_document(row: Floats, width: int) -> bool:
    binary = bool(np.isin(row, (0.0, 1.0)).all())
    return binary and bool(row[:width].any()) and int(row[width:].sum()) == 1
