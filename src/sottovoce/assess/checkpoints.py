"""How far a long assessment has come, on disk: a crash or Ctrl-C loses only what came after.

A checkpoint is the state after some whole batches of posts, with their number. It is taken up by
the same request only: the same bytes of posts, read alike and scored alike, onto the same state.
Then these batches are read but not scored again, and each batch is counted once.
"""

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import pyarrow as pa

from sottovoce.assess.scores import Scoring
from sottovoce.assess.state.parts import load_state, write_state
from sottovoce.assess.state.state import State
from sottovoce.errors import CorpusError, ParameterError
from sottovoce.files import check_folder, only_one, output_folder
from sottovoce.topics.checkpoint import Checkpoint

EVERY_S = 60.0
SHARE_OF_TIME = 0.05


@dataclass(frozen=True)
class CheckpointOptions:
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


def checkpoint_of(folder: Path | None, every_s: float, resume: bool) -> CheckpointOptions | None:
    """Where checkpoints are kept, if anywhere; a folder that cannot be is refused at once."""
    if folder is None:
        if resume:
            raise ParameterError(
                "resume needs a checkpoint (--checkpoint FOLDER), the one to go on from."
            )
        return None
    check_folder(folder)
    return CheckpointOptions(folder, resume, every_s)


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


class CheckpointedFold:
    """One file of posts being folded in, with checkpoints on the way."""

    def __init__(
        self, options: CheckpointOptions, request: str, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._files = options.checkpoint
        self._every_s = options.every_s
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
