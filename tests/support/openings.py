"""What a curious coordinator sees of a training in the open mode: the sums that it opens."""

from collections.abc import Mapping
from typing import Any, NamedTuple
from unittest import mock

import numpy as np
from numpy.typing import NDArray

from sottovoce.learn.modes import open as open_training
from sottovoce.learn.openings import OpenedWords
from sottovoce.learn.openings import Opening as Remembered
from sottovoce.learn.ridge import ExampleSums
from sottovoce.learn.run.party import run_in_process
from sottovoce.learn.run.terms import Holdings, RunTerms


class Opening(NamedTuple):
    """The sums of one training, over the columns that were kept."""

    sums: ExampleSums
    kept: NDArray[np.bool_]

    def product(self, one: int, other: int) -> float:
        """The sum of one column times another, by their places before any was dropped."""
        at = np.cumsum(self.kept) - 1
        return float(self.sums.products[at[one], at[other]])


class MemoryInProcess:
    """A memory that ends with the process."""

    def __init__(self) -> None:
        self._kept: dict[bytes, Remembered] = {}
        self._words: dict[bytes, OpenedWords] = {}
        self._among: set[tuple[bytes, bytes, tuple[str, ...]]] = set()
        self._keys: dict[bytes, bytes] = {}
        self._evaluated: dict[tuple[bytes, bytes], frozenset[bytes]] = {}

    def earlier(self, session: bytes) -> tuple[Remembered, ...]:
        """All openings but that of this run."""
        return tuple(opening for run, opening in self._kept.items() if run != session)

    def remember(self, session: bytes, opening: Remembered) -> None:
        """Keep what this run opens."""
        self._kept.setdefault(session, opening)

    def opened_words(self, session: bytes) -> tuple[OpenedWords, ...]:
        """Of which columns other runs have opened sums."""
        return tuple(opened for run, opened in self._words.items() if run != session)

    def note_opened_words(self, session: bytes, opened: OpenedWords) -> None:
        """Keep of which columns this run opens sums."""
        self._words.setdefault(session, opened)

    def evaluated_documents(self, session: bytes, training: bytes) -> tuple[frozenset[bytes], ...]:
        """The documents of other evaluations of a training."""
        found = self._evaluated.items()
        return tuple(each for (run, of), each in found if run != session and of == training)

    def note_evaluated(self, session: bytes, training: bytes, documents: frozenset[bytes]) -> None:
        """Keep which documents this evaluation counts."""
        self._evaluated[session, training] = documents

    def same_word_key(self, peers: bytes, key: bytes) -> bool:
        """Whether these peers had this key for their words before, if any."""
        return self._keys.setdefault(peers, key) == key

    def peers_among(self, session: bytes, what: bytes) -> tuple[tuple[str, ...], ...]:
        """Among whom other runs have opened sums of ``what``."""
        found = (each for each in self._among if each[0] != session and each[1] == what)
        return tuple(peers for _, _, peers in found)

    def note_among(self, session: bytes, what: bytes, peers: tuple[str, ...]) -> None:
        """Keep among whom this run opens a sum."""
        self._among.add((session, what, peers))


def opened(terms: RunTerms, holdings: Mapping[str, Holdings]) -> Opening:
    """Run a training, and look over the coordinator's shoulder."""
    seen: list[Opening] = []
    solve = open_training.solved_statistics

    def looking(total: Any, terms: Any, kept: Any, standard: Any) -> Any:  # noqa: ANN401 - as there
        sums = ExampleSums.from_vector(total, kept.width)
        seen.append(Opening(sums, kept.kept))
        return solve(total, terms, kept, standard)

    with mock.patch.object(open_training, "solved_statistics", looking):
        run_in_process(terms, holdings)
    (opening,) = seen
    return opening
