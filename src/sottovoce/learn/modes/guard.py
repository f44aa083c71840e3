"""Which kept columns' sums are opened: as many as the documents hide, no two of them all but alike.

All are told how many documents each peer has and how many use each column. Each works out
by its own limit how many columns it allows (`opened_bits`), from these counts and, a peer, from
those of its own documents as well: a coordinator may lie about the former. The fewest that anybody
allows are opened, the most used ones. Of two that differ in a few documents only, which other
entries of the sums would show, one is left out.

**Pairs.** G_jj + G_kk - 2 G_jk is in how many documents two columns differ, and where those are one
to four, other entries of G show them. So pairs are looked at before: of a word and a word or label,
where they are not the same, and where they do not add up to 1 (a word against the constant is the
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

from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sottovoce.arrays import Floats
from sottovoce.errors import DamagedMessageError, DisagreementError, LeakError, ParameterError
from sottovoce.learn.modes.sums import SumStage, alike_stages, told_alike
from sottovoce.learn.sums.fixed import Ring, uniform
from sottovoce.learn.support import (
    Flags,
    KeptFeatures,
    OpenedLimit,
    feature_counts,
    most_words,
    with_columns,
)
from sottovoce.learn.training_terms import COORDINATOR, LocalData, TrainingTerms
from sottovoce.learn.wire.message import Message
from sottovoce.learn.wire.stages import Listener, Stage, Teller

Documents: TypeAlias = NDArray[np.int64]
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
        return SumStage(terms, self.size, terms.counts(), self.peers, context=told)

    def summand(self, name: str, columns: sparse.csr_array, grouped: Documents | None) -> Ring:
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
    columns: sparse.csr_array, width: int, grouped: Documents | None = None
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
    name: str, terms: TrainingTerms, data: LocalData, kept: KeptFeatures, peers: tuple[str, ...]
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
    said = {COORDINATOR: {"words": most}}
    yield Stage("allowed", lambda s: Teller(name, s, "allowed", said))
    told = yield Stage("opened", lambda s: Listener(name, s, "opened", [COORDINATOR]))
    opened = told_opened(told.heard[COORDINATOR], uses, most)
    chosen = _choose_columns(kept, opened)
    if data.earlier is not None:
        names, shares = chosen.choose(terms.features), uses.shares[opened]
        data.earlier.note(names, shares, uses.labels.size)
    tests = PairTests.from_counts(terms, *uses.pair_counts(opened))
    given = tests.summand(name, _beside_labels(data, chosen), data.row_documents)
    same = told_alike(terms, OPENED, peers, (summed.total, opened))
    yield Stage("pairs", tests.stage(terms, same.digest).peer(name, data.identity, given))
    told = yield Stage("apart", lambda s: Listener(name, s, "apart", [COORDINATOR]))
    apart = told.heard[COORDINATOR].array("columns", "|b1")
    if apart.size != chosen.width or not apart.any():
        raise DamagedMessageError(f"of {chosen.width} columns some must be left.")
    guarded = Guarded(_choose_columns(chosen, apart), kept.width, chosen.width)
    same = told_alike(terms, OPENED, peers, guarded.kept.kept)
    yield from same.party(name, data.identity)
    return guarded


def guard_coordinator(
    terms: TrainingTerms, kept: KeptFeatures, peers: tuple[str, ...], limit: OpenedLimit
) -> Generator[Stage, Any, Guarded]:
    """Choose as many columns as everybody allows, and leave alike ones out."""
    stage = uses_stage(terms, kept, peers)
    summed = yield Stage("uses", stage.adder())
    total = summed.total
    uses = Uses.from_numbers(stage.numbers.decode(total), terms.stated_documents(peers), kept.width)
    heard = yield Stage("allowed", lambda s: Listener(COORDINATOR, s, "allowed", peers))
    told = [said.item("words", int) for said in heard.heard.values()]
    hidden = limit.documents(uses.documents, COORDINATOR)
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
        names, others = (
            data.earlier.name_columns(kept.choose(terms.features)),
            data.earlier.other_labels(),
        )
        new = np.array([at for at in order if names[at] not in before], np.intp)
        shares = np.concatenate([list(before.values()), uses.shares[new]])
        halves = np.full(labels + others, hidden / 2)
        most = most_words(hidden, hidden * shares, halves, data.limit.share)
        if others and most < len(before):
            yield most
        elif most < len(shares):
            yield int(np.flatnonzero(order == new[max(most - len(before), 0)])[0])


def _fewest(own: int, told: list[int]) -> int:
    return min(own, *told)


def _telling(kind: str, columns: Flags, parties: tuple[str, ...]) -> Generator[Stage, Any, None]:
    said = {party: {"columns": columns} for party in parties}
    yield Stage(kind, lambda s: Teller(COORDINATOR, s, kind, said))


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
