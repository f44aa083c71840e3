"""How `party.toml` is written: with a comment where somebody must decide."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from sottovoce._toml import Plain, toml_lines
from sottovoce.federation._files import NONE
from sottovoce.federation.config import (
    CHANGES_FILE,
    NEW_BUDGET,
    ROWS_FILE,
    TEXTS_FILE,
    Accepts,
    CountWith,
    FeatureSettings,
    Role,
    TrainingSettings,
)

AUTHORITY_KEY_FILE = "ca.key"
_HEAD = "# One party of a training together. Paths are relative to this file's folder."
_TEXTS = (
    "# Your documents, which never leave this machine: a CSV, TSV, JSONL or Parquet file, and the",
    "# names of its columns. Where rows are sentences, document names the column with the id of a",
    "# sentence's document; where documents are counted together, user and id name their columns.",
)
_ROWS = "# Your rows of numbers, which never leave this machine: a CSV file with a header."
_ACCEPTS = (
    "# What you agree to take part in; a proposal beyond it is refused here. Of sums that hold\n"
    "# more than most_opened_share of the documents, fewer words are opened."
)
_COUNT_WITH = (
    "# Whose noise you count on when documents are counted together: name only peers whom you know",
    "# yourself. Of them so many may drop out, and so many may work against you. A whole document",
    "# spends at most budget of epsilon in all, for ever, and most_epsilon in one count; a count",
    "# beyond any limit is refused here. Name all labels of your documents if words may be counted",
    '# by label: labels = ["ham", "spam"]. In a training, too, only these peers\' documents',
    "# hide yours, without those of the collude largest.",
)
_FEATURES = "# How texts become numbers, at every peer alike."
_TRAINING = "# What is proposed to the peers; every one of them must accept it."
_JOIN = "# Where parties ask to join; open only while somebody is invited."


@dataclass(frozen=True)
class WrittenParty:
    """Whose configuration is written.

    Attributes:
        name: of the party.
        role: what it does.
        address: where it listens.
        passphrase: where that of its keys comes from.
        count_with: what a peer says of counts otherwise than a new one does.
        signed: whether its roster has signed changes.
        join: where a coordinator takes requests to join.
    """

    name: str
    role: Role
    address: str
    passphrase: str = NONE
    count_with: Mapping[str, Any] = field(default_factory=dict)
    signed: bool = False
    join: str | None = None


def party_toml(who: WrittenParty, training: TrainingSettings, features: FeatureSettings) -> str:
    """One party's configuration."""
    role = who.role
    head: dict[str, Plain | None] = {
        "name": who.name,
        "role": role,
        "listen": who.address,
        "changes": CHANGES_FILE if who.signed else None,
    }
    secrets = toml_lines({"passphrase": who.passphrase})
    lines = [_HEAD, *toml_lines(head), "", "[secrets]", *secrets]
    if who.join is not None:
        lines += ["", "[tls]", *toml_lines({"authority_key": AUTHORITY_KEY_FILE})]
        lines += ["", _JOIN, "[join]", *toml_lines({"listen": who.join})]
    if role == "peer":
        lines += ["", *_own_data(features)]
    if role != "coordinator":
        lines += ["", _ACCEPTS, "[accepts]", *toml_lines(_accepts_table(training))]
    if role == "peer":
        count_with = {"peers": [], "budget": NEW_BUDGET, **who.count_with}
        named: dict[str, Plain | None] = msgspec.to_builtins(msgspec.convert(count_with, CountWith))
        lines += ["", *_COUNT_WITH, "[count_with]", *toml_lines(named)]
    if role == "coordinator":
        chosen = {"mode": training.mode} | msgspec.to_builtins(training)
        lines += ["", _TRAINING, "[training]", *toml_lines(chosen)]
        lines += ["", _FEATURES, "[features]", *toml_lines(_features(features))]
    return "\n".join(lines) + "\n"


def _own_data(features: FeatureSettings) -> list[str]:
    if features.columns:
        return [_ROWS, "[rows]", *toml_lines({"file": ROWS_FILE, "label": "label"})]
    named: dict[str, Plain | None] = {"file": TEXTS_FILE, "text": "text", "label": "label"}
    return [*_TEXTS, "[texts]", *toml_lines(named)]


def _features(features: FeatureSettings) -> dict[str, Plain | None]:
    given: dict[str, Plain | None] = msgspec.to_builtins(features)
    if features.columns:
        return given
    return {"dictionary": features.dictionary, "width": features.width} | given


def _accepts_table(training: TrainingSettings) -> dict[str, Plain | None]:
    accepts = Accepts(
        modes=[training.mode],
        fewest_documents=training.fewest_documents,
        fewest_peers=training.fewest_peers,
        two_peers=training.allow_two is not None,
        without_lost=training.without_lost,
    )
    written: dict[str, Plain | None] = msgspec.to_builtins(accepts)
    return written
