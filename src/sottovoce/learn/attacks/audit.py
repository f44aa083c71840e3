"""How many documents our attacks read, word for word, from what a training opens.

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
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations, cycle
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.special import gammaln
from threadpoolctl import threadpool_limits

from sottovoce.arrays import Floats, Integers
from sottovoce.errors import InputError, ParameterError
from sottovoce.learn.attacks.opening import OpenedSums
from sottovoce.learn.support import Flags, coin_bits, pair_bits

LENGTHS = {"6 or more": (6, 1 << 30), "3 to 5": (3, 5), "1 or 2": (1, 2)}
_GUESSES = 100


@dataclass(frozen=True)
class DocumentsRead:
    """What was read from one opening; numbers only.

    Attributes:
        opening: its name.
        documents: how many it is over, less those known to the attacker.
        words: how many columns were opened.
        rho: the bits of their pair counts over those of the documents, of these words alone.
        off: by how much X'X of the best documents found at once differs; 0 where it is right.
        read: by the number of kept words, how many documents were read word for word, how many
            there are, the most that one of a hundred guesses from the word counts got right, and
            how many of those read no other document equals.
        seconds: of processor time.
    """

    opening: str
    documents: int
    words: int
    rho: float
    off: float
    read: Mapping[str, tuple[int, int, int, int]]
    seconds: float


def audit_openings(
    trainings: Sequence[Sequence[OpenedSums]],
    rows: Mapping[str, Floats],
    labels: Integers,
    *,
    known: float = 0.0,
    seconds: float = 60.0,
) -> list[DocumentsRead]:
    """Attack what each training opened, and the differences of two and of three of them.

    Args:
        trainings: what each opened.
        rows: whether each document uses a word, by word: what there is to be read.
        labels: of each document, as numbers.
        known: the share of the documents that the attacker knows, and takes off.
        seconds: of processor time for each opening, at most.

    Example:
        >>> import numpy as np
        >>> from sottovoce.learn.attacks.audit import audit_openings
        >>> from sottovoce.learn.attacks.opening import OpenedSums
        >>> x = np.random.default_rng(0).integers(0, 5, (30, 40)) // 4
        >>> words = {str(word): column for word, column in enumerate(x.T)}
        >>> labels = np.zeros(30, int)
        >>> sums = OpenedSums.from_documents("all", x, labels)
        >>> (found,) = audit_openings([[sums]], words, labels)
        >>> found.read["6 or more"][:2]
        (25, 25)
    """
    if not 0 <= known < 1 or not seconds > 0:
        raise ParameterError(
            f"known must be at least 0 and below 1, seconds > 0, got {known} and {seconds}."
        )
    hidden = np.random.default_rng(0).random(len(labels)) >= known
    left = [[_less_known(each, rows, labels, hidden) for each in own] for own in trainings]
    opened = [each for own in left for each in own]
    return [_read(each, rows, hidden, seconds) for each in opened + _differences(left)]


def _columns(opening: OpenedSums, rows: Mapping[str, Floats], chosen: Integers) -> Floats:
    if missing := set(opening.words) - set(rows):
        raise InputError(f"rows must have every opened word, got none of {len(missing)}.")
    return np.array([rows[word][chosen] for word in opening.words], np.float64).T


def _less_known(
    opening: OpenedSums, rows: Mapping[str, Floats], labels: Integers, hidden: Flags
) -> OpenedSums:
    known = opening.members[~hidden[opening.members]]
    x = _columns(opening, rows, known)
    y = np.eye(len(opening.sizes))[labels[known] if len(opening.sizes) > 1 else 0 * known]
    sizes = opening.sizes - y.sum(axis=0).astype(np.int64)
    totals, products = opening.totals - y.T @ x, opening.products - x.T @ x
    return replace(opening, sizes=sizes, totals=totals, products=products)


def _differences(trainings: Sequence[Sequence[OpenedSums]]) -> list[OpenedSums]:
    """Of two trainings, and of two of them from the third, part by part, over common words."""
    found = [b - a for pair in combinations(trainings, 2) for a, b in zip(*pair, strict=False)]
    for three in combinations(trainings, 3):
        found += [(c - b) - (b - a) for a, b, c in zip(*three, strict=False)]
    return [each for each in found if each.words]


def _read(
    opening: OpenedSums, rows: Mapping[str, Floats], hidden: Flags, seconds: float
) -> DocumentsRead:
    begun, off, guesses = time.process_time(), float("inf"), []
    found = np.zeros((0, len(opening.words)))
    if opening.is_of_documents:
        chance = np.random.default_rng(0)
        guesses = [_guess(opening, chance) for _ in range(_GUESSES)]
        if opening.has_pairs:
            joint = JointAttack(opening).run(seconds)
            found, off = joint.rows, joint.off
    if off > 0:
        alone = read_one_by_one(opening, seconds - (time.process_time() - begun) / 2)
        # Who has both takes the surer ones, and fills up with the others.
        found = np.vstack([alone, found[: max(len(found) - len(alone), 0)]])
    chosen = opening.members[hidden[opening.members]]
    return DocumentsRead(
        opening.name,
        len(chosen),
        len(opening.words),
        plain_share(opening) if guesses else float("nan"),
        off,
        _by_length(_columns(opening, rows, chosen), found, guesses),
        time.process_time() - begun,
    )


def _guess(opening: OpenedSums, chance: np.random.Generator) -> Flags:
    """Documents of which nothing is known but how many of each label use each word."""
    parts = []
    for size, ones in zip(opening.sizes, opening.totals, strict=True):
        full = np.arange(size)[:, None] < np.rint(ones)[None, :]
        parts.append(chance.permuted(full, axis=0))
    return np.vstack(parts)


def _by_length(
    truth: Floats, found: Floats, guesses: list[Flags]
) -> dict[str, tuple[int, int, int, int]]:
    words, (read, *guessed) = (
        truth.sum(axis=1),
        [_hits(truth, each) for each in (found.astype(bool), *guesses)],
    )
    _, same, often = np.unique(truth, axis=0, return_inverse=True, return_counts=True)
    counts, alone = {}, read & (often[same.ravel()] == 1)
    for name, (least, most) in LENGTHS.items():
        among = (words >= least) & (words <= most)
        luck = max((int(each[among].sum()) for each in guessed), default=0)
        once = int(alone[among].sum())
        counts[name] = (int(read[among].sum()), int(among.sum()), luck, once)
    return counts


def _hits(truth: Floats, found: Flags) -> Flags:
    """Which documents are among those found; what is found once counts for one of equal ones."""
    left, hits = Counter(map(bytes, found)), []
    for key in map(bytes, truth.astype(bool)):
        left[key] -= 1
        hits.append(left[key] >= 0)
    return np.array(hits, bool)


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
