"""Federations of real processes in a folder, and what their parties kept."""

import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.federation.config import FeatureSettings, TrainingSettings, load_config
from sottovoce.federation.party.control import LOG_FILE, prepare
from sottovoce.federation.party.history import journal_history, latest_training
from sottovoce.federation.party.party import ConfiguredParty
from sottovoce.federation.setup import SetupPlan
from sottovoce.learn.documents import Table
from sottovoce.learn.paillier.keys import PrivateKey
from sottovoce.learn.paillier.wire import decrypt_integers
from sottovoce.learn.run.records import read_hidden
from sottovoce.learn.wire.codec import Value

NAMES = ("ada", "ben", "cy", "dee")
Floats = NDArray[np.float64]


def split(rows: Floats, labels: NDArray[Any]) -> dict[str, tuple[Floats, NDArray[Any]]]:
    """Every fourth row to each of four peers."""
    return {name: (rows[at::4], labels[at::4]) for at, name in enumerate(NAMES)}


def prepare_rows(
    folder: Path,
    given: Mapping[str, tuple[Floats, NDArray[Any]]],
    training: TrainingSettings,
    **options: Any,  # noqa: ANN401 - as Plan has them
) -> None:
    """A federation of peers with rows of numbers."""
    width = next(iter(given.values()))[0].shape[1]
    columns = [f"x{at}" for at in range(width)]
    peers = {name: Table.from_rows(rows, labels, columns) for name, (rows, labels) in given.items()}
    features = FeatureSettings(columns=columns)
    prepare(folder, peers, SetupPlan(tuple(given), training, features=features, **options))


def kept(folder: Path, name: str) -> Mapping[str, Any]:
    """What a party, which must not run, has kept of its last training."""
    party = ConfiguredParty(load_config(folder / name / "party.toml"), strict=False)
    with party.journal() as journal:
        last = latest_training(journal_history(journal))
    assert last is not None
    assert last.result is not None
    return last.result


def prepare_poisson(
    folder: Path,
    penalty: float = 0.1,
    **training: Any,  # noqa: ANN401 - of the settings
) -> dict[str, tuple[Floats, NDArray[Any]]]:
    """A federation of four peers with 30 rows of counts each; what each holds."""
    rows = np.random.default_rng(3).poisson(0.9, (120, 4)).astype(float)
    given = split(rows, np.where(rows[:, 0] > rows[:, 1], "more", "less"))
    prepare_rows(folder, given, TrainingSettings(penalty=penalty, **training))
    return given


def deadline(seconds: float) -> dict[str, str]:
    """What to change in a configuration, so that its party waits so long for others."""
    return {"[secrets]": f"deadline_s = {seconds}\n[secrets]"}


def change_files(folder: Path, changes: Mapping[str, str]) -> None:
    """Change every party's configuration."""
    for path in folder.glob("*/party.toml"):
        text = path.read_text()
        for old, new in changes.items():
            text = text.replace(old, new, 1)
        path.write_text(text)


def copied(folder: Path, to: Path) -> None:
    """All files; a socket is none."""
    shutil.rmtree(to, ignore_errors=True)
    shutil.copytree(folder, to, ignore=shutil.ignore_patterns("*.sock"))


def logged_events(folder: Path) -> list[str]:
    """What a party has logged."""
    return [json.loads(line)["event"] for line in (folder / LOG_FILE).read_text().splitlines()]


def open_theta(record: Mapping[str, Value], keys: Sequence[PrivateKey]) -> list[int]:
    """Theta as integers, by both helpers' shares: between minus and plus half of the modulus."""
    found = read_hidden(record).classifier()
    parts = (found.coordinator, found.key_holder)
    first, second = (decrypt_integers(p, k).ravel() for p, k in zip(parts, keys, strict=True))
    half = found.modulus // 2
    summed = (int(a + b) for a, b in zip(first, second, strict=True))
    return [(each + half) % found.modulus - half for each in summed]
