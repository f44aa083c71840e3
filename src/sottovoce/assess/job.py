"""Assessing files: posts in, ranks and state out, all or nothing."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from sottovoce.assess.measures.catalogue import GROUPS, RECOMMENDED, chosen_measures, plan_scoring
from sottovoce.assess.measures.measure import Measure
from sottovoce.assess.ranking import RankedTopicUsers, rank_batches
from sottovoce.assess.ranks_file import write_ranks
from sottovoce.assess.request import AssessRequest
from sottovoce.assess.scores import Scoring
from sottovoce.assess.setting import M_KEPT, Bucket, StateHeader, fingerprint_of
from sottovoce.assess.state.parts import (
    KeptState,
    input_fingerprint,
    load_ranked,
    load_state,
    posts_fingerprint,
    remove_unnamed,
    save_state,
    write_state,
)
from sottovoce.assess.state.state import State, check_apart
from sottovoce.errors import CorpusError, InputError, ParameterError
from sottovoce.files import whole_file
from sottovoce.topics.space import BagOfWords, Space, spaces_of_models
from sottovoce.topics.training import Checkpoint

SHARE_OF_TIME = 0.05
_ONE_SECOND = 1_000_000
_TWICE = (
    "Posts that it had counted before now count twice, and nothing can undo this: go back to a "
    "copy of the state, or start it again. If an export repeats old posts, sottovoce assess "
    "--only-newer adds only the new ones."
)


def scoring_for(header: StateHeader, spaces: Sequence[Space]) -> Scoring:
    """How to score more posts for a state with this header; it must fit exactly."""
    bow = BagOfWords()
    given: dict[str, Space] = {bow.name: bow, **spaces_of_models(spaces)}
    if missing := sorted(set(header.spaces) - set(given)):
        raise InputError(
            f"the state holds strengths in {', '.join(missing)}: new posts need that model too; "
            "give it (--model)."
        )
    scoring = Scoring(
        header.catalogue,
        [given[name] for name in header.spaces],
        words=None if header.salient is None else bow.scorer(header.catalogue),
        bucket=header.bucket,
        kept=header.kept,
        mode=header.mode,
        posts=header.posts,
        clean=bool(header.clean),
        word_buckets=header.word_buckets,
    )
    header.check_same(scoring.header)
    return scoring


def _plan_new_state(request: AssessRequest) -> tuple[dict[str, Measure], Scoring]:
    """How to score the posts of a state that is not there yet."""
    return plan_scoring(
        request.catalogue,
        request.spaces,
        request.measure_names,
        bucket=request.length or Bucket(1, "w"),
        kept=max(request.m, request.keep_buckets or M_KEPT),
        mode=request.setting.mode,
        posts=bool(request.keep_posts),
        clean=request.cleans_posts(),
    )


def _choose_held_measures(names: tuple[str, ...], held: State) -> dict[str, Measure]:
    """The measures called ``names``, all of which the state must allow."""
    if names == ("all",) and held.words is None and set(held.spaces) == {"voice"}:
        return chosen_measures(RECOMMENDED[:1], tuple(held.spaces))
    chosen = chosen_measures(names, tuple(held.spaces))
    if held.words is None and set(names) <= GROUPS.keys():
        return {name: each for name, each in chosen.items() if each.space is not None}
    if any(measure.space is None for measure in chosen.values()):
        held.word_use()
    if any(measure.word_buckets for measure in chosen.values()):
        held.word_buckets_kept()
    return chosen


class PostTimes:
    """The newest post counted, in microseconds since 1970, and how many come that are no later.

    Posts before the newest may count twice.
    """

    def __init__(self, before: int | None = None) -> None:
        """``before``: the newest post that the state had counted; None: it does not know."""
        self.before = before
        self.newest = before
        self.read = 0
        self.not_newer = 0

    def note_batches(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The same batches; their times are noted on the way."""
        for batch in batches:
            self.read += batch.num_rows
            times = _microseconds(batch)
            self.note_newest(pc.max(times).as_py())
            if self.before is not None:
                self.not_newer += pc.sum(pc.less_equal(times, self.before), min_count=0).as_py()
            yield batch

    def drop_older(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Only the posts that are later than the newest counted before; the others are counted."""
        for batch in batches:
            if self.before is None:
                yield batch
                continue
            newer = pc.greater(_microseconds(batch), self.before)
            kept = batch.filter(newer)
            self.not_newer += batch.num_rows - kept.num_rows
            yield kept

    def note_newest(self, newest: int | None) -> None:
        """Count a post of that time, or posts up to it."""
        if newest is not None:
            self.newest = newest if self.newest is None else max(self.newest, newest)

    def warning(self, held: int) -> str:
        """What to say of posts that may be in the state already, which held so many; else empty."""
        if self.not_newer:
            seconds = (self.before or 0) // _ONE_SECOND
            shown = datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
            return (
                f"WARNING: {self.not_newer:,} OF {self.read:,} POSTS ARE NO LATER THAN THE NEWEST "
                f"THAT THE STATE HAD COUNTED ({shown}). {_TWICE}"
            )
        if self.before is None and held and self.read >= held:
            return (
                f"WARNING: THE FILE HAS {self.read:,} POSTS AND THE STATE HAD {held:,}: does the "
                f"file repeat them? {_TWICE}"
            )
        return ""


def _microseconds(batch: pa.RecordBatch) -> pa.Array:
    return batch["time"].cast(pa.int64())


class Assessment:
    """The state of a community, and how it is updated and ranked.

    What was kept of it is not read until somebody wants to know of all users: adding posts costs
    what they cost.
    """

    def __init__(self, request: AssessRequest, *, to_save: bool = True) -> None:
        """With ``to_save`` the caller lets nobody else update the state, see ``only_one``.

        Without, all of it is read at once, and may be updated meanwhile.
        """
        self._request, self._file = request, request.state_file
        self._kept: KeptState | None = None
        self._whole: State | None = None
        self._scoring: Scoring | None = None
        self.times = PostTimes()
        """The newest post counted, and which of those added are no later."""
        if self._file is None or not self._file.exists():
            self.measures, self._scoring = _plan_new_state(request)
            self.added = State(self._scoring.header)
            """What came to the state since it was opened."""
        else:
            self._kept = KeptState.open(self._file) if to_save else None
            self.added = State(self._kept.header) if self._kept else load_state(self._file)
            self.times = PostTimes(self._kept.last_ranking.get("newest") if self._kept else None)
            self.measures = _choose_held_measures(request.measure_names, self.added)
            request.check_state(self.added.header)
        self.setting = replace(request.setting, mode=self.added.header.mode)
        """How strengths become risks, the state's mode included."""
        self.added.header.catalogue.find_names(request.topic_names or ())
        self._check_m()

    def _check_m(self) -> None:
        kept, m = self.added.header.kept, self.setting.m
        if any(measure.buckets for measure in self.measures.values()) and m > kept:
            raise ParameterError(
                f"m must be <= {kept}, the number of buckets the state keeps, got {m}; score "
                "again and keep more buckets."
            )

    @property
    def state(self) -> State:
        """All that is known of all users."""
        if self._kept is None:
            return self.added
        if self._whole is None:
            self._whole = self._kept.load()
            self._whole.fold(self.added)
        return self._whole

    @property
    def users(self) -> int:
        """How many users there are."""
        if self._kept is None or self._whole is not None:
            return len(self.state)
        return self._kept.users_with(self.added)

    @property
    def posts(self) -> int:
        """How many posts there are."""
        return int(self.added.posts.sum()) + (0 if self._kept is None else self._kept.posts)

    @property
    def inputs(self) -> frozenset[str]:
        """Fingerprints of the files that were folded in."""
        return self.added.inputs | (frozenset() if self._kept is None else self._kept.inputs)

    @property
    def scoring(self) -> Scoring:
        """How posts are scored; it needs every model the state was made with."""
        if self._scoring is None:
            self._scoring = scoring_for(self.added.header, self._request.spaces)
        return self._scoring

    def fold(
        self, posts: Path | None, batches: Iterable[pa.RecordBatch], how: object = None
    ) -> bool:
        """Fold in the posts of a file, unless these very bytes were folded in before.

        Whether they were folded in now; if not, ``batches`` were not read. ``how`` they are read
        decides with the rest whether a checkpoint is of the same work. Posts of no file are known
        by what they hold; their batches can be read twice.
        """
        self._whole = None
        folder = self._request.checkpoint_folder
        if self._file is None and folder is None:
            self.scoring.fold(self.added, batches)
            return True
        mark = posts_fingerprint(batches) if posts is None else input_fingerprint(posts)
        if mark in self.inputs:
            return False
        batches = self.times.note_batches(batches)
        if folder is None:
            self.scoring.fold(self.added, batches)
        else:
            self._fold_with_checkpoints(folder, batches, mark, how)
        self.added.inputs |= {mark}
        return True

    def _fold_with_checkpoints(
        self, folder: Path, batches: Iterable[pa.RecordBatch], mark: str, how: object
    ) -> None:
        header, kept = self.scoring.header, self._kept
        before = (
            sorted(self.inputs),
            [0, 0] if kept is None else [kept.users, kept.posts],
            [len(self.added), int(self.added.posts.sum())],
        )
        work = fingerprint_of(header.to_record(), before, mark, repr(how))
        files = Checkpoint(folder, resume=self._request.resume)
        checkpointed = CheckpointedFold(files, work, self._request.checkpoint_every)
        found = checkpointed.load()
        if found is not None:
            self.added = found[0]
        checkpointed.fold(self.scoring, self.added, batches, 0 if found is None else found[1])

    def merge(self, part: Path) -> None:
        """Add the state made from another part of the posts."""
        other = load_state(part)
        check_apart(self.inputs, other.inputs)
        self.times.note_newest(load_ranked(part).get("newest"))
        self._whole = None
        self.added.fold(other)

    def ranks(self) -> Iterator[RankedTopicUsers]:
        """The users by each measure for each topic."""
        topics = self._request.topic_names
        return rank_batches(self.state, self.measures, topics=topics, setting=self.setting)

    def save(
        self, ranks: Sequence[RankedTopicUsers] | None = None, *, shown: bool = False
    ) -> list[dict[str, object]]:
        """Write ranks, if they are wanted, and state: both are finished before one gets its name.

        ``ranks`` are given where they were worked out already, and ``shown`` where they will be.
        What was kept to resume from is removed.
        """
        out, folder = self._request.ranks_file, self._request.checkpoint_folder
        known = out is not None or ranks is not None or shown
        ranked = self._record_ranking(known=known)
        try:
            with ExitStack() as files:
                if self._file is not None:
                    files.enter_context(self._grow(self._file, ranked, known=known))
                summary = []
                if out is not None:
                    named = files.enter_context(whole_file(out, private=True))
                    ranked_users = self.ranks() if ranks is None else ranks
                    summary = write_ranks(named, ranked_users, out.suffix)
        finally:
            if self._file is not None:
                remove_unnamed(self._file)
        if folder is not None:
            Checkpoint(folder, resume=self._request.resume).clear()
        if self._file is not None:
            self._begin_from(self._file)
        return summary

    def pack(self) -> None:
        """Bring the state into one file."""
        if self._file is not None:
            save_state(self._file, self.state, self._record_ranking(known=False))
            self._begin_from(self._file)

    def _begin_from(self, file: Path) -> None:
        """What was added is kept now."""
        if self._kept is None:
            self._whole = self.added
        self._kept = KeptState.open(file)
        self.added = State(self._kept.header)
        self.times = PostTimes(self.times.newest)

    @contextmanager
    def _grow(self, file: Path, ranked: Mapping[str, object], *, known: bool) -> Iterator[None]:
        """Write the state, which gets its name as the block ends."""
        if self._kept is None:
            with whole_file(file, private=True) as temporary:
                write_state(temporary, self.added, ranked)
                yield
        elif self.added.inputs or len(self.added) or ranked != self._kept.last_ranking:
            whole = self.state if known else None
            with self._kept.adding(self.added, ranked, whole):
                yield
        else:
            yield

    def _record_ranking(self, *, known: bool) -> Mapping[str, object]:
        """How the state was last ranked, which later runs go by; ``known``: it is ranked now.

        And when the newest post was written, where posts of known times were added.
        """
        newest = {} if self.times.newest is None else {"newest": self.times.newest}
        if not known and self._kept is not None:
            return {**self._kept.last_ranking, **newest}
        topics = self._request.topic_names
        asked = {} if topics is None else {"topics": list(topics)}
        measures = list(self.measures)
        return {"measures": measures, "k": self.setting.k, "m": self.setting.m, **asked, **newest}


class CheckpointedFold:
    """One file of posts being folded in, with checkpoints on the way.

    A checkpoint is the state after some whole batches of posts, with their number. Only the same
    work takes it up: the same bytes of posts, read alike and scored alike, onto the same state.
    These batches are then read but not scored again, and each batch is counted once. Checkpoints
    are ``every_s`` seconds apart, and further where writing takes long, so that it costs at most a
    twentieth of the time; 0: after every batch, whatever it costs.
    """

    def __init__(
        self,
        files: Checkpoint,
        work: str,
        every_s: float,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._files, self._work, self._every_s, self._now = files, work, every_s, now

    def load(self) -> tuple[State, int] | None:
        """The state of the last checkpoint and the batches in it; None to begin from the start."""
        found = self._files.find(self._work)
        return None if found is None else (load_state(found[1]), found[0])

    def fold(
        self, scoring: Scoring, state: State, batches: Iterable[pa.RecordBatch], done: int
    ) -> None:
        """Fold in all batches but the first ``done``, which are in ``state``."""
        due = self._now() + self._every_s
        left = iter(batches)
        if sum(1 for _ in islice(left, done)) < done:
            raise CorpusError("there are fewer posts now than when the checkpoint was written.")
        for _ in scoring.folding(state, left):
            done += 1
            begun = self._now()
            if begun >= due:
                self._files.write(self._work, done, lambda path: write_state(path, state))
                ended = self._now()
                pause = (ended - begun) / SHARE_OF_TIME if self._every_s else 0.0
                due = ended + max(self._every_s, pause)
