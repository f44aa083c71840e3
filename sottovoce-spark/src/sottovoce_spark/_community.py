"""What the measures need to know of all users: how many there are, and who else uses a word.

Each part of the table gives its own counts; Spark adds them up. They are as many as there are
salient words, whatever the number of users.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sottovoce.assess.state.state import State
from sottovoce.assess.state.words import WordUse
from sottovoce.corpus.read.tally import Tally
from sottovoce_spark._states import TALLIES, states_in, tally_of
from sottovoce_spark._workers import Shipped

COUNTS = "what int, amount bigint"
_USERS = -1
_POSTS = -2
_FIRST_TALLY = -3


@dataclass(frozen=True)
class CommunityCounts:
    """Counts over all users."""

    users: int
    posts: int
    holders: tuple[int, ...]
    """How many users have used each salient word."""
    evident: tuple[int, ...]
    """How many users have evidence, in each ranking."""
    tally: Tally


def count_community(shipped: Shipped, rows: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The counts of one part of the users, as pairs to be added up by their first member."""
    work = shipped.work()
    header = work.header
    evident = np.zeros(len(work.places), np.int64)
    holders = np.zeros(header.words, np.int64)
    tallies = np.zeros(TALLIES, np.int64)
    users = posts = 0

    def watch_rows() -> Iterator[pa.RecordBatch]:
        for batch in rows:
            nobody = batch.filter(batch["user"].is_null())["tally"]
            tallies[:] += nobody.flatten().to_numpy().reshape(-1, TALLIES).sum(axis=0)
            yield batch

    for state in states_in(header, watch_rows()):
        users += len(state)
        posts += int(state.posts.sum())
        if state.words is not None:
            holders += state.words.holders()
        for place, key in enumerate(work.places):
            evident[place] += work.measures[key.measure].evident(state, key.topic).sum()
    counted = range(holders.size + evident.size)
    whats = [_USERS, _POSTS, *range(_FIRST_TALLY, _FIRST_TALLY - TALLIES, -1), *counted]
    amounts = np.concatenate([[users, posts], tallies, holders, evident])
    arrays = [pa.array(whats, pa.int32()), pa.array(amounts, pa.int64())]
    yield pa.RecordBatch.from_arrays(arrays, names=["what", "amount"])


def community_of(amounts: Mapping[int, int], words: int, places: int) -> CommunityCounts:
    """The counts that Spark has added up."""
    tallies = [amounts.get(_FIRST_TALLY - place, 0) for place in range(TALLIES)]
    return CommunityCounts(
        users=amounts.get(_USERS, 0),
        posts=amounts.get(_POSTS, 0),
        holders=tuple(amounts.get(word, 0) for word in range(words)),
        evident=tuple(amounts.get(words + place, 0) for place in range(places)),
        tally=tally_of(np.array(tallies, np.int64)),
    )


class PartOfWordUse(WordUse):
    """Which words some users have used, told against the whole community."""

    def __init__(self, here: WordUse, holders: NDArray[np.int64], users: int) -> None:
        super().__init__(here.words)
        self.admit(len(here))
        self.add_bits(np.arange(len(here)), here.bits)
        self._holders = holders
        self._everybody = users

    @property
    def population(self) -> int:
        """How many users there are in the whole community."""
        return self._everybody

    def holders(self) -> NDArray[np.int64]:
        """How many users of the whole community have used each word."""
        return self._holders


def place_in_community(state: State, community: CommunityCounts) -> State:
    """``state`` with word counts of the community it is a part of."""
    if state.words is not None:
        holders = np.array(community.holders, np.int64)
        state.words = PartOfWordUse(state.words, holders, community.users)
    return state
