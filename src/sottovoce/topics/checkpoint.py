"""Where long work stands, on disk: a crash or Ctrl-C loses at most the work since then.

A checkpoint is a folder of one state file and `checkpoint.json`, which names it, its SHA-256, the
steps done and the request: a hash of texts, words and parameters. A state is only taken up by the
same request.
"""

import hashlib
import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeAlias

from sottovoce.corpus.vocabulary import Vocabulary
from sottovoce.corpus.words.rules import TokenRules
from sottovoce.errors import ModelFileError, ParameterError
from sottovoce.files import file_digest, output_folder, whole_file
from sottovoce.parsing import parse_json
from sottovoce.topics.background import CorpusFacts
from sottovoce.topics.model_file import rules_record

FORMAT = "sottovoce-checkpoint"
VERSION = 1
_RECORD = "checkpoint.json"
_LARGEST_RECORD = 1 << 16

Progress: TypeAlias = Callable[[int, int], object]
"""Called with the steps done and all steps."""


def training_request(
    parameters: Mapping[str, Any], facts: CorpusFacts, vocabulary: Vocabulary, rules: TokenRules
) -> str:
    """A hash of all that decides what is trained; how many workers do it does not."""
    parts = [
        {**parameters, "workers": None},
        asdict(facts),
        vocabulary.fingerprint,
        rules_record(rules),
    ]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


@dataclass(frozen=True)
class CheckpointRecord:
    """How far training has come, and the file that holds it."""

    request: str
    steps: int
    file: str
    sha256: str
    format: str = FORMAT
    version: int = VERSION


@dataclass(frozen=True)
class Checkpoint:
    """A checkpoint's folder; ``every`` so many steps it is written again."""

    folder: Path
    every: int = 50
    resume: bool = False

    def __post_init__(self) -> None:
        if self.every < 1:
            raise ParameterError(f"a checkpoint must be every >= 1 steps, got {self.every}.")

    def find(self, request: str) -> tuple[int, Path] | None:
        """The steps done and the state file to go on from; None to begin from the start."""
        if not (self.folder / _RECORD).exists():
            return None
        if not self.resume:
            raise ParameterError(
                f"{self.folder} holds a checkpoint of work that was interrupted; "
                "go on with --resume (in Python resume=True), or remove the folder to begin again."
            )
        state = _read(self.folder / _RECORD)
        if state.request != request:
            raise ParameterError(
                f"the checkpoint {self.folder} belongs to other texts or parameters; repeat those, "
                "or remove the folder to begin again."
            )
        path = self.folder / state.file
        if not path.is_file() or file_digest(path) != state.sha256:
            raise ModelFileError(f"the checkpoint {self.folder} is damaged; remove the folder.")
        return state.steps, path

    def write(self, request: str, steps: int, save: Callable[[Path], object]) -> None:
        """Keep the state that ``save`` writes to a path, and then forget the one before."""
        output_folder(self.folder)
        path = self.folder / f"state-{steps}"
        with whole_file(path, private=True) as temporary:
            save(temporary)
        state = CheckpointRecord(request, steps, path.name, file_digest(path))
        with whole_file(self.folder / _RECORD, private=True) as temporary:
            temporary.write_text(json.dumps(asdict(state), indent=2) + "\n", encoding="utf-8")
        for old in self.folder.glob("state-*"):
            if old != path:
                old.unlink()

    def clear(self) -> None:
        """Remove the checkpoint: training is over."""
        for path in [*self.folder.glob("state-*"), self.folder / _RECORD]:
            path.unlink(missing_ok=True)
        # Somebody else's files, or none of ours to begin with.
        with suppress(OSError):
            self.folder.rmdir()


def _read(path: Path) -> CheckpointRecord:
    try:
        with path.open("rb") as file:
            fields = parse_json(file.read(_LARGEST_RECORD))
        if _is_state(fields):
            return CheckpointRecord(**fields)
    except (OSError, ValueError, TypeError, RecursionError):
        pass
    raise ModelFileError(
        f"{path} is no checkpoint of this version of Sottovoce; remove its folder."
    )


def _is_state(fields: dict[str, Any]) -> bool:
    named = fields["file"] if isinstance(fields.get("file"), str) else "/"
    return (
        (fields.get("format"), fields.get("version")) == (FORMAT, VERSION)
        and type(fields.get("steps")) is int
        and fields["steps"] >= 0
        and Path(named).name == named
    )
