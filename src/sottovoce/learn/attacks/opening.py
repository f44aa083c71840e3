"""An opened sum over documents of words that are there or not, as an attacker has it."""

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike

from sottovoce.arrays import Floats, Integers
from sottovoce.learn.ridge import ExampleSums


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
