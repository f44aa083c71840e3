"""How many documents our attacks read, word for word, from what a training opens.

A whole training is run here; every machine that ends a stage with a `total` has opened it, whatever
the mode. So sums that are opened tomorrow are heard too, and those that no attack takes are named.
"""

import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.arrays import Floats, Integers
from sottovoce.corpus.read.corpus import Source
from sottovoce.corpus.read.tally import ReadOptions
from sottovoce.errors import InputError, ParameterError
from sottovoce.learn._examples import symmetric
from sottovoce.learn._train import train
from sottovoce.learn._trained import TrainedClassifier
from sottovoce.learn.attacks.opening import JointAttack, OpenedSums, plain_share, read_one_by_one
from sottovoce.learn.documents import Documents, read_labelled
from sottovoce.learn.features import Features, TextRecipe, frequent_words
from sottovoce.learn.rados.rados import vector_size
from sottovoce.learn.ridge import Standard, sums_of_labels
from sottovoce.learn.sums.fixed import Ring
from sottovoce.learn.support import Flags, all_kept
from sottovoce.learn.training_terms import Mode
from sottovoce.learn.wire.message import Party
from sottovoce.learn.wire.stages import ENDED_STAGES

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


@dataclass(frozen=True)
class TrainingAudit:
    """What was read from all that one training opened.

    Attributes:
        readings: of each opening.
        unread: opened sums that no attack here takes, such as counts of single words.
    """

    readings: list[DocumentsRead]
    unread: list[str]

    @property
    def holds(self) -> bool:
        """Whether of six or more words no more was read than guessed, but what many have alike."""
        counts = [each.read["6 or more"] for each in self.readings]
        return all(once <= guessed for _, _, guessed, once in counts)


def audit_training(
    *trainings: Documents | Source,
    text: str | int = "text",
    label: str | int = "label",
    reading: ReadOptions | None = None,
    mode: Mode = "open",
    peers: int = 4,
    words: int | Sequence[str] = 1000,
    known: float = 0.0,
    seconds: float = 60.0,
    **options: Any,  # noqa: ANN401 - those of train
) -> TrainingAudit:
    """Train on texts dealt out to peers, attack what is opened, and count what was read.

    What ``sottovoce learn audit`` does. The words are public here: the audit is of sums, not of
    dictionaries. Of several trainings the differences are attacked; no peer remembers earlier ones.

    Args:
        trainings: the texts of each: a file's path, a data frame or rows.
        text: the column of texts.
        label: the column of labels.
        reading: how a file is read.
        mode: as `train` takes it.
        peers: to how many the texts are dealt out.
        words: a list, or how many of the most frequent words.
        known: the share of texts that the attacker knows.
        seconds: most processor time for each opened sum.
        options: of `train`.

    Example:
        >>> from sottovoce.learn import audit_training
        >>> rows = [{"text": f"word{k % 7} word{k % 5}", "label": "ab"[k % 2]} for k in range(80)]
        >>> audit_training(rows, words=12, seconds=0.2).holds
        True
    """
    reading = (reading or ReadOptions()).with_columns(text=text, label=label)
    read = [
        each if isinstance(each, Documents) else read_labelled(each, options=reading)
        for each in trainings
    ]
    numbers: dict[tuple[str, str, int], int] = {}
    openings, unread = [], set[str]()
    every = tuple(text for each in read for text in each.texts)
    listed = frequent_words(every, words) if isinstance(words, int) else tuple(words)
    for at, documents in enumerate(read):
        members = _number_documents(documents, numbers)
        places = [np.arange(len(documents))[k::peers] for k in range(peers)]
        holders = _deal_out(documents, places)
        with heard_totals() as totals:
            trained = train(holders, words=listed, mode=mode, **options)
        found, others = openings_heard(totals, trained, members[np.concatenate(places)])
        if len(read) > 1:
            found = [replace(each, name=f"{each.name} {at + 1}") for each in found]
        openings.append(found)
        unread |= {*others}
    columns = Features(TextRecipe("given", listed)).rows(tuple(text for _, text, _ in numbers)).T
    names = np.unique([label for label, _, _ in numbers], return_inverse=True)[1]
    rows = dict(zip(listed, columns, strict=True))
    readings = audit_openings(openings, rows, names, known=known, seconds=seconds)
    return TrainingAudit(readings, sorted(unread))


def _deal_out(
    documents: Documents, places: Sequence[Integers]
) -> dict[str, tuple[list[str], NDArray[np.object_]]]:
    """What each peer gets: the texts and labels at its places."""
    labels, texts = np.array(documents.labels, object), np.array(documents.texts, object)
    return {f"{k:06}": (texts[own].tolist(), labels[own]) for k, own in enumerate(places)}


def _number_documents(documents: Documents, numbers: dict[tuple[str, str, int], int]) -> Integers:
    """Each document's number in all trainings; of equal ones each has its own."""
    copies: Counter[tuple[str, str]] = Counter()
    found = []
    for label, text in zip(documents.labels or (), documents.texts, strict=True):
        copies[label, text] += 1
        found.append(numbers.setdefault((label, text, copies[label, text]), len(numbers)))
    return np.array(found, np.int64)


@contextmanager
def heard_totals() -> Iterator[dict[str, Ring]]:
    """The sums that are opened meanwhile, by the stage in which they are."""
    totals: dict[str, Ring] = {}

    def hear(_: str, stage: str, machine: Party) -> None:
        total = getattr(machine, "total", None)
        if total is not None and total.size:
            totals[stage] = total

    token = ENDED_STAGES.set(hear)
    try:
        yield totals
    finally:
        ENDED_STAGES.reset(token)


def openings_heard(
    totals: dict[str, Ring], trained: TrainedClassifier, members: Integers
) -> tuple[list[OpenedSums], list[str]]:
    """What of these sums is about documents; and the names of those that no attack here takes."""
    heard = {stage.rpartition(": ")[2]: total for stage, total in totals.items()}
    recipe, words = trained.terms.recipe, trained.kept_features_
    moments, total = heard.pop("moments", None), heard.pop("statistics", None)
    numbers = None if total is None else _numbers(total, recipe.fraction_bits)
    found = []
    if moments is not None:
        standard = Standard.from_moments(
            _numbers(moments, recipe.moment_bits), all_kept(len(words))
        )
        found.append(_of_moments(words, standard, numbers, members))
    elif numbers is not None:
        labels = 1 if len(trained.classes_) == 2 else len(trained.classes_)  # noqa: PLR2004 - one says both
        sums = sums_of_labels(numbers, len(words), labels)
        found.append(OpenedSums.of_sums("statistics", words, sums, members))
    return found, sorted(heard)


def _numbers(total: Ring, places: int) -> Floats:
    return np.ldexp(total.view(np.int64).astype(np.float64), -places)


def _of_moments(
    words: tuple[str, ...], standard: Standard, rados: Floats | None, members: Integers
) -> OpenedSums:
    """Numbers of documents exactly; of pairs what a covariance of rados says, which is X'X/4m.

    Private Text Classification, Definition 5, of standardised rows.
    """
    m, d = standard.count, len(words)
    totals = np.rint(standard.means * m)
    products = np.full((d, d), np.nan)
    if rados is not None:
        covariance = symmetric(rados[d + 1 :][: vector_size(d + 1) - d - 2], d + 1)[:d, :d]
        inner = 4 * m * covariance * np.outer(standard.scales, standard.scales)
        products = np.rint(inner + np.outer(totals, totals) / m)
        np.fill_diagonal(products, totals)
    sizes = np.array([round(m)])
    return OpenedSums("moments", words, sizes, totals[None], products, members=members)
