"""Posts in, a ranking out: what ``sottovoce assess`` does, as one call."""

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Protocol, TypeAlias, cast

from sottovoce.assess.alerts import Alerts, check_alerts
from sottovoce.assess.background import (
    measure_explained,
    measures_asked,
    model_folder,
    topics_asked,
    with_background,
)
from sottovoce.assess.checkpoints import EVERY_S, alone_with, checkpoint_of
from sottovoce.assess.explain.explain import Question, explain
from sottovoce.assess.explain.explanation import Explanation, UserPosts
from sottovoce.assess.given_posts import Notices, files_beside, fold_posts, language_warning
from sottovoce.assess.job import Assessment, Request
from sottovoce.assess.ranking import Ranking, ranking_of
from sottovoce.assess.setting import Bucket, Setting
from sottovoce.corpus.read.corpus import Corpus, Source, Sources, open_posts
from sottovoce.corpus.read.guessed import keep_reading, warned_reading
from sottovoce.corpus.read.tally import ReadOptions, Tallied, named_columns
from sottovoce.corpus.schema import POSTS
from sottovoce.errors import InputError, ParameterError
from sottovoce.files import FilePath, refuse_overlap
from sottovoce.topics.catalogue import Catalogue, Topic
from sottovoce.topics.load import load_model
from sottovoce.topics.space import Mode, Space

_NEVER = "there is nothing to rank: give posts, or a state that holds some."


class TopicLike(Protocol):
    """A topic as a catalogue or a simulated community has it."""

    @property
    def name(self) -> str: ...
    @property
    def words(self) -> tuple[str, ...]: ...
    @property
    def domain(self) -> str: ...
    @property
    def sensitive(self) -> bool: ...


Topics: TypeAlias = Catalogue | FilePath | Iterable[TopicLike]
"""A catalogue, its file, or topics."""
Models: TypeAlias = Space | FilePath | Sequence[Space | FilePath]
"""A model or its folder, or several."""


@dataclass(frozen=True)
class _RankedPosts:
    """The posts and the state of a ranking, for what is asked of it next."""

    assessment: Assessment
    posts: Corpus | None
    state_file: Path | None
    topics: tuple[str, ...] | None
    told: ReadOptions

    def explain(
        self,
        user: str,
        topic: str,
        measure: str | None,
        *,
        posts: Sources | None,
        without: Sequence[int],
        most: int,
    ) -> Explanation:
        if self.posts is None and posts is None:
            raise ParameterError(
                "a ranking of a state alone does not know the posts; give the posts that it was "
                "made from: posts=."
            )
        held, own_posts = self.assessment.state, UserPosts(user)
        ranked, scoring = self.assessment.measures, self.assessment.scoring
        held.column(topic)
        named = measure_explained(measure, self.state_file, tuple(ranked))
        if named not in ranked:
            raise ParameterError(f"measure must be one of {', '.join(ranked)}, got {measure!r}.")
        for opened in [self.posts] if posts is None else map(self._opened, _each(posts)):
            for _ in own_posts.passing(opened or ()):
                pass
        asked = Question(user, topic, ranked[named], self.assessment.setting)
        return explain(held, scoring, own_posts, asked, without=tuple(without), most=most)

    def _opened(self, posts: Source) -> Corpus:
        reading = warned_reading(posts, POSTS, self.told, beside=self.state_file, stacklevel=6)
        return open_posts(posts, options=reading)

    def alerts(self, *, bands: Sequence[int], hysteresis: float, out: FilePath | None) -> Alerts:
        if self.state_file is None:
            raise ParameterError(
                "alerts need a state, which keeps who was in which band; give assess_posts a state."
            )
        return check_alerts(
            self.state_file,
            measures=tuple(self.assessment.measures),
            topics=self.topics,
            k=self.assessment.setting.k,
            m=self.assessment.setting.m,
            bands=bands,
            hysteresis=hysteresis,
            out=_path(out),
        )


def assess_posts(
    posts: Source | None,
    *,
    topics: Topics | None = None,
    model: Models | None = None,
    user: str | int = "user",
    time: str | int = "time",
    text: str | int = "text",
    measures: str | Sequence[str] | None = None,
    topic: str | Sequence[str] | None = None,
    k: float = 0.3,
    m: int = 3,
    bucket: str | None = None,
    mode: Mode | None = None,
    state: FilePath | None = None,
    only_newer: bool = False,
    merge: Sequence[FilePath] = (),
    keep_buckets: int | None = None,
    keep_posts: bool | None = None,
    clean: bool | None = None,
    checkpoint: FilePath | None = None,
    checkpoint_every: float = EVERY_S,
    resume: bool = False,
    out: FilePath | None = None,
    reading: ReadOptions = ReadOptions(),  # noqa: B008 - frozen
) -> Ranking:
    """Rank the users of a community by how exposed they are on its sensitive topics.

    What ``sottovoce assess`` does. The bag of words is always there; other measures need a model.

    >>> import sottovoce as sv
    >>> community = sv.simulate(users=60, weeks=2, background_documents=1)
    >>> posts = community.posts.rename_columns(["author", "created_at", "body"])
    >>> ranking = sv.assess_posts(
    ...     posts, user="author", time="created_at", text="body",
    ...     topics=community.topics, measures="bow-t",
    ... )
    >>> ranking
    Ranking(users=60, measures=1, topics=5)
    >>> why = ranking.explain("u07", "pregnancy")
    >>> why.position.users
    60

    Args:
        posts: a file's path, a data frame of pandas, polars or Arrow, or rows as dictionaries or
            as tuples (user, time, text); None ranks what is in the ``state``.
        topics: the catalogue: a TOML file's path, a `Catalogue`, or topics; None takes the shipped
            one (``sottovoce.topics.shipped_catalogue``). A state has its own.
        model: the adversary's background knowledge: a model or its folder, or several.
        user: the column of the user; likewise ``time`` and ``text``. Without a column of that name
            it is guessed, with a warning that says which and why, or a question.
        time: the column of the time.
        text: the column of the text.
        measures: names such as "voice-t,ent", or a list; "recommended"; "paper" or "all": the
            paper's that the models allow. None: as the state was last ranked, else "bow-t", and
            "all" with a ``model``, ``topics`` or ``merge``.
        topic: the topic or topics to rank by; None: as the state was last ranked, else the
            sensitive ones.
        k: the share of a domain that a broad interest covers.
        m: the number of time buckets that a lasting interest covers.
        bucket: days, weeks or months: "1d", "1w" (the default), "1mo".
        mode: "corrected" (the default), or "paper"; a state has its own.
        state: file that keeps what is needed to add posts later; what it holds is ranked too.
        only_newer: add only posts later than the newest that the state has counted.
        merge: files with the state of other parts of the posts, to fold in.
        keep_buckets: the largest m that a new state allows.
        keep_posts: keep each post's scores in a new state, so that single posts can be deleted.
        clean: score posts without quotes, HTML, URLs and signatures, and leave out authors such as
            [deleted] and bots; None: yes, but not in the paper's mode. A state has its own.
        checkpoint: folder for what is done so far, from which ``resume`` goes on.
        checkpoint_every: seconds between two checkpoints.
        resume: go on from the checkpoint.
        out: file for the ranks, readable by you only: .csv, .jsonl, or else Parquet.
        reading: how a file is read: format, header, time zone, encoding.
    """
    told = named_columns(reading, user=user, time=time, text=text)
    state_file, folder, ranks_file = _path(state), _path(checkpoint), _path(out)
    parts = [Path(part) for part in merge]
    given = [posts, topics, *parts, *_several(model)]
    inputs = [Path(each) for each in given if isinstance(each, str | PathLike)]
    refuse_overlap((ranks_file, state_file), (*inputs, *files_beside(state_file, ranks_file)))
    if only_newer and state_file is None:
        raise ParameterError("only_newer needs a state, which knows the newest post.")
    has_others = bool(model or topics or parts)
    request = Request(
        measures=measures_asked(_names(measures), state_file, has_others=has_others),
        setting=Setting(k, m, mode or "corrected"),
        mode=mode,
        catalogue=None if topics is None else catalogue_of(topics),
        spaces=models_of(model),
        topics=topics_asked(_names(topic), state_file),
        bucket=None if bucket is None else Bucket.parse(bucket),
        kept=keep_buckets,
        posts=keep_posts,
        clean=clean,
    )
    checkpoints = checkpoint_of(folder, checkpoint_every, resume)
    beside = state_file or ranks_file
    with alone_with(state_file, folder):
        options, opened = told, None
        if posts is not None:
            options = warned_reading(posts, POSTS, told, beside=beside)
            opened = open_posts(posts, options=options)
            if warning := language_warning(request, state_file, posts, options):
                warnings.warn(warning, stacklevel=2)
        request, learnt = with_background(request, opened, state_file, _NOTICES.warn)
        assessment = Assessment(request, state_file, checkpoints=checkpoints)
        if opened is not None:
            fold_posts(assessment, posts, opened, options, _NOTICES, only_newer=only_newer)
        for part in parts:
            assessment.merge(part)
        if not assessment.users:
            raise ParameterError(_NEVER)
        ranks = list(assessment.ranks())
        if learnt is not None and state_file is not None:
            learnt.save(model_folder(state_file))
        assessment.save(ranks_file, ranks)
        if beside is not None:
            keep_reading(beside, options, told)
    return ranking_of(ranks, _RankedPosts(assessment, opened, state_file, request.topics, told))


def _warn_of_rows(posts: Tallied) -> None:
    if left_out := posts.tally.left_out:
        rows = posts.tally.rows_read
        warnings.warn(f"posts were skipped, of {rows} rows: {left_out}", stacklevel=4)


# What a command tells by the way, a call keeps to itself.
_NOTICES = Notices(partial(warnings.warn, stacklevel=4), lambda _: None, _warn_of_rows)


def catalogue_of(topics: Topics) -> Catalogue:
    """The catalogue that is given in one of several ways."""
    if isinstance(topics, Catalogue):
        return topics
    if isinstance(topics, str | PathLike):
        return Catalogue.load(Path(topics))
    if isinstance(topics, Mapping) or not isinstance(topics, Iterable):
        raise _no_topics(topics)
    return Catalogue(tuple(map(_topic, topics)))


def _no_topics(given: object) -> InputError:
    return InputError(
        "topics must be a Catalogue, the path of its TOML file, or topics, each a "
        "Topic(name, words, domain, sensitive=True); "
        f"got one of type {type(given).__name__}."
    )


def _topic(topic: TopicLike) -> Topic:
    if isinstance(topic, Topic):
        return topic
    if not all(hasattr(topic, name) for name in ("name", "words", "domain", "sensitive")):
        raise _no_topics(topic)
    return Topic(topic.name, topic.words, topic.domain, topic.sensitive)


def models_of(model: Models | None) -> tuple[Space, ...]:
    """The models that are given, or whose folders are."""
    return tuple(map(_space, _several(model)))


def _several(model: Models | None) -> Sequence[Space | FilePath]:
    if model is None:
        return ()
    return model if isinstance(model, list | tuple) else (model,)


def _space(model: "Space | FilePath") -> Space:
    return load_model(Path(model)) if isinstance(model, str | PathLike) else model


def _each(posts: Sources) -> Sequence[Source]:
    """One source of posts, or several; rows are one."""
    several = isinstance(posts, list | tuple) and not isinstance(posts[0], dict | list | tuple)
    return cast("Sequence[Source]", posts if several else [posts])


def _names(written: str | Sequence[str] | None) -> tuple[str, ...] | None:
    if written is None:
        return None
    names = written.split(",") if isinstance(written, str) else written
    return tuple(name.strip() for name in names)


def _path(given: FilePath | None) -> Path | None:
    return None if given is None else Path(given)
