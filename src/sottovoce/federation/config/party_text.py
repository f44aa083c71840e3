"""The `party.toml` that `learn init` writes, with a comment where somebody must decide."""

import msgspec

from sottovoce.federation.config.party import Features, Role, Training
from sottovoce.toml_text import Plain, toml_lines

_HEAD = "# One party of a training together. Paths are relative to this file's folder."
_TEXTS = (
    "# Your documents, which never leave this machine: a CSV, TSV, JSONL or Parquet file, and the",
    "# names of its columns.",
)
_ROWS = "# Your rows of numbers, which never leave this machine: a CSV file with a header."
_ACCEPTS = "# What you agree to take part in; a proposal beyond it is refused here."
_FEATURES = "# How texts become numbers, at every peer alike."
TEXTS_FILE, ROWS_FILE = "texts.csv", "rows.csv"
_TRAINING = "# What is proposed to the peers; every one of them must accept it."


def party_toml(
    who: tuple[str, Role], address: str, training: Training, features: Features, passphrase: str
) -> str:
    """One party's configuration."""
    name, role = who
    head: dict[str, Plain | None] = {"name": name, "role": role, "listen": address}
    lines = [_HEAD, *toml_lines(head), "", "[secrets]", *toml_lines({"passphrase": passphrase})]
    if role == "peer":
        lines += ["", *_own_data(features)]
        lines += ["", _ACCEPTS, "[accepts]", *toml_lines(_accepted(training))]
    if role == "coordinator":
        chosen = {"mode": training.mode, "way": training.way} | msgspec.to_builtins(training)
        lines += ["", _TRAINING, "[training]", *toml_lines(chosen)]
        lines += ["", _FEATURES, "[features]", *toml_lines(_features(features))]
    return "\n".join(lines) + "\n"


def _own_data(features: Features) -> list[str]:
    if features.columns:
        return [_ROWS, "[rows]", *toml_lines({"file": ROWS_FILE})]
    return [*_TEXTS, "[texts]", *toml_lines({"file": TEXTS_FILE})]


def _features(features: Features) -> dict[str, Plain | None]:
    given: dict[str, Plain | None] = msgspec.to_builtins(features)
    if features.columns:
        return given
    return {"dictionary": features.dictionary, "width": features.width} | given


def _accepted(training: Training) -> dict[str, Plain | None]:
    return {
        "modes": [training.mode],
        "fewest_documents": training.fewest_documents,
        "fewest_peers": training.fewest_peers,
        "two_peers": training.allow_two is not None,
    }
