"""A model on disk: a folder with `card.json`, `vocabulary.txt` and a `.npy` file for each array.

An array is uncompressed, so reading one takes no more memory than its file has bytes; its type and
shape are compared with the card's before anything is allocated, and every file with its SHA-256.
Nothing is pickled.

The card says what the model is, what made it, and from what; never a text. `card.json` (format
"sottovoce-model", version 1) holds:

- `kind`: `lda`, `w2v`, `voice` or `learnt-voice`;
- `fingerprint`: SHA-256 over what decides a strength;
- `words` and `dimensions`: the shape of its numbers;
- `rules`: how texts become words: `shortest`, `stop_words`, `stem`, `bigrams`;
- `corpus`: the SHA-256 and number of the texts it was trained on, or null for an imported model;
- `parameters`: what training was told, and `libraries`: whose code trained;
- `public`: false when the texts were private, so that the files are their owner's only;
- `files`: the SHA-256 of every other file of the folder.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

import sottovoce
from sottovoce.corpus.vocabulary import Vocabulary
from sottovoce.corpus.words.rules import TokenRules
from sottovoce.errors import InputError, ModelFileError, ParameterError
from sottovoce.files import file_digest, output_folder, whole_file
from sottovoce.parsing import parse_json

FORMAT = "sottovoce-model"
VERSION = 1
LARGEST_CARD = 1 << 24
CARD_FILE = "card.json"
VOCABULARY_FILE = "vocabulary.txt"
# A model of 500 topics over a million words fits; what asks for more is no model of ours.
MOST_NUMBERS = 2**30

Arrays = Mapping[str, NDArray[Any]]


@dataclass(frozen=True)
class CorpusFacts:
    """What a card says about the texts a model was trained on."""

    sha256: str
    texts: int


@dataclass(frozen=True)
class Origin:
    """Where a model comes from."""

    corpus: CorpusFacts | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    libraries: Mapping[str, str] = field(default_factory=dict)
    public: bool = True


@dataclass(frozen=True)
class ModelCard:
    """The fields of `card.json`."""

    kind: str
    fingerprint: str
    words: int
    dimensions: int
    rules: TokenRules
    origin: Origin
    files: Mapping[str, str]

    def as_json(self) -> str:
        """The text of `card.json`; the same card gives the same text."""
        fields = {
            "format": FORMAT,
            "version": VERSION,
            "software": f"sottovoce {sottovoce.__version__}",
            "kind": self.kind,
            "fingerprint": self.fingerprint,
            "words": self.words,
            "dimensions": self.dimensions,
            "rules": rules_record(self.rules),
            **asdict(self.origin),
            "files": dict(self.files),
        }
        return json.dumps(fields, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


@dataclass(frozen=True)
class Expected:
    """What an array of a model must be."""

    dtype: str
    shape: tuple[int, ...]


def write_folder(folder: Path, card: ModelCard, vocabulary: Vocabulary, arrays: Arrays) -> None:
    """Write all files of a model; all are finished before the first gets its final name.

    The card comes last: a folder without one, or with one that does not fit, is no model.
    """
    output_folder(folder)
    with ExitStack() as staged:

        def part(name: str) -> Path:
            return staged.enter_context(whole_file(folder / name, private=not card.origin.public))

        # What is entered first is renamed last.
        card_part = part(CARD_FILE)
        written = {VOCABULARY_FILE: part(VOCABULARY_FILE)}
        written[VOCABULARY_FILE].write_text(vocabulary.as_text(), encoding="utf-8")
        for name, array in arrays.items():
            written[f"{name}.npy"] = part(f"{name}.npy")
            with written[f"{name}.npy"].open("wb") as out:
                np.lib.format.write_array(out, array, allow_pickle=False)
        hashes = {name: file_digest(path) for name, path in written.items()}
        card_part.write_text(replace(card, files=hashes).as_json(), encoding="utf-8")


def open_folder(folder: Path) -> ModelCard:
    """The card of a model's folder, its size within bounds."""
    if not (folder / CARD_FILE).exists():
        raise ModelFileError(
            f"{folder} is no model: it must be a folder that `sottovoce topics train` or "
            "`sottovoce topics import` wrote."
        )
    card = read_card(folder / CARD_FILE)
    if card.words * card.dimensions > MOST_NUMBERS:
        raise ModelFileError(
            f"{folder} must hold at most {MOST_NUMBERS} numbers; its card says more."
        )
    return card


def read_files(
    folder: Path, card: ModelCard, expected: Mapping[str, Expected]
) -> tuple[Vocabulary, dict[str, NDArray[Any]]]:
    """The vocabulary and arrays of a model, as its card and ``expected`` say they must be."""
    arrays = {name: _array(folder / f"{name}.npy", want) for name, want in expected.items()}
    for name in [VOCABULARY_FILE, *(f"{name}.npy" for name in expected)]:
        _check_digest(folder / name, card.files.get(name))
    try:
        vocabulary = Vocabulary.load(folder / VOCABULARY_FILE)
    except InputError as error:
        raise ModelFileError(str(error)) from None
    if len(vocabulary) != card.words:
        raise ModelFileError(
            f"{folder / VOCABULARY_FILE} must hold {card.words} terms, got {len(vocabulary)}."
        )
    return vocabulary, arrays


def _check_digest(path: Path, digest: str | None) -> None:
    try:
        found = file_digest(path)
    except OSError as error:
        raise ModelFileError(f"cannot read {path}: {error.strerror}.") from None
    if digest != found:
        raise ModelFileError(f"{path} does not match its card; one of them was changed.")


def _array(path: Path, want: Expected) -> NDArray[Any]:
    try:
        with path.open("rb") as file:
            found = _header(file)
            size = path.stat().st_size - file.tell()
            if found != want or size != np.dtype(want.dtype).itemsize * np.prod(want.shape):
                raise ParameterError
            raw = np.fromfile(file, dtype=want.dtype)
    except OSError as error:
        raise ModelFileError(f"cannot read {path}: {error.strerror}.") from None
    except (ValueError, SyntaxError):
        raise ModelFileError(
            f"{path} must hold {' x '.join(map(str, want.shape))} numbers of type {want.dtype}."
        ) from None
    if not np.isfinite(raw).all():
        raise ModelFileError(f"the numbers in {path} must be finite.")
    return raw.reshape(want.shape)


def _header(file: BinaryIO) -> Expected:
    version = np.lib.format.read_magic(file)
    read = {
        (1, 0): np.lib.format.read_array_header_1_0,
        (2, 0): np.lib.format.read_array_header_2_0,
    }.get(version)
    if read is None:
        raise ParameterError(f"an array's version must be 1.0 or 2.0, got {version}.")
    shape, fortran_order, dtype = read(file)
    if fortran_order:
        raise ParameterError("an array must be in C order.")
    return Expected(dtype.str, shape)


def model_digest(
    kind: str,
    vocabulary: Vocabulary,
    rules: TokenRules,
    numbers: Iterable[bytes | memoryview],
    *more: object,
) -> str:
    """SHA-256 over the words, the token rules, the numbers, and what else decides a strength."""
    parts = [kind, vocabulary.fingerprint, rules_record(rules), *more]
    digest = hashlib.sha256(json.dumps(parts, sort_keys=True).encode())
    for part in numbers:
        digest.update(part)
    return digest.hexdigest()


def rules_record(rules: TokenRules) -> dict[str, Any]:
    """Token rules as JSON has them."""
    return {**asdict(rules), "stop_words": sorted(rules.stop_words)}


def read_card(path: Path) -> ModelCard:
    """The card at ``path``, or an error that says what is wrong with it."""
    fields = _fields(path)
    if fields.get("format") != FORMAT:
        raise ModelFileError(f"{path} is no model's card; its format must be {FORMAT}.")
    if fields.get("version") != VERSION:
        raise ModelFileError(
            f"{path} must have version {VERSION}; another version of Sottovoce wrote it."
        )
    try:
        return _card(fields)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        reason = str(error) if isinstance(error, ParameterError) else type(error).__name__
        raise ModelFileError(f"{path} is damaged ({reason}); train or import again.") from None


def _fields(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as file:
            raw = file.read(LARGEST_CARD + 1)
        fields = parse_json(raw[:LARGEST_CARD])
    except OSError as error:
        raise ModelFileError(f"cannot read the model {path.parent}: {error.strerror}.") from None
    except ValueError:
        raise ModelFileError(f"{path} is not JSON; train or import the model again.") from None
    if not isinstance(fields, dict):
        raise ModelFileError(f"{path} is no model's card; its format must be {FORMAT}.")
    return fields


def _card(fields: dict[str, Any]) -> ModelCard:
    corpus = fields["corpus"]
    origin = Origin(
        corpus=None if corpus is None else CorpusFacts(str(corpus["sha256"]), int(corpus["texts"])),
        parameters=dict(fields["parameters"]),
        libraries=dict(fields["libraries"]),
        public=bool(fields["public"]),
    )
    return ModelCard(
        kind=str(fields["kind"]),
        fingerprint=str(fields["fingerprint"]),
        words=_positive(fields["words"]),
        dimensions=_positive(fields["dimensions"]),
        rules=_rules(fields["rules"]),
        origin=origin,
        files={str(name): str(digest) for name, digest in fields["files"].items()},
    )


def _positive(value: object) -> int:
    if type(value) is not int or value < 1:
        raise ParameterError("words and dimensions must be whole numbers >= 1")
    return value


def _rules(fields: dict[str, Any]) -> TokenRules:
    stop_words = fields["stop_words"]
    sound = (
        type(fields["shortest"]) is int
        and type(fields["bigrams"]) is bool
        and isinstance(fields["stem"], str | None)
        and isinstance(stop_words, list)
        and all(isinstance(word, str) for word in stop_words)
    )
    if not sound:
        raise ParameterError("its token rules have values of the wrong type")
    return TokenRules(fields["shortest"], frozenset(stop_words), fields["stem"], fields["bigrams"])
