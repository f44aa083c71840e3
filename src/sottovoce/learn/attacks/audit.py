"""How many documents our attacks read, word for word, from what a training opens."""

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from scipy.special import gammaln

from sottovoce.arrays import Floats, Integers
from sottovoce.errors import InputError, ParameterError
from sottovoce.learn.attacks.joint import JointAttack
from sottovoce.learn.attacks.opening import OpenedSums
from sottovoce.learn.attacks.single import read_one_by_one
from sottovoce.learn.opened_bits import coin_bits, pair_bits
from sottovoce.learn.support import Flags

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
        >>> (found,) = audit_openings([[OpenedSums.of("all", x, labels)]], words, labels)
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
    """Rho of these very words, not of longer lists like theirs: see `_opened_bits`."""
    m, uses = opening.documents, opening.totals.sum(axis=0)
    pairs = sum(pair_bits(m, one, uses[:at]).sum() for at, one in enumerate(uses))
    rows = m * coin_bits(uses / m).sum() - gammaln(m + 1) / np.log(2)
    return float(pairs / rows) if rows > 0 else float("inf")
