"""What an assessment is asked to be: its posts, its topics, its measures, its files; checked once.

`assess_posts` makes one from its keywords, ``sottovoce assess`` and ``explain`` from their options.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Protocol, Self, TypeAlias

from sottovoce.assess.alerts import alerts_file
from sottovoce.assess.measures.catalogue import GROUPS, RECOMMENDED, named_measure
from sottovoce.assess.setting import Bucket, Setting, StateHeader
from sottovoce.assess.state.parts import KeptState, earlier_folder
from sottovoce.corpus.read.corpus import Source
from sottovoce.corpus.read.guessed import kept_reading
from sottovoce.corpus.read.tally import ReadOptions, named_columns
from sottovoce.errors import InputError, ParameterError
from sottovoce.files import FilePath, check_folder, refuse_overlap
from sottovoce.topics.catalogue import Catalogue, Topic
from sottovoce.topics.load import load_model
from sottovoce.topics.shipped.rules import shipped_catalogue
from sottovoce.topics.space import Mode, Space

EVERY_S = 60.0
WITHOUT_BACKGROUND = "bow-t"
"""What a ranking goes by where nobody names a measure or gives a model.

``voice-t`` is meant for a background of others' texts. What posts at hand teach is worse than
the topics' own words: in made-up exports of 2,000 to 40,000 posts it put people who say it outright
hundreds of places further down.
"""


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
Names: TypeAlias = str | Sequence[str]
"""Names in a list, or written with commas between."""


@dataclass(frozen=True, eq=False)
class AssessRequest:
    """One assessment, as it was asked; `assess_posts` says what each keyword means."""

    posts: Source | None
    _: KW_ONLY
    topics: Topics | None = None
    model: Models | None = None
    user: str | int = "user"
    time: str | int = "time"
    text: str | int = "text"
    measures: Names | None = None
    topic: Names | None = None
    k: float = 0.3
    m: int = 3
    bucket: str | None = None
    mode: Mode | None = None
    state: FilePath | None = None
    only_newer: bool = False
    merge: Sequence[FilePath] = ()
    keep_buckets: int | None = None
    keep_posts: bool | None = None
    clean: bool | None = None
    checkpoint: FilePath | None = None
    checkpoint_every: float = EVERY_S
    resume: bool = False
    out: FilePath | None = None
    reading: ReadOptions = field(default_factory=ReadOptions)

    def __post_init__(self) -> None:
        """Refuse what cannot be meant, before anything is read."""
        if self.only_newer and self.state is None:
            raise ParameterError("only_newer needs a state, which knows the newest post.")
        if self.resume and self.checkpoint is None:
            raise ParameterError(
                "resume needs a checkpoint (--checkpoint FOLDER), the one to go on from."
            )
        if not self.checkpoint_every >= 0:
            raise ParameterError(
                f"checkpoints must be >= 0 seconds apart, got {self.checkpoint_every}; 0: after "
                "each batch."
            )
        if self.checkpoint is not None:
            check_folder(Path(self.checkpoint))
        _ = self.setting, self.length
        self.check_outputs()

    def check_outputs(self, *more: Path | None) -> None:
        """Refuse ranks, a state, or ``more``, that would be written over what is read or kept."""
        given = [self.posts, self.topics, *self.merge, *_several(self.model)]
        files = [Path(each) for each in given if isinstance(each, str | PathLike)]
        refuse_overlap((self.ranks_file, self.state_file, *more), (*files, *self._files_beside()))

    def _files_beside(self) -> list[Path]:
        """What is kept beside a state and ranks, and must not be lost."""
        kept = [kept_reading(each) for each in (self.state_file, self.ranks_file) if each]
        if (state := self.state_file) is not None:
            kept += [alerts_file(state), earlier_folder(state), model_folder(state)]
        return kept

    @property
    def posts_file(self) -> Path | None:
        """The file of posts, if they are in one."""
        return Path(self.posts) if isinstance(self.posts, str | PathLike) else None

    @property
    def state_file(self) -> Path | None:
        """The file of the state, there or to be."""
        return None if self.state is None else Path(self.state)

    @property
    def ranks_file(self) -> Path | None:
        """The file for the ranks."""
        return None if self.out is None else Path(self.out)

    @property
    def checkpoint_folder(self) -> Path | None:
        """The folder of the checkpoint."""
        return None if self.checkpoint is None else Path(self.checkpoint)

    @property
    def has_state(self) -> bool:
        """Whether there is a state yet."""
        return self.state_file is not None and self.state_file.exists()

    @property
    def kept_state(self) -> KeptState | None:
        """What the state says of itself, if there is one yet."""
        state = self.state_file
        return KeptState.open(state) if state is not None and state.exists() else None

    @cached_property
    def setting(self) -> Setting:
        """How strengths become risks; a state has a mode of its own."""
        return Setting(self.k, self.m, self.mode or "corrected")

    @cached_property
    def length(self) -> Bucket | None:
        """The length of time by which posts are grouped, if one was named."""
        return None if self.bucket is None else Bucket.parse(self.bucket)

    @cached_property
    def catalogue(self) -> Catalogue:
        """The topics of a new state."""
        return shipped_catalogue() if self.topics is None else read_topics(self.topics)

    @cached_property
    def spaces(self) -> tuple[Space, ...]:
        """The models."""
        return read_models(self.model)

    @cached_property
    def columns(self) -> ReadOptions:
        """How the posts are to be read, their columns named."""
        return named_columns(self.reading, user=self.user, time=self.time, text=self.text)

    @cached_property
    def measure_names(self) -> tuple[str, ...]:
        """The measures; without any those by which a state was last ranked, else `bow-t`.

        Models, topics of one's own or other states decide too: then it is all that these allow.
        """
        if (named := _split(self.measures)) is not None:
            return named or ("all",)
        if (kept := self.kept_state) is not None:
            return tuple(kept.last_ranking.get("measures", ())) or ("all",)
        has_others = bool(self.model or self.topics or self.merge)
        return ("all",) if has_others else (WITHOUT_BACKGROUND,)

    @cached_property
    def topic_names(self) -> tuple[str, ...] | None:
        """The topics; without any those by which a state was last ranked; None: sensitive ones."""
        named = _split(self.topic)
        if named is None and (kept := self.kept_state) is not None:
            return tuple(kept.last_ranking.get("topics", ())) or None
        return named

    def load(self) -> None:
        """Read models and topics, so that what is wrong with them is said first."""
        _ = self.spaces, self.topics is not None and self.catalogue

    def check_names(self) -> None:
        """Refuse unknown measures and topics before any post is read; a state has its topics."""
        for name in self.measure_names:
            if name not in GROUPS:
                named_measure(name)
        if self.topic_names and not self.has_state:
            self.catalogue.find_names(self.topic_names)

    def cleans_posts(self) -> bool:
        """Whether posts of a new state are cleaned: unless told otherwise, or as the paper did."""
        if self.setting.mode == "paper":
            if self.clean:
                raise ParameterError("the paper's mode scores posts without cleaning them.")
            return False
        return self.clean is not False

    def check_state(self, header: StateHeader) -> None:
        """Refuse what contradicts the state."""
        if self.topics is not None and self.catalogue != header.catalogue:
            raise InputError("the state was made with another catalogue; use that, or score again.")
        wishes = {
            "bucket": (self.length, header.bucket),
            "mode": (self.mode, header.mode),
            "number of buckets kept": (self.keep_buckets, header.kept),
            "option to keep posts": (self.keep_posts, header.posts),
            "option to clean posts": (self.clean, bool(header.clean)),
        }
        for what, (asked, held) in wishes.items():
            if asked is not None and asked != held:
                raise InputError(
                    f"the state was made with the {what} {held}, got {asked}; score again, or ask "
                    f"for {held}."
                )

    def add_space(self, space: Space) -> Self:
        """The same with one more model."""
        return replace(self, model=(*self.spaces, space))


def model_folder(state: Path) -> Path:
    """Where the background that was learnt for a state is kept."""
    return state.with_name(f"{state.name}.model")


def choose_measure(named: str | None, state: Path | None, ranked: Sequence[str] = ()) -> str:
    """The measure by name; without one the only one of those by which posts were ``ranked``.

    Of several the one by which a state, or posts alone, are ranked first.
    """
    if named is not None:
        return named
    kept = KeptState.open(state) if state is not None and state.exists() else None
    last = ranked or ((kept and kept.last_ranking.get("measures")) or ())
    if len(last) == 1:
        return str(last[0])
    return RECOMMENDED[0] if kept and "voice" in kept.header.spaces else WITHOUT_BACKGROUND


def read_topics(topics: Topics) -> Catalogue:
    """The catalogue that is given in one of several ways."""
    if isinstance(topics, Catalogue):
        return topics
    if isinstance(topics, str | PathLike):
        return Catalogue.load(Path(topics))
    if isinstance(topics, Mapping) or not isinstance(topics, Iterable):
        raise _refuse_topics(topics)
    return Catalogue(tuple(map(_read_topic, topics)))


def _read_topic(topic: TopicLike) -> Topic:
    if isinstance(topic, Topic):
        return topic
    if not all(hasattr(topic, name) for name in ("name", "words", "domain", "sensitive")):
        raise _refuse_topics(topic)
    return Topic(topic.name, topic.words, topic.domain, topic.sensitive)


def _refuse_topics(given: object) -> InputError:
    return InputError(
        "topics must be a Catalogue, the path of its TOML file, or topics, each a "
        "Topic(name, words, domain, sensitive=True); "
        f"got one of type {type(given).__name__}."
    )


def read_models(model: Models | None) -> tuple[Space, ...]:
    """The models that are given, or whose folders are."""
    return tuple(
        load_model(Path(each)) if isinstance(each, str | PathLike) else each
        for each in _several(model)
    )


def _several(model: Models | None) -> Sequence[Space | FilePath]:
    if model is None:
        return ()
    return model if isinstance(model, list | tuple) else (model,)


def _split(written: Names | None) -> tuple[str, ...] | None:
    if written is None:
        return None
    names = written.split(",") if isinstance(written, str) else written
    return tuple(name.strip() for name in names)
