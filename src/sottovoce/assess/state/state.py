"""What is kept of a community's posts: enough for every measure, whatever the number of posts.

Only on request the values of each post are kept too (``PostLog``), so that single posts can be
deleted later without their texts; that part grows with the number of posts.
"""

import copy
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import reduce
from threading import Lock
from typing import Any, NamedTuple, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sottovoce.assess.setting import StateHeader
from sottovoce.assess.state.buckets import TOPICS_AT_ONCE, BestBuckets
from sottovoce.assess.state.words import WordBuckets, WordUse, missing_buckets_error
from sottovoce.errors import InputError, ParameterError
from sottovoce.parsing import check_choice

Result = TypeVar("Result")
# Rankings by several threads ask for the same; only who wants the same waits.
_DERIVING = Lock()
_BLOCKS_KEPT = 3


class _Derived:
    """Something that is made once, by the first who asks."""

    def __init__(self) -> None:
        self._making = Lock()
        self._made: list[Any] = []

    def get(self, make: Callable[[], Result]) -> Result:
        if not self._made:
            with self._making:
                if not self._made:
                    self._made.append(make())
        found: Result = self._made[0]
        return found


class PostValues(NamedTuple):
    """Some posts, a row each."""

    users: NDArray[np.int64]
    """The row of each one's user in the state."""
    times: NDArray[np.int64]
    """Microseconds since 1970, UTC."""
    words: NDArray[np.uint8]
    """Posts x bytes, a bit for each salient word; no byte where words are not kept."""
    strengths: dict[str, NDArray[np.float64]]
    """Posts x topics in each space."""

    def take(self, places: NDArray[np.int64]) -> "PostValues":
        """Some of the posts."""
        strengths = {name: values[places] for name, values in self.strengths.items()}
        return PostValues(self.users[places], self.times[places], self.words[places], strengths)


class PostLog:
    """All posts that were folded in, in order."""

    def __init__(self, header: StateHeader) -> None:
        self._header = header
        self._parts: list[PostValues] = []

    def __len__(self) -> int:
        return sum(part.users.size for part in self._parts)

    def append(self, posts: PostValues) -> None:
        """Note more posts."""
        self._parts.append(posts)

    def all(self) -> PostValues:
        """Every post, a user's together and by time."""
        parts = [self._none(), *self._parts]
        joined = PostValues(
            np.concatenate([part.users for part in parts]),
            np.concatenate([part.times for part in parts]),
            np.concatenate([part.words for part in parts]),
            {
                name: np.concatenate([part.strengths[name] for part in parts])
                for name in self._header.spaces
            },
        )
        ordered = joined.take(np.lexsort((joined.times, joined.users)))
        self._parts = [ordered]
        return ordered

    def _none(self) -> PostValues:
        width = 0 if self._header.salient is None else -(-self._header.words // 8)
        topics = len(self._header.catalogue)
        return PostValues(
            np.zeros(0, np.int64),
            np.zeros(0, np.int64),
            np.zeros((0, width), np.uint8),
            {name: np.zeros((0, topics)) for name in self._header.spaces},
        )


class UserIndex:
    """User ids in order of first appearance; an id's place is its row."""

    def __init__(self, names: pa.Array | None = None) -> None:
        self._rows: dict[str, int] = {}
        if names is not None:
            self.rows(names)

    def __len__(self) -> int:
        return len(self._rows)

    def rows(self, names: pa.Array) -> NDArray[np.int64]:
        """The row of each name; a name not seen before gets the next row."""
        encoded = pc.dictionary_encode(names)
        known = self._rows
        # Only as many steps in Python as there are different users in the batch.
        of_code = [known.setdefault(name, len(known)) for name in encoded.dictionary.to_pylist()]
        codes = encoded.indices.to_numpy(zero_copy_only=False)
        rows: NDArray[np.int64] = np.array(of_code, np.int64)[codes]
        return rows

    def row(self, name: str) -> int | None:
        """The row of ``name``, None when they have none."""
        return self._rows.get(name)

    def names(self) -> pa.Array:
        """The id of each row."""
        return pa.array(list(self._rows), pa.large_string())


class State:
    """All that the measures need to know of each user.

    Per user the number of their posts, which salient words they have used (on request, in which
    time buckets), and for each space and topic their best time buckets. It never holds a text or a
    word's count.

    >>> from sottovoce.assess import Scoring
    >>> from sottovoce.corpus import open_posts
    >>> from sottovoce.topics import BagOfWords, Catalogue, Topic
    >>> scoring = Scoring(Catalogue((Topic("debt", ("loan",), "money"),)), [BagOfWords()])
    >>> scoring.state_of(open_posts([("ada", "2024-01-01", "a loan")]))
    State(users=1, posts=1, topics=1)
    """

    def __init__(self, header: StateHeader) -> None:
        self.header = header
        self.users = UserIndex()
        self.inputs: frozenset[str] = frozenset()
        """Fingerprints of the files that were folded in."""
        topics = len(header.catalogue)
        self.spaces: Mapping[str, BestBuckets] = {
            name: BestBuckets(topics, header.kept) for name in header.spaces
        }
        self.words = None if header.salient is None else WordUse(header.words)
        self.word_buckets = WordBuckets() if header.word_buckets else None
        """Which words were used in which time bucket, where it is kept."""
        self.log = PostLog(header) if header.posts else None
        """The values of each post, where they are kept."""
        self._posts = np.zeros(0, np.int64)
        self._derived: dict[tuple[Hashable, ...], _Derived] = {}
        self._columns = {name: column for column, name in enumerate(header.catalogue.names)}

    def __len__(self) -> int:
        return len(self.users)

    def __repr__(self) -> str:
        posts, topics = int(self.posts.sum()), len(self.header.catalogue)
        return f"State(users={len(self)}, posts={posts}, topics={topics})"

    @property
    def posts(self) -> NDArray[np.int64]:
        """How many posts each user has written."""
        return self._posts[: len(self)]

    @property
    def domains(self) -> Sequence[str]:
        """The domain of each topic."""
        return [topic.domain for topic in self.header.catalogue]

    def domain_of(self, topic: str) -> str:
        """The domain of ``topic``."""
        return self.header.catalogue.topics[self.column(topic)].domain

    def column(self, topic: str) -> int:
        """The column of ``topic``."""
        if topic not in self._columns:
            check_choice("topic", topic, self.header.catalogue.names)
        return self._columns[topic]

    def word_use(self) -> WordUse:
        """Which user has used which salient word."""
        if self.words is None:
            raise ParameterError(
                "this state does not say which words were used; score again with ent, diff-priv "
                "or keyword-kinds."
            )
        return self.words

    def word_buckets_kept(self) -> WordBuckets:
        """Which user has used which salient word in which time bucket."""
        if self.word_buckets is None:
            raise missing_buckets_error()
        return self.word_buckets

    def supposing(self, row: int, words: NDArray[np.uint8], buckets: NDArray[np.int32]) -> "State":
        """The same community, had the user of ``row`` written posts with these words instead."""
        community = copy.copy(self)
        community.words = self.word_use().replace_user(row, np.bitwise_or.reduce(words))
        if self.word_buckets is not None:
            community.word_buckets = self.word_buckets.replace_user(row, buckets, words)
        numbers = self._posts.copy()
        numbers[row] = len(words)
        community._posts = numbers  # noqa: SLF001 - a copy of this very object
        return community

    def salient(self, topic: str) -> NDArray[np.int64]:
        """The columns of a topic's words in ``word_use``."""
        self.column(topic)
        return np.array((self.header.salient or {})[topic], np.int64)

    def strongest(self, space: str) -> NDArray[np.float64]:
        """Users x topics: the largest strength over all posts; a topic's lie side by side."""
        held = self._space(space)
        strongest: NDArray[np.float64] = self.derive(("strongest", space), held.strongest)
        return strongest

    def derive(self, key: tuple[Hashable, ...], make: Callable[[], Result]) -> Result:
        """What ``make`` finds, made once for as long as nobody is added to or changed."""
        if (held := self._derived.get(key)) is None:
            with _DERIVING:
                held = self._derived.setdefault(key, _Derived())
        return held.get(make)

    def best(self, space: str, topic: str, m: int) -> NDArray[np.float64]:
        """Users x m: the strengths of each user's best time buckets."""
        column, held = self.column(topic), self._space(space)
        block, place = divmod(column, TOPICS_AT_ONCE)
        key = ("best", space, m, block)
        if key not in self._derived:
            self._forget_blocks()
        found = self.derive(key, lambda: held.best_of_block(block, m))
        best: NDArray[np.float64] = found[place].T
        return best

    def _forget_blocks(self) -> None:
        """Keep but the latest blocks of topics: all of them would take as much as the state."""
        with _DERIVING:
            for key in [key for key in self._derived if key[0] == "best"][: 1 - _BLOCKS_KEPT]:
                del self._derived[key]

    def rows(self, names: pa.Array) -> NDArray[np.int64]:
        """The row of each user, new ones admitted."""
        rows = self.users.rows(names)
        self._derived = {}
        if len(self) > self._posts.size:
            grown = np.zeros(max(len(self), 2 * self._posts.size), np.int64)
            grown[: self._posts.size] = self._posts
            self._posts = grown
        for space in self.spaces.values():
            space.admit(len(self))
        if self.words is not None:
            self.words.admit(len(self))
        return rows

    def count_posts(self, rows: NDArray[np.int64], posts: NDArray[np.int64] | None = None) -> None:
        """Count one post for each of ``rows``, or as many as ``posts`` says."""
        np.add.at(self._posts, rows, 1 if posts is None else posts)

    def fold(self, other: "State") -> None:
        """Fold in another state of the same header."""
        self.header.check_same(other.header)
        check_apart(self.inputs, other.inputs)
        self._take_users(other, np.arange(len(other)))
        self.inputs |= other.inputs

    def select_users(self, rows: NDArray[np.int64]) -> "State":
        """The state of some users only, in the order of ``rows``."""
        chosen = State(self.header)
        chosen.inputs = self.inputs
        chosen._take_users(self, rows)
        return chosen

    def _take_users(self, other: "State", rows: NDArray[np.int64]) -> None:
        """Fold in what another state holds of some of its users."""
        own = self.rows(other.users.names().take(pa.array(rows)))
        self.count_posts(own, other.posts[rows])
        for name, space in self.spaces.items():
            space.add_lines(own, other.spaces[name].lines(rows))
        if self.words is not None:
            self.words.add_bits(own, other.word_use().bits[rows])
        if self.word_buckets is not None:
            used, codes = other.word_buckets_kept().list_codes(rows)
            self.word_buckets.add(np.repeat(own, used), codes)
        if self.log is not None and other.log is not None:
            posts = other.log.all()
            new = np.full(len(other), -1, np.int64)
            new[rows] = own
            renumbered = posts._replace(users=new[posts.users])
            self.log.append(renumbered.take(np.flatnonzero(renumbered.users >= 0)))

    def add_post_values(self, posts: PostValues, buckets: NDArray[np.int32]) -> None:
        """Fold in posts whose values are known; their users must have rows."""
        self.count_posts(posts.users)
        for name, space in self.spaces.items():
            space.add_posts(posts.users, buckets, posts.strengths[name])
        if self.words is not None:
            self.words.add_posts_bits(posts.users, posts.words)
        if self.word_buckets is not None:
            self.word_buckets.add_posts_bits(posts.users, buckets, posts.words)
        if self.log is not None:
            self.log.append(posts)

    def without_posts(self, user: str, times: Sequence[int]) -> "State":
        """The state as if ``user`` had never posted at ``times`` (microseconds since 1970)."""
        if self.log is None:
            raise InputError(
                "this state does not keep posts, so single ones cannot be deleted from it; score "
                "again with sottovoce assess --keep-posts, or without the post."
            )
        row = self.users.row(user)
        posts = self.log.all()
        own = posts.take(np.flatnonzero(posts.users == row))
        if missing := sum(time not in own.times for time in set(times)):
            raise InputError(f"the user has no post at {missing} of the times given.")
        kept = own.take(np.flatnonzero(~np.isin(own.times, np.array(list(times), np.int64))))
        others = self.drop_user(user)
        if kept.users.size:
            new = others.rows(pa.array([user]))
            instants = pa.array(kept.times).cast(pa.timestamp("us", "UTC"))
            buckets = self.header.bucket.numbers(instants)
            others.add_post_values(kept._replace(users=np.full(kept.users.size, new[0])), buckets)
        return others

    def drop_user(self, user: str) -> "State":
        """The state as if ``user`` had never posted; they must be in it."""
        row = self.users.row(user)
        if row is None:
            raise InputError("the user is not in this state.")
        return self.select_users(np.delete(np.arange(len(self)), row))

    def sort_users(self) -> "State":
        """The same with users in the order of their ids: equal posts give equal arrays."""
        order = pc.sort_indices(self.users.names()).to_numpy().astype(np.int64)
        return self.select_users(order)

    def _space(self, name: str) -> BestBuckets:
        if name not in self.spaces:
            raise ParameterError(
                f"this state holds no strengths in the space {name}; score again with a {name} "
                "measure."
            )
        return self.spaces[name]


def check_apart(first: frozenset[str], second: frozenset[str]) -> None:
    """Refuse to fold two states together that were made from the same file."""
    if repeated := len(first & second):
        raise InputError(
            f"the states overlap: {repeated} of their inputs are the same, so posts would count "
            "twice."
        )


def merge(first: State, second: State) -> State:
    """The state of all posts from the states of two parts; neither is changed."""
    merged = State(first.header)
    merged.fold(first)
    merged.fold(second)
    return merged


def merge_all(states: Sequence[State]) -> State:
    """The state of all posts from the states of any number of parts.

    >>> from sottovoce.assess import Scoring
    >>> from sottovoce.corpus import open_posts
    >>> from sottovoce.topics import BagOfWords, Catalogue, Topic
    >>> scoring = Scoring(Catalogue((Topic("debt", ("loan",), "money"),)), [BagOfWords()])
    >>> parts = [[("ada", "2024-01-01", "a loan")], [("ben", "2024-01-02", "the sea")]]
    >>> merge_all([scoring.state_of(open_posts(part)) for part in parts])
    State(users=2, posts=2, topics=1)
    """
    return reduce(merge, states)
