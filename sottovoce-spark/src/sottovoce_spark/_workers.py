"""What every worker needs to know of an assessment, sent once and loaded once per process.

It travels as the bytes of an archive: the header, the measures and the setting as JSON, and the
files of each model as they are on disk. A worker that has unpacked them compares fingerprints with
the header, so that it cannot score with another model. Nothing of ours is pickled.
"""

import hashlib
import json
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Protocol, runtime_checkable

from sottovoce.assess.job import scoring_for
from sottovoce.assess.measures.catalogue import chosen_measures
from sottovoce.assess.measures.measure import Measure
from sottovoce.assess.scores import Scoring
from sottovoce.assess.setting import Setting, StateHeader
from sottovoce.errors import ParameterError
from sottovoce.parsing import parse_json
from sottovoce.topics.space import BagOfWords, Space, spaces_of_models

_RECORD = "assessment.json"


@runtime_checkable
class _Stored(Protocol):
    def save(self, folder: Path) -> None: ...


@dataclass(frozen=True)
class RankingKey:
    """One ranking: a measure and a topic."""

    measure: str
    topic: str


@dataclass(frozen=True)
class AssessWork:
    """How posts are scored and users ranked, as a worker knows it."""

    scoring: Scoring
    measures: Mapping[str, Measure]
    places: tuple[RankingKey, ...]
    setting: Setting
    timezone: str
    longest_text: int

    @property
    def header(self) -> StateHeader:
        """What the states were made with."""
        return self.scoring.header


@dataclass(frozen=True)
class Shipped:
    """A handle to work: small enough to travel with every task."""

    sent: Any
    """Bytes that Spark has broadcast."""
    digest: str

    def work(self) -> AssessWork:
        """The work, unpacked by the first task of a process and kept for the next."""
        if self.digest not in _unpacked:
            _unpacked.clear()
            _unpacked[self.digest] = unpack_work(self.sent.value)
        return _unpacked[self.digest]


_unpacked: dict[str, AssessWork] = {}


def pack_work(
    scoring: Scoring,
    spaces: Sequence[Space],
    measures: Sequence[str],
    topics: Sequence[str],
    setting: Setting,
    *,
    timezone: str,
    longest_text: int,
) -> bytes:
    """The archive of an assessment."""
    record = {
        "header": scoring.header.to_record(),
        "measures": list(measures),
        "topics": list(topics),
        "k": setting.k,
        "m": setting.m,
        "timezone": timezone,
        "longest_text": longest_text,
    }
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive, TemporaryDirectory() as folder:
        archive.writestr(_RECORD, json.dumps(record))
        for space in spaces:
            needed = scoring.header.spaces.keys() & spaces_of_models([space])
            if needed and space.name != BagOfWords().name:
                _add_model(archive, space, Path(folder, space.name))
    return buffer.getvalue()


def digest_of(archive: bytes) -> str:
    """The name under which a process keeps what it unpacked."""
    return hashlib.sha256(archive).hexdigest()


def unpack_work(archive: bytes) -> AssessWork:
    """The work in an archive; its models must be those that its header names."""
    with zipfile.ZipFile(BytesIO(archive)) as opened, TemporaryDirectory() as folder:
        opened.extractall(folder)
        record = parse_json(Path(folder, _RECORD).read_text(encoding="utf-8"))
        spaces = _models(Path(folder))
    header = StateHeader.from_record(record["header"])
    return AssessWork(
        scoring=scoring_for(header, spaces),
        measures=chosen_measures(record["measures"], tuple(header.spaces)),
        places=tuple(
            RankingKey(measure, topic)
            for measure in record["measures"]
            for topic in record["topics"]
        ),
        setting=Setting(record["k"], record["m"], header.mode),
        timezone=record["timezone"],
        longest_text=record["longest_text"],
    )


def _add_model(archive: zipfile.ZipFile, space: Space, folder: Path) -> None:
    if not isinstance(space, _Stored):
        raise ParameterError(f"a {space.name} model that cannot be stored cannot be sent to Spark.")
    space.save(folder)
    for file in sorted(folder.iterdir()):
        archive.write(file, f"{folder.name}/{file.name}")


def _models(folder: Path) -> list[Any]:
    folders = [path for path in sorted(folder.iterdir()) if path.is_dir()]
    if not folders:
        return []
    from sottovoce.topics import load_model  # noqa: PLC0415 - the bag of words needs no extra

    return [load_model(path) for path in folders]
