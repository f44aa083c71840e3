"""What is kept of each post, for those who want to delete single posts later without their texts.

Per post its user, its time, its strengths and which salient words it holds. Unlike the rest of the
state this grows with the number of posts, so it is kept only on request.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sottovoce.assess.state._header import StateHeader


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
