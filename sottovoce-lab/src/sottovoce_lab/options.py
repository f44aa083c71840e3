"""What a study can be asked for on the command line, and what it says beside its rows."""

import tomllib
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

from sottovoce.corpus.read.tally import ReadOptions
from sottovoce.errors import ParameterError


@dataclass(frozen=True)
class StudyOptions:
    """What the user asked for; None leaves it to the study.

    The release studies take ``data`` (complaints, news, simulated, or a file that ``read`` says how
    to read), ``documents`` and ``embedding``; the assess studies ``posts``, ``truth``, ``topics``
    and ``models``, assess-blogs also ``half`` (of the users) and ``labels_column`` (of the posts);
    ``votes`` are files of judges' votes; ``seconds`` is about how long scale may measure;
    release-analyse takes ``rates`` and ``readers`` (topics, classifiers, sums, settings) to run a
    part, and keeps what it has done in ``out``.
    """

    seeds: int | None = None
    documents: int | None = None
    data: str | None = None
    read: ReadOptions = field(default_factory=ReadOptions)
    embedding: Path | None = None
    quick: bool = False
    votes: tuple[Path, ...] = ()
    posts: Path | None = None
    truth: Path | None = None
    topics: Path | None = None
    models: tuple[Path, ...] = ()
    half: str | None = None
    labels_column: str | None = None
    seconds: float | None = None
    rates: tuple[Fraction, ...] = ()
    readers: str | None = None
    out: Path | None = None

    def __post_init__(self) -> None:
        for name, value in (("seeds", self.seeds), ("documents", self.documents)):
            if value is not None and value < 1:
                raise ParameterError(f"{name} must be >= 1, got {value}.")
        if self.seconds is not None and not self.seconds > 0:
            raise ParameterError(f"seconds must be > 0, got {self.seconds}.")
        if any(rate <= 0 for rate in self.rates):
            raise ParameterError(f"rates must be > 0, got {min(self.rates)}.")


def refuse_documents(options: StudyOptions, name: str) -> None:
    """For a study that is about posts alone."""
    if options.documents is not None or options.embedding is not None:
        raise ParameterError(f"{name} reads no documents; leave --documents and --embedding out.")


def study_notes(name: str) -> tuple[str, ...]:
    """The notes of a study, from `notes.toml`."""
    text = Path(__file__).with_name("notes.toml").read_text(encoding="utf-8")
    return tuple(tomllib.loads(text)[name])
