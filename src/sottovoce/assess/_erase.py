"""Erasing users from what is kept of a community.

How far a long assessment has come, on disk: a crash or Ctrl-C loses only what came after.

A checkpoint is the state after some whole batches of posts, with their number. It is taken up by
the same request only: the same bytes of posts, read alike and scored alike, onto the same state.
Then these batches are read but not scored again, and each batch is counted once.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from sottovoce._files import only_one, output_folder, whole_file
from sottovoce.assess._alerts import alerts_file, load_members
from sottovoce.assess._score import Scoring
from sottovoce.assess.state._parts import load_ranked, load_state, remove_unnamed, write_state
from sottovoce.assess.state._state import State
from sottovoce.errors import CorpusError, InputError, ParameterError
from sottovoce.topics._checkpoint import Checkpoint


def delete_posts(state_file: Path, user: str, times: Sequence[int]) -> int:
    """Drop a user's posts at ``times`` (microseconds since 1970); how many posts are left.

    Who has no post left is dropped from the alerts too.
    """
    remove_unnamed(state_file)
    state = load_state(state_file).without_posts(user, times)
    _save(state_file, state, [user] if state.users.row(user) is None else [])
    return int(state.posts.sum())


def erase_users(state_file: Path, users: Sequence[str]) -> int:
    """Drop all that is known of ``users`` from a state and its alerts; how many are left."""
    remove_unnamed(state_file)
    state = load_state(state_file)
    alerted = set(load_members(alerts_file(state_file))["user"].to_pylist())
    for user in dict.fromkeys(users):
        if state.users.row(user) is not None:
            state = state.without(user)
        elif user not in alerted:
            raise InputError("the user is not in this state, nor in its alerts.")
    _save(state_file, state, users)
    return len(state)


def _save(state_file: Path, state: State, erased: Sequence[str]) -> None:
    """Write state and alerts; both files are finished before the first gets its name.

    The state is one file then, and parts that held the erased are removed.
    """
    members_file = alerts_file(state_file)
    with ExitStack() as files:
        temporary = files.enter_context(whole_file(state_file, private=True))
        write_state(temporary, state, load_ranked(state_file))
        if erased and members_file.exists():
            members = load_members(members_file)
            named = pc.is_in(members["user"], value_set=pa.array(erased, pa.string()))
            temporary = files.enter_context(whole_file(members_file, private=True))
            pq.write_table(members.filter(pc.invert(named)), temporary, compression="zstd")
    remove_unnamed(state_file)


EVERY_S = 60.0
SHARE_OF_TIME = 0.05


@dataclass(frozen=True)
class Keeping:
    """Where checkpoints are kept and how often they are written.

    ``every_s`` seconds apart, and further where writing takes long, so that it costs at most a
    twentieth of the time; 0: after every batch, whatever it costs.
    """

    folder: Path
    resume: bool = False
    every_s: float = EVERY_S

    def __post_init__(self) -> None:
        if not self.every_s >= 0:
            raise ParameterError(
                f"checkpoints must be >= 0 seconds apart, got {self.every_s}; 0: after each batch."
            )

    @property
    def checkpoint(self) -> Checkpoint:
        """The checkpoint's files."""
        return Checkpoint(self.folder, resume=self.resume)


@contextmanager
def alone_with(state: Path | None, checkpoint: Path | None) -> Iterator[None]:
    """Let no other command update the state, nor keep where it is in the same folder."""
    with ExitStack() as held:
        if checkpoint is not None:
            output_folder(checkpoint.absolute().parent)
            held.enter_context(only_one(checkpoint))
        if state is not None:
            held.enter_context(only_one(state))
        yield


class Journey:
    """One file of posts being folded in, with checkpoints on the way."""

    def __init__(
        self, keeping: Keeping, request: str, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._files = keeping.checkpoint
        self._every_s = keeping.every_s
        self._request = request
        self._now = now

    def resumed(self) -> tuple[State, int] | None:
        """The state of the last checkpoint and the batches in it; None to begin from the start."""
        found = self._files.found(self._request)
        return None if found is None else (load_state(found[1]), found[0])

    def fold(
        self, scoring: Scoring, state: State, batches: Iterable[pa.RecordBatch], done: int
    ) -> None:
        """Fold in all batches but the first ``done``, which are in ``state``."""
        due = self._now() + self._every_s
        for _ in scoring.folding(state, _after(batches, done)):
            done += 1
            begun = self._now()
            if begun >= due:
                self._files.write(self._request, done, lambda path: write_state(path, state))
                ended = self._now()
                pause = (ended - begun) / SHARE_OF_TIME if self._every_s else 0.0
                due = ended + max(self._every_s, pause)


def _after(batches: Iterable[pa.RecordBatch], done: int) -> Iterator[pa.RecordBatch]:
    left = iter(batches)
    if sum(1 for _ in islice(left, done)) < done:
        raise CorpusError("the posts are fewer than when the checkpoint was written.")
    return left
