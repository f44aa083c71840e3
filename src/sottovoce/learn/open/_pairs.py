"""Pairs of columns that differ in a few documents, found without opening their sums.

G_jj + G_kk - 2 G_jk is in how many documents two columns differ, and where those are one to four,
other entries of G show them. So pairs are looked at before: of a word and a word or label, where
they are not the same, and where they do not add up to 1 (a word against the constant is the
support's). Each peer counts its own documents there. For any `fewest_peers` - 1 peers left out,
every other peer that has `fewest_documents` of them gives a uniformly random number modulo 2^64,
all others 0; and once more, with nobody left out, who has one of them. The sums under masks are
opened. Columns are alike where the last sum is not 0, so that they differ, and another is: then the
less used one is left out. Nothing is added up, so that all pairs of what is left were looked at.

What that shows: whether each sum is 0. For if nobody gives a number, the sum is 0; if somebody
does, it is uniform, whatever the others give. Numbers are drawn each for itself, so that who knows
these bits simulates all sums, drawing a uniform number for each that is not 0. A sum of random
numbers is 0 by chance once in 2^64: the columns then count as alike, which costs a word and shows
nothing. To have one other peer with enough documents of its own is more than there must be.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sottovoce.arrays import Floats
from sottovoce.errors import ParameterError
from sottovoce.learn.open.sums import SumStage
from sottovoce.learn.sums.fixed import Ring, uniform
from sottovoce.learn.support import Flags
from sottovoce.learn.training_terms import TrainingTerms

_MOST_NUMBERS = 1 << 25  # 256 MB at every peer


@dataclass(frozen=True)
class PairTests:
    """What is looked at: pairs of the columns, the labels' last.

    Attributes:
        places: where the pair of each test stands among all of them,
        pairs: and its two columns.
        opposite: the tests of where the pair does not add up to 1, not of where it is not the same.
        uses: how many documents use each column but the labels'.
        left_out: the groups of peers that are left out.
        peers: all.
        fewest: how many documents a pair must differ in, if it does.
    """

    places: NDArray[np.intp]
    pairs: NDArray[np.int64]
    opposite: Flags
    uses: Floats
    left_out: tuple[tuple[str, ...], ...]
    peers: tuple[str, ...]
    fewest: int

    @classmethod
    def from_counts(
        cls,
        terms: TrainingTerms,
        uses: Floats,
        labels: Floats,
        documents: Mapping[str, int],
        grouped: bool = False,
    ) -> "PairTests":
        """All pairs but those that differ in enough documents by the counts of each alone."""
        left, fewest = terms.recipe.fewest_peers - 1, terms.recipe.fewest_documents
        sizes = sorted(documents.values(), reverse=True)
        enough = np.inf if grouped else fewest + sum(sizes[:left])
        counts = np.append(uses, labels)
        pairs = pairs_of(uses.size, labels.size)
        one, other = counts[pairs].T
        sure = (np.abs(one - other) >= enough, sum(sizes) - one - other >= enough)
        looked = [np.flatnonzero(~each) for each in sure]
        opposite = np.repeat([False, True], [each.size for each in looked])
        places, groups = np.concatenate(looked), tuple(combinations(documents, left))
        found = cls(places, pairs[places], opposite, uses, groups, tuple(documents), fewest)
        if found.size > _MOST_NUMBERS:
            raise ParameterError(
                f"to compare {uses.size} columns among {len(documents)} peers takes at most "
                f"{_MOST_NUMBERS} numbers, got {found.size}; train on fewer words."
            )
        return found

    @property
    def size(self) -> int:
        """How many numbers a peer gives; one at least, since no sum is of none."""
        return max(1, len(self.pairs) * (len(self.left_out) + 1))

    def stage(self, terms: TrainingTerms, told: bytes = b"") -> SumStage:
        """The sums, which the coordinator is told; by what it has told, which peers sign."""
        numbers = terms.counts()
        return SumStage(terms, self.size, numbers, self.peers, context=told)

    def summand(
        self, name: str, columns: sparse.csr_array, grouped: NDArray[np.int64] | None
    ) -> Ring:
        """One peer's numbers."""
        differ, unlike = differing_documents(columns, self.uses.size, grouped)
        documents = np.where(self.opposite, unlike[self.places], differ[self.places])
        gives = [(documents >= self.fewest) & (name not in group) for group in self.left_out]
        flags = np.concatenate([*gives, documents > 0])
        numbers = uniform(self.size)
        return numbers * np.resize(flags, self.size) if flags.size else np.zeros(1, np.uint64)

    def keep_most_used(self, total: Ring) -> Flags:
        """The columns that are left: the most used of any that are alike."""
        if not len(self.pairs):
            return np.ones(self.uses.size, bool)
        *without, differ = total.reshape(-1, len(self.pairs)) != 0
        alike = self.pairs[differ & ~np.all(without, axis=0)]
        near: dict[int, set[int]] = {}
        for one, other in alike.tolist():
            near.setdefault(one, set()).add(other)
            near.setdefault(other, set()).add(one)
        width = self.uses.size
        left: set[int] = set()
        for at in np.argsort(-self.uses, kind="stable").tolist():
            others = near.get(at, set())
            if max(others, default=0) < width and not others & left:
                left.add(at)
        return np.isin(np.arange(width), list(left))


def pairs_of(width: int, labels: int) -> NDArray[np.int64]:
    """Each column with each later one and each label."""
    one, other = np.triu_indices(width + labels, 1)
    return np.column_stack([one, other])[one < width]


def differing_documents(
    columns: sparse.csr_array, width: int, grouped: NDArray[np.int64] | None = None
) -> tuple[Floats, Floats]:
    """In how many documents each pair is not the same, and in how many it does not add up to 1."""
    rows = columns.toarray()
    if grouped is None and np.isin(rows, (0.0, 1.0)).all():
        uses, (one, other) = rows.sum(axis=0), pairs_of(width, rows.shape[1] - width).T
        differ = uses[one] + uses[other] - 2 * (rows.T @ rows)[one, other]
        return differ, len(rows) - differ
    at = np.arange(len(rows)) if grouped is None else np.unique(grouped, return_inverse=True)[1]
    groups = sparse.csr_array((np.ones(at.size, bool), (at, np.arange(at.size))))
    found = [
        [
            (groups @ flags).sum(axis=0)
            for flags in (rows[:, j + 1 :] != own, rows[:, j + 1 :] + own != 1)
        ]
        for j, own in ((j, rows[:, [j]]) for j in range(width))
    ]
    differ, unlike = (np.concatenate(each).astype(np.float64) for each in zip(*found, strict=True))
    return differ, unlike
