"""Federations of real processes in a folder, and what their parties kept."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.federation.config import FeatureSettings, TrainingSettings, load_config
from sottovoce.federation.party.control import prepare
from sottovoce.federation.party.history import journal_history, latest_training
from sottovoce.federation.party.party import ConfiguredParty
from sottovoce.federation.setup import SetupPlan
from sottovoce.learn.documents import Table

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
