"""A model's card: what it is, what made it, and from what; never a text.

`card.json` (format "sottovoce-model", version 1) holds:

- `kind`: `lda`, `w2v` or `voice`; `fingerprint`: SHA-256 over what decides a strength;
- `words` and `dimensions`: the shape of its numbers;
- `rules`: how texts become words: `shortest`, `stop_words`, `stem`, `bigrams`;
- `corpus`: the SHA-256 and number of the texts it was trained on, or null for an imported model;
- `parameters`: what training was told, and `libraries`: whose code trained;
- `public`: false when the texts were private, so that the files are their owner's only;
- `files`: the SHA-256 of every other file of the folder.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import sottovoce
from sottovoce.corpus.words.rules import TokenRules
from sottovoce.errors import InputError, ParameterError
from sottovoce.topics.texts import CorpusFacts

FORMAT = "sottovoce-model"
VERSION = 1
LARGEST_CARD = 1 << 24


class ModelFileError(InputError):
    """A stored model is unusable."""


@dataclass(frozen=True)
class Origin:
    """Where a model comes from."""

    corpus: CorpusFacts | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    libraries: Mapping[str, str] = field(default_factory=dict)
    public: bool = True


@dataclass(frozen=True)
class Card:
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


def rules_record(rules: TokenRules) -> dict[str, Any]:
    """Token rules as JSON has them."""
    return {**asdict(rules), "stop_words": sorted(rules.stop_words)}


def read_card(path: Path) -> Card:
    """The card at ``path``, or an error that says what is wrong with it."""
    fields = _fields(path)
    if fields.get("format") != FORMAT:
        raise ModelFileError(f"{path} is no model's card; its format must be {FORMAT}.")
    if fields.get("version") != VERSION:
        raise ModelFileError(
            f"{path} must be of version {VERSION}; it was written by another version of Sottovoce."
        )
    try:
        return _card(fields)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        reason = str(error) if isinstance(error, ParameterError) else type(error).__name__
        raise ModelFileError(f"{path} is damaged ({reason}); train or import anew.") from None


def _fields(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as file:
            raw = file.read(LARGEST_CARD + 1)
        fields = json.loads(raw[:LARGEST_CARD])
    except OSError as error:
        raise ModelFileError(f"cannot read the model {path.parent}: {error.strerror}.") from None
    except (ValueError, RecursionError):
        raise ModelFileError(f"{path} is not JSON; train or import the model anew.") from None
    if not isinstance(fields, dict):
        raise ModelFileError(f"{path} is no model's card; its format must be {FORMAT}.")
    return fields


def _card(fields: dict[str, Any]) -> Card:
    corpus = fields["corpus"]
    origin = Origin(
        corpus=None if corpus is None else CorpusFacts(str(corpus["sha256"]), int(corpus["texts"])),
        parameters=dict(fields["parameters"]),
        libraries=dict(fields["libraries"]),
        public=bool(fields["public"]),
    )
    return Card(
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
