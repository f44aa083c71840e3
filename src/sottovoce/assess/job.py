"""Assessing files: posts in, ranks and state out, all or nothing.

A ``Request`` says what is wanted; an ``Assessment`` checks that the state at hand allows it, folds
posts in, ranks and saves.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import pyarrow as pa

from sottovoce.assess._newer import PostTimes
from sottovoce.assess.checkpoints import CheckpointedFold, CheckpointOptions
from sottovoce.assess.measures.catalogue import GROUPS, RECOMMENDED, chosen_measures
from sottovoce.assess.measures.measure import Measure
from sottovoce.assess.ranking import RankedTopicUsers, rank_batches
from sottovoce.assess.ranks_file import write_ranks
from sottovoce.assess.scores import Scoring, plan_scoring
from sottovoce.assess.setting import Bucket, Setting
from sottovoce.assess.state.header import M_KEPT, StateHeader, fingerprint_of
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
from sottovoce.errors import InputError, ParameterError
from sottovoce.files import whole_file
from sottovoce.topics.catalogue import Catalogue
from sottovoce.topics.shipped.rules import shipped_catalogue
from sottovoce.topics.space import BagOfWords, Mode, Space, spaces_of_models


@dataclass(frozen=True)
class Request:
    """What is to be ranked and how.

    What is None is taken from the state, or has its default where there is no state yet; the mode
    too, unless ``mode`` or ``setting`` names another than the default.
    """

    measures: tuple[str, ...]
    setting: Setting = field(default_factory=Setting)
    catalogue: Catalogue | None = None
    spaces: tuple[Space, ...] = ()
    topics: tuple[str, ...] | None = None
    bucket: Bucket | None = None
    kept: int | None = None
    posts: bool | None = None
    mode: Mode | None = None
    clean: bool | None = None


def scoring_for(header: StateHeader, spaces: Sequence[Space]) -> Scoring:
    """How to score more posts for a state with this header; it must fit exactly."""
    bow = BagOfWords()
    given: dict[str, Space] = {bow.name: bow, **spaces_of_models(spaces)}
    if missing := sorted(set(header.spaces) - set(given)):
        raise InputError(
            f"the state holds strengths in {', '.join(missing)}: new posts need that model too; "
            "give it (on the command line: --model)."
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


def new_scoring(request: Request, setting: Setting) -> tuple[dict[str, Measure], Scoring]:
    """How to score the posts of a state that is not there yet."""
    return plan_scoring(
        shipped_catalogue() if request.catalogue is None else request.catalogue,
        request.spaces,
        request.measures,
        bucket=request.bucket or Bucket(1, "w"),
        kept=max(setting.m, request.kept or M_KEPT),
        mode=setting.mode,
        posts=bool(request.posts),
        clean=cleaning_asked(request, setting.mode),
    )


def cleaning_asked(request: Request, mode: Mode) -> bool:
    """Whether posts of a new state are cleaned: unless told otherwise, or as the paper did."""
    if mode == "paper":
        if request.clean:
            raise ParameterError("the paper's mode scores posts as they are, not cleaned.")
        return False
    return request.clean is not False


def mode_asked(request: Request) -> Mode | None:
    """The mode that was asked for by name."""
    if request.mode is None and request.setting.mode != Setting().mode:
        return request.setting.mode
    return request.mode


def held_measures(request: Request, held: State) -> dict[str, Measure]:
    """The measures asked for, all of which the state must allow."""
    if request.measures == ("all",) and held.words is None and set(held.spaces) == {"voice"}:
        return chosen_measures(RECOMMENDED[:1], tuple(held.spaces))
    if held.words is None and set(request.measures) <= GROUPS.keys():
        chosen = chosen_measures(request.measures, tuple(held.spaces))
        return {name: each for name, each in chosen.items() if each.space is not None}
    chosen = chosen_measures(request.measures, tuple(held.spaces))
    if any(measure.space is None for measure in chosen.values()):
        held.word_use()
    if any(measure.word_buckets for measure in chosen.values()):
        held.word_buckets_kept()
    return chosen


def check_wishes(request: Request, header: StateHeader) -> None:
    """Refuse what contradicts the state."""
    if request.catalogue is not None and request.catalogue != header.catalogue:
        raise InputError("the catalogue is not the one the state was made with; score again.")
    wishes = {
        "bucket": (request.bucket, header.bucket),
        "mode": (mode_asked(request), header.mode),
        "number of buckets kept": (request.kept, header.kept),
        "option to keep posts": (request.posts, header.posts),
        "option to clean posts": (request.clean, bool(header.clean)),
    }
    for what, (asked, held) in wishes.items():
        if asked is not None and asked != held:
            raise InputError(
                f"the state was made with the {what} {held}, got {asked}; score again, or ask for "
                f"{held}."
            )


class Assessment:
    """The state of a community, and how it is updated and ranked.

    What was kept of it is not read until somebody wants to know of all users: adding posts costs
    what they cost.
    """

    def __init__(
        self,
        request: Request,
        state_file: Path | None = None,
        *,
        checkpoints: CheckpointOptions | None = None,
        to_save: bool = True,
    ) -> None:
        """With ``to_save`` the caller lets nobody else update the state, see ``only_one``.

        Without, all of it is read at once, and may be updated meanwhile.
        """
        self._request = request
        self._file = state_file
        self._checkpoints = checkpoints
        self._setting = request.setting
        self._kept: KeptState | None = None
        self._whole: State | None = None
        self.times = PostTimes()
        """The newest post counted, and which of those added are no later."""
        if state_file is None or not state_file.exists():
            self._setting = replace(request.setting, mode=mode_asked(request) or "corrected")
            self.measures, scoring = new_scoring(request, self._setting)
            self._scoring: Scoring | None = scoring
            self.added = State(scoring.header)
            """What came to the state since it was opened."""
        else:
            self._kept = KeptState.open(state_file) if to_save else None
            self.added = State(self._kept.header) if self._kept else load_state(state_file)
            self.times = PostTimes(self._kept.ranked.get("newest") if self._kept else None)
            self.measures = held_measures(request, self.added)
            self._scoring = None
            check_wishes(request, self.added.header)
            self._setting = replace(request.setting, mode=self.added.header.mode)
        self.added.header.catalogue.named(request.topics or ())
        self._check_m()

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
    def setting(self) -> Setting:
        """How strengths become risks, the state's mode included."""
        return self._setting

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
        if self._file is None and self._checkpoints is None:
            self.scoring.fold(self.added, batches)
            return True
        mark = posts_fingerprint(batches) if posts is None else input_fingerprint(posts)
        if mark in self.inputs:
            return False
        batches = self.times.noting(batches)
        if self._checkpoints is None:
            self.scoring.fold(self.added, batches)
        else:
            self._fold_with_checkpoints(self._checkpoints, batches, mark, how)
        self.added.inputs |= {mark}
        return True

    def _fold_with_checkpoints(
        self,
        checkpoints: CheckpointOptions,
        batches: Iterable[pa.RecordBatch],
        mark: str,
        how: object,
    ) -> None:
        header, kept = self.scoring.header, self._kept
        before = (
            sorted(self.inputs),
            [0, 0] if kept is None else [kept.users, kept.posts],
            [len(self.added), int(self.added.posts.sum())],
        )
        request = fingerprint_of(header.to_record(), before, mark, repr(how))
        checkpointed = CheckpointedFold(checkpoints, request)
        found = checkpointed.resumed()
        if found is not None:
            self.added = found[0]
        checkpointed.fold(self.scoring, self.added, batches, 0 if found is None else found[1])

    def merge(self, part: Path) -> None:
        """Fold in the state of another part of the posts."""
        other = load_state(part)
        check_apart(self.inputs, other.inputs)
        self.times.also(load_ranked(part).get("newest"))
        self._whole = None
        self.added.fold(other)

    def ranks(self) -> Iterator[RankedTopicUsers]:
        """The users by each measure for each topic."""
        return rank_batches(
            self.state, self.measures, topics=self._request.topics, setting=self._setting
        )

    def save(
        self,
        out: Path | None,
        ranks: Sequence[RankedTopicUsers] | None = None,
        *,
        shown: bool = False,
    ) -> list[dict[str, object]]:
        """Write ranks, if they are wanted, and state: both are finished before one gets its name.

        ``ranks`` are given where they were worked out already, and ``shown`` where they will be.
        What was kept to resume from is removed.
        """
        known = out is not None or ranks is not None or shown
        ranked = self._ranked(known=known)
        try:
            with ExitStack() as files:
                if self._file is not None:
                    files.enter_context(self._growing(self._file, ranked, known=known))
                summary = []
                if out is not None:
                    named = files.enter_context(whole_file(out, private=True))
                    ranked_users = self.ranks() if ranks is None else ranks
                    summary = write_ranks(named, ranked_users, out.suffix)
        finally:
            if self._file is not None:
                remove_unnamed(self._file)
        if self._checkpoints is not None:
            self._checkpoints.checkpoint.clear()
        if self._file is not None:
            self._begin_from(self._file)
        return summary

    def bands(self) -> list[dict[str, object]]:
        """How many users are in each band, where no file of ranks is wanted."""
        return [ranked.summary for ranked in self.ranks()]

    def pack(self) -> None:
        """Bring the state into one file."""
        if self._file is not None:
            save_state(self._file, self.state, self._ranked(known=False))
            self._begin_from(self._file)

    def _begin_from(self, file: Path) -> None:
        """What was added is kept now."""
        if self._kept is None:
            self._whole = self.added
        self._kept = KeptState.open(file)
        self.added = State(self._kept.header)
        self.times = PostTimes(self.times.newest)

    @contextmanager
    def _growing(self, file: Path, ranked: Mapping[str, object], *, known: bool) -> Iterator[None]:
        """Write the state, which gets its name as the block ends."""
        if self._kept is None:
            with whole_file(file, private=True) as temporary:
                write_state(temporary, self.added, ranked)
                yield
        elif self.added.inputs or len(self.added) or ranked != self._kept.ranked:
            whole = self.state if known else None
            with self._kept.adding(self.added, ranked, whole):
                yield
        else:
            yield

    def _ranked(self, *, known: bool) -> Mapping[str, object]:
        """How the state was last ranked, which later runs go by; ``known``: it is ranked now.

        And when the newest post was written, where posts of known times were added.
        """
        newest = {} if self.times.newest is None else {"newest": self.times.newest}
        if not known and self._kept is not None:
            return {**self._kept.ranked, **newest}
        setting, topics = self._setting, self._request.topics
        asked = {} if topics is None else {"topics": list(topics)}
        return {
            "measures": list(self.measures),
            "k": setting.k,
            "m": setting.m,
            **asked,
            **newest,
        }

    def _check_m(self) -> None:
        kept, m = self.added.header.kept, self._setting.m
        if any(measure.buckets for measure in self.measures.values()) and m > kept:
            raise ParameterError(
                f"m must be <= {kept}, the number of buckets the state keeps, got {m}; score again "
                "and keep more."
            )


__all__ = ["Assessment", "Request", "scoring_for"]
