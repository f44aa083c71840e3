"""Which kept columns' sums are opened: as many as the documents hide, no two of them all but alike.

All are told how many documents each peer has and how many use each column. Each works out
by its own limit how many columns it allows (`opened_bits`), from these counts and, a peer, from
those of its own documents as well: a coordinator may lie about the former. The fewest that anybody
allows are opened, the most used ones. Of two that differ in a few documents only, which other
entries of the sums would show, one is left out (`_pairs`).
"""

from collections.abc import Generator, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sottovoce.arrays import Floats
from sottovoce.errors import DamagedMessageError, DisagreementError, LeakError
from sottovoce.learn._alike import alike_stages, told_alike
from sottovoce.learn.local_data import LocalData
from sottovoce.learn.open._pairs import PairTests
from sottovoce.learn.open.sums import SumStage
from sottovoce.learn.opened_bits import OpenedLimit, most_words
from sottovoce.learn.support import Flags, KeptFeatures, feature_counts, with_columns
from sottovoce.learn.training_terms import COORDINATOR, TrainingTerms
from sottovoce.learn.wire.message import Message
from sottovoce.learn.wire.stages import Listener, Stage, Teller

if TYPE_CHECKING:
    from sottovoce.learn.wire.codec import Value

_NO_LIMIT = "the hidden mode or learn count, which have no such limit"
OPENED = "opened columns"
GUARD_STAGES = ("uses", "allowed", "opened", "pairs", "apart", *alike_stages(OPENED))


class Guarded(NamedTuple):
    """What is opened of the columns that enough documents use.

    Attributes:
        kept: the columns that are opened.
        supported: how many there were.
        allowed: how many of them the parties' limits left, before alike ones were left out.
    """

    kept: KeptFeatures
    supported: int
    allowed: int


class Uses(NamedTuple):
    """How many documents (rows) each peer has, and how many use each kept column, have each label.

    ``odd`` says which columns hold other numbers than 0 and 1, ``grouped`` whether several rows may
    be of one document.
    """

    documents: Mapping[str, int]
    columns: Floats
    odd: Flags
    labels: Floats
    grouped: bool

    @classmethod
    def from_numbers(cls, numbers: Floats, documents: Mapping[str, int], width: int) -> "Uses":
        """What a peer counts, or the sum over all of them."""
        columns, odd, labels, (grouped,) = np.split(numbers, [width, 2 * width, numbers.size - 1])
        return cls(documents, columns, odd > 0, labels, grouped > 0)

    @property
    def shares(self) -> Floats:
        """What share of all documents use each column; of odd numbers, half at most."""
        shares: Floats = self.columns / max(sum(self.documents.values()), 1)
        return np.where(self.odd, np.minimum(shares, 0.5), shares)

    @property
    def order(self) -> NDArray[np.intp]:
        """The most used columns first."""
        return np.argsort(-self.columns, kind="stable")

    def first(self, number: int) -> Flags:
        """So many of the most used columns."""
        flags = np.zeros(self.columns.size, bool)
        flags[self.order[:number]] = True
        return flags

    def pair_counts(self, columns: Flags) -> tuple[Floats, Floats, Mapping[str, int], bool]:
        """What pairs of chosen columns are looked at by."""
        return self.columns[columns], self.labels, self.documents, self.grouped

    def count_allowed(self, limit: OpenedLimit, hidden: float, order: NDArray[np.intp]) -> int:
        """How many columns, in this order, may be opened of so many documents used alike."""
        labels = self.labels * (hidden / max(sum(self.documents.values()), 1))
        return most_words(hidden, hidden * self.shares[order], labels, limit.share)


def guard_peer(
    name: str,
    terms: TrainingTerms,
    data: LocalData,
    kept: KeptFeatures,
    peers: tuple[str, ...],
) -> Generator[Stage, Any, Guarded]:
    """Say how many columns one allows, check those that are chosen, and help to find alike ones."""
    stage, own = uses_stage(terms, kept, peers), local_uses(data, kept)
    summed = yield Stage("uses", stage.peer(name, data.identity, own))
    uses = Uses.from_numbers(
        stage.numbers.decode(summed.total), terms.stated_documents(peers), kept.width
    )
    mine = Uses.from_numbers(own, {name: len(data.rows)}, kept.width)
    hidden = data.limit.documents(uses.documents, name)
    most = min(
        *(each.count_allowed(data.limit, hidden, uses.order) for each in (uses, mine)),
        *_allowed_before(terms, data, kept, uses, hidden),
    )
    yield from _telling_allowed(name, most)
    told = yield Stage("opened", lambda s: Listener(name, s, "opened", [COORDINATOR]))
    opened = told_opened(told.heard[COORDINATOR], uses, most)
    if data.earlier is not None:
        names, shares = _names(terms, _choose_columns(kept, opened)), uses.shares[opened]
        data.earlier.note(names, shares, uses.labels.size)
    tests = PairTests.from_counts(terms, *uses.pair_counts(opened))
    columns = _beside_labels(data, _choose_columns(kept, opened))
    summand = tests.summand(name, columns, data.row_documents)
    same = told_alike(terms, OPENED, peers, (summed.total, opened))
    yield Stage("pairs", tests.stage(terms, same.digest).peer(name, data.identity, summand))
    guarded = yield from _hearing_apart(name, kept, opened)
    same = told_alike(terms, OPENED, peers, guarded.kept.kept)
    yield from same.party(name, data.identity)
    return guarded


def guard_coordinator(
    terms: TrainingTerms,
    kept: KeptFeatures,
    peers: tuple[str, ...],
    limit: OpenedLimit,
) -> Generator[Stage, Any, Guarded]:
    """Choose as many columns as everybody allows, and leave alike ones out."""
    stage = uses_stage(terms, kept, peers)
    summed = yield Stage("uses", stage.adder())
    total = summed.total
    uses = Uses.from_numbers(stage.numbers.decode(total), terms.stated_documents(peers), kept.width)
    heard = yield Stage("allowed", lambda s: Listener(COORDINATOR, s, "allowed", peers))
    hidden = limit.documents(uses.documents, COORDINATOR)
    told = [said.item("words", int) for said in heard.heard.values()]
    most = _fewest(uses.count_allowed(limit, hidden, uses.order), told)
    # Fewer words may hold more than more do, where most rows repeat: so it is asked again.
    most = uses.count_allowed(limit, hidden, uses.order[:most])
    if most < 1:
        raise _too_few(uses)
    opened = uses.first(most)
    yield from _telling("opened", opened, peers)
    tests = PairTests.from_counts(terms, *uses.pair_counts(opened))
    same = told_alike(terms, OPENED, peers, (total, opened))
    summed = yield Stage("pairs", tests.stage(terms, same.digest).adder())
    apart = tests.keep_most_used(summed.total)
    if not apart.any():
        raise _all_alike()
    yield from _telling("apart", apart, peers)
    guarded = Guarded(_choose_columns(_choose_columns(kept, opened), apart), kept.width, most)
    same = told_alike(terms, OPENED, peers, guarded.kept.kept)
    yield from same.party(COORDINATOR)
    return guarded


def _allowed_before(
    terms: TrainingTerms, data: LocalData, kept: KeptFeatures, uses: Uses, hidden: float
) -> Iterator[int]:
    """How many columns may be opened after each earlier training of a peer.

    The difference to one is over the documents that changed, others' taken to be the same. With all
    that was opened of some of these documents the new columns are one list, whose pairs are known.
    """
    order, labels = uses.order, len(uses.labels)
    for documents, of_changed in data.changed:
        counts = np.minimum(of_changed[kept.kept][order], documents)
        halves = np.full(labels, documents / 2)
        yield most_words(documents, counts, halves, data.limit.share)
    before = {} if data.earlier is None else data.earlier.opened_shares()
    if before and data.earlier is not None:
        names, others = data.earlier.name_columns(_names(terms, kept)), data.earlier.other_labels()
        new = np.array([at for at in order if names[at] not in before], np.intp)
        shares = np.concatenate([list(before.values()), uses.shares[new]])
        halves = np.full(labels + others, hidden / 2)
        most = most_words(hidden, hidden * shares, halves, data.limit.share)
        if others and most < len(before):
            yield most
        elif most < len(shares):
            yield int(np.flatnonzero(order == new[max(most - len(before), 0)])[0])


def _names(terms: TrainingTerms, kept: KeptFeatures) -> tuple[str, ...]:
    return tuple(name for name, keep in zip(terms.features, kept.kept, strict=True) if keep)


def _fewest(own: int, told: list[int]) -> int:
    return min(own, *told)


def _telling(kind: str, columns: Flags, parties: tuple[str, ...]) -> Generator[Stage, Any, None]:
    piece: dict[str, Value] = {"columns": columns}
    yield Stage(kind, lambda s: Teller(COORDINATOR, s, kind, dict.fromkeys(parties, piece)))


def _telling_allowed(name: str, most: int) -> Generator[Stage, Any, None]:
    piece: dict[str, Value] = {"words": most}
    yield Stage("allowed", lambda s: Teller(name, s, "allowed", {COORDINATOR: piece}))


def _hearing_apart(name: str, kept: KeptFeatures, opened: Flags) -> Generator[Stage, Any, Guarded]:
    told = yield Stage("apart", lambda s: Listener(name, s, "apart", [COORDINATOR]))
    chosen = _choose_columns(kept, opened)
    apart = told.heard[COORDINATOR].array("columns", "|b1")
    if apart.size != chosen.width or not apart.any():
        raise DamagedMessageError(f"of {chosen.width} columns some must be left.")
    return Guarded(_choose_columns(chosen, apart), kept.width, chosen.width)


def uses_stage(terms: TrainingTerms, kept: KeptFeatures, peers: tuple[str, ...]) -> SumStage:
    """How many documents use each column, and have each label; all parties are told."""
    size = 2 * kept.width + terms.classifiers + 1
    return SumStage(terms, size, terms.counts(), peers, told=True)


def local_uses(data: LocalData, kept: KeptFeatures) -> Floats:
    """One peer's summand."""
    counts = feature_counts(_beside_labels(data, kept))
    uses, labels = np.split(counts.uses, [kept.width])
    odd = ~counts.binary[: kept.width]
    return np.concatenate([uses, odd, labels, [data.row_documents is not None]])


def told_opened(message: Message, uses: Uses, most: int) -> Flags:
    """The columns that are to be opened: the most used, and no more than this party allows."""
    flags = message.array("columns", "|b1")
    number = int(flags.sum())
    if not np.array_equal(flags, uses.first(number)) or not number:
        raise DamagedMessageError(f"of {uses.columns.size} columns the most used must be opened.")
    if number > most:
        raise DisagreementError(
            f"{message.receiver} lets the sums of at most {most} columns be opened, got {number}: "
            "more would hold too much of so few documents; see most_opened_share in its [accepts]."
        )
    return flags


def _beside_labels(data: LocalData, kept: KeptFeatures) -> sparse.csr_array:
    labels = data.signs.reshape(len(data.signs), -1) > 0
    return with_columns(kept.apply(data.rows), labels.astype(np.float64))


def _choose_columns(kept: KeptFeatures, columns: Flags) -> KeptFeatures:
    flags = kept.kept.copy()
    flags[kept.kept] = columns
    return replace(kept, kept=flags)


def _too_few(uses: Uses) -> LeakError:
    documents = sum(uses.documents.values())
    return LeakError(
        f"sums of none of {uses.columns.size} words may be opened of {documents} documents, less "
        "those of the largest peers and of peers that somebody has not named, or of those that "
        f"changed since an earlier training: they would hold the documents; bring more, or use "
        f"{_NO_LIMIT}."
    )


def _all_alike() -> LeakError:
    return LeakError(
        "sums of no word may be opened: each is a label's, or lacks it, but for a few documents, "
        f"and sums of both would show those; use other words, or {_NO_LIMIT}."
    )
