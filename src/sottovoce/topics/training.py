"""What a training needs: words and counts of background texts, and where long work stands.

A crash or Ctrl-C loses at most the work since the last checkpoint: a folder of one state file and
`checkpoint.json`, which names it, its SHA-256, the steps done and the request: a hash of texts,
words and parameters. A state is only taken up by the same request.
"""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
from scipy import sparse

from sottovoce.corpus.counts import count_batches, term_statistics
from sottovoce.corpus.read.corpus import Corpus
from sottovoce.corpus.vocabulary import Vocabulary
from sottovoce.corpus.words.rules import ENGLISH, TokenRules
from sottovoce.corpus.words.scan import text_buffers
from sottovoce.errors import CorpusError, ModelFileError, ParameterError
from sottovoce.files import file_digest, output_folder, whole_file
from sottovoce.parsing import parse_json
from sottovoce.topics.model_file import CorpusFacts, rules_record

Texts: TypeAlias = Corpus | Sequence[str]
"""A corpus that a reader opened, or texts in memory."""
MIN_TEXTS = 5
MAX_TERMS = 100_000


def text_arrays(texts: Texts) -> Iterator[pa.Array]:
    """The texts, an array at a time; every call starts again."""
    if isinstance(texts, Corpus):
        for batch in texts:
            yield batch["text"]
    else:
        yield pa.array(texts, pa.large_string())


def corpus_facts(texts: Texts) -> CorpusFacts:
    """The texts' hash, which does not depend on how they were cut into batches, and number."""
    contents, lengths, rows = hashlib.sha256(), hashlib.sha256(), 0
    for array in text_arrays(texts):
        buffers = text_buffers(array)
        offsets = np.asarray(buffers.offsets, np.int64)
        contents.update(buffers.data[offsets[0] : offsets[-1]].tobytes())
        lengths.update(np.diff(offsets).astype("<i8").tobytes())
        rows += buffers.rows
    both = contents.digest() + lengths.digest()
    return CorpusFacts(hashlib.sha256(both).hexdigest(), rows)


def background_rules() -> TokenRules:
    """Words of three letters or more that are no English function words."""
    return TokenRules(shortest=3, stop_words=ENGLISH)


@dataclass(frozen=True)
class WordChoice:
    """Which words of the background a model knows, and in which form.

    >>> WordChoice(min_texts=1).choose_words(["a loan", "the loan"], public=True).terms
    ('loan',)
    """

    rules: TokenRules = field(default_factory=background_rules)
    vocabulary: Vocabulary | None = None
    """None lets the texts choose: terms in at least ``min_texts`` of them, the most frequent."""
    min_texts: int = MIN_TEXTS
    max_terms: int | None = MAX_TERMS

    def choose_words(self, texts: Texts, *, public: bool) -> Vocabulary:
        """The words; those of public texts are public, whoever chose them."""
        vocabulary = self.vocabulary
        if vocabulary is None:
            statistics = term_statistics(text_arrays(texts), self.rules)
            vocabulary = statistics.vocabulary(min_texts=self.min_texts, max_terms=self.max_terms)
        else:
            vocabulary = vocabulary.apply_rules(self.rules)
        if not public:
            return Vocabulary(vocabulary.terms, data_dependent=True, origin=vocabulary.origin)
        return Vocabulary(
            vocabulary.terms, data_dependent=False, origin=f"public texts; {vocabulary.origin}"
        )


def background_counts(
    texts: Texts, vocabulary: Vocabulary, rules: TokenRules
) -> tuple[sparse.csr_array, Vocabulary]:
    """Counts of the texts, and the words that occur in them: a model knows nothing of others."""
    blocks = list(count_batches(text_arrays(texts), vocabulary, rules))
    counts = sparse.csr_array(sparse.vstack(blocks, format="csr"))
    used = np.flatnonzero(np.bincount(counts.indices, minlength=len(vocabulary)))
    if not used.size:
        raise CorpusError(
            "the background texts hold no word of the vocabulary, so there is nothing to learn."
        )
    if used.size == len(vocabulary):
        return counts, vocabulary
    terms = tuple(vocabulary.terms[word] for word in used)
    known = Vocabulary(terms, data_dependent=vocabulary.data_dependent, origin=vocabulary.origin)
    return sparse.csr_array(counts[:, used]), known


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
                f"{self.folder} holds a checkpoint of interrupted work; continue "
                "with --resume (in Python resume=True), or remove the folder to start again."
            )
        state = _read(self.folder / _RECORD)
        if state.request != request:
            raise ParameterError(
                f"the checkpoint {self.folder} belongs to other texts or parameters; use those, or "
                "remove the folder to start again."
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
