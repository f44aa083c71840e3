"""Assessing files: posts in, ranks and state out, all or nothing."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa

from sottovoce.assess.api import plan_scoring
from sottovoce.assess.buckets import Bucket
from sottovoce.assess.header import M_KEPT, Header
from sottovoce.assess.measures.catalogue import Measure, chosen_measures
from sottovoce.assess.ranking import rank_batches, write_ranks
from sottovoce.assess.scoring import Scoring, named_spaces
from sottovoce.assess.setting import Setting
from sottovoce.assess.state import State
from sottovoce.assess.state_file import input_fingerprint, load_state, write_state
from sottovoce.errors import InputError, ParameterError
from sottovoce.files import whole_file
from sottovoce.topics.bow import BagOfWords
from sottovoce.topics.catalogue import Catalogue
from sottovoce.topics.space import Space


@dataclass(frozen=True)
class Request:
    """What is to be ranked and how.

    What is None is taken from the state, or has its default where there is no state yet.
    """

    measures: tuple[str, ...]
    setting: Setting = field(default_factory=Setting)
    catalogue: Catalogue | None = None
    spaces: tuple[Space, ...] = ()
    topics: tuple[str, ...] | None = None
    bucket: Bucket | None = None
    kept: int | None = None
    posts: bool | None = None


class Assessment:
    """The state of a community, and how it is updated and ranked."""

    def __init__(self, request: Request, state_file: Path | None = None) -> None:
        self._request = request
        self._file = state_file
        held = load_state(state_file) if state_file is not None and state_file.exists() else None
        if held is None:
            self.measures, scoring = _new_scoring(request)
            self._scoring: Scoring | None = scoring
            self.state = State(scoring.header)
        else:
            self.state = held
            self.measures = _held_measures(request, held)
            self._scoring = None
            _check_wishes(request, held.header)
        self._check_m()

    @property
    def scoring(self) -> Scoring:
        """How posts are scored; it needs every model the state was made with."""
        if self._scoring is None:
            self._scoring = scoring_for(self.state.header, self._request.spaces)
        return self._scoring

    def fold(self, posts: Path, batches: Iterable[pa.RecordBatch]) -> bool:
        """Fold in the posts of a file, unless these very bytes were folded in before.

        Whether they were folded in now; if not, ``batches`` were not read.
        """
        if self._file is None:
            self.scoring.fold(self.state, batches)
            return True
        mark = input_fingerprint(posts)
        if mark in self.state.inputs:
            return False
        self.scoring.fold(self.state, batches)
        self.state.inputs |= {mark}
        return True

    def merge(self, part: Path) -> None:
        """Fold in the state of another part of the posts."""
        self.state.fold(load_state(part))

    def ranks(self) -> Iterator[pa.RecordBatch]:
        """One batch for each measure and topic."""
        return rank_batches(
            self.state, self.measures, topics=self._request.topics, setting=self._request.setting
        )

    def save(self, out: Path) -> list[dict[str, object]]:
        """Write ranks and state: both are finished before the first gets its name."""
        ranked = {
            "measures": list(self.measures),
            "k": self._request.setting.k,
            "m": self._request.setting.m,
        }
        with ExitStack() as files:
            if self._file is not None:
                held = files.enter_context(whole_file(self._file, private=True))
                write_state(held, self.state, ranked)
            return write_ranks(files.enter_context(whole_file(out, private=True)), self.ranks())

    def _check_m(self) -> None:
        kept, m = self.state.header.kept, self._request.setting.m
        if any(measure.buckets for measure in self.measures.values()) and m > kept:
            raise ParameterError(
                f"m must be <= {kept}, the number of buckets the state keeps, got {m}; score anew "
                "and keep more."
            )


def scoring_for(header: Header, spaces: Sequence[Space]) -> Scoring:
    """How to score more posts for a state with this header; it must fit exactly."""
    bow = BagOfWords()
    given: dict[str, Space] = {bow.name: bow, **named_spaces(spaces)}
    if missing := sorted(set(header.spaces) - set(given)):
        raise InputError(
            f"the state holds strengths in {', '.join(missing)}: new posts need that model too; "
            "give it with --model."
        )
    scoring = Scoring(
        header.catalogue,
        [given[name] for name in header.spaces],
        words=None if header.salient is None else bow.scorer(header.catalogue),
        bucket=header.bucket,
        kept=header.kept,
        mode=header.mode,
        posts=header.posts,
    )
    header.check_same(scoring.header)
    return scoring


def _new_scoring(request: Request) -> tuple[dict[str, Measure], Scoring]:
    if request.catalogue is None:
        raise ParameterError("a catalogue of topics is needed; give it with --topics.")
    return plan_scoring(
        request.catalogue,
        request.spaces,
        request.measures,
        bucket=request.bucket or Bucket(1, "w"),
        kept=max(request.setting.m, request.kept or M_KEPT),
        mode=request.setting.mode,
        posts=bool(request.posts),
    )


def _held_measures(request: Request, held: State) -> dict[str, Measure]:
    """The measures asked for, all of which the state must allow."""
    if held.words is None and request.measures == ("all",):
        chosen = chosen_measures(("all",), tuple(held.spaces))
        return {name: each for name, each in chosen.items() if each.space is not None}
    chosen = chosen_measures(request.measures, tuple(held.spaces))
    if any(measure.space is None for measure in chosen.values()):
        held.word_use()
    return chosen


def _check_wishes(request: Request, header: Header) -> None:
    """Refuse what contradicts the state."""
    if request.catalogue is not None and request.catalogue != header.catalogue:
        raise InputError("the catalogue is not the one the state was made with; score anew.")
    wishes = {
        "bucket": (request.bucket, header.bucket),
        "mode": (request.setting.mode, header.mode),
        "number of buckets kept": (request.kept, header.kept),
        "option to keep posts": (request.posts, header.posts),
    }
    for what, (asked, held) in wishes.items():
        if asked is not None and asked != held:
            raise InputError(
                f"the state was made with the {what} {held}, got {asked}; score anew, or ask for "
                f"{held}."
            )
