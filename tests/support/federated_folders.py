"""Federations of real processes in a folder, and what their parties kept."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.federation.config.party import Features, Training, load_config
from sottovoce.federation.config.setup import Plan
from sottovoce.federation.parties.configured import ConfiguredParty
from sottovoce.federation.parties.earlier import latest_training
from sottovoce.federation.parties.launch import prepare
from sottovoce.federation.parties.past import past_runs
from sottovoce.learn.texts.documents import Table

NAMES = ("ada", "ben", "cy", "dee")
Floats = NDArray[np.float64]


def split(rows: Floats, labels: NDArray[Any]) -> dict[str, tuple[Floats, NDArray[Any]]]:
    """Every fourth row to each of four peers."""
    return {name: (rows[at::4], labels[at::4]) for at, name in enumerate(NAMES)}


def prepare_rows(
    folder: Path,
    given: Mapping[str, tuple[Floats, NDArray[Any]]],
    training: Training,
    **options: Any,  # noqa: ANN401 - as Plan has them
) -> None:
    """A federation of peers with rows of numbers."""
    width = next(iter(given.values()))[0].shape[1]
    columns = [f"x{at}" for at in range(width)]
    peers = {name: Table.of(rows, labels, columns) for name, (rows, labels) in given.items()}
    features = Features(columns=columns)
    prepare(folder, peers, Plan(tuple(given), training, features=features, **options))


def kept(folder: Path, name: str) -> Mapping[str, Any]:
    """What a party, which must not run, has kept of its last training."""
    party = ConfiguredParty(load_config(folder / name / "party.toml"), strict=False)
    with party.journal() as journal:
        last = latest_training(past_runs(journal))
    assert last is not None
    assert last.result is not None
    return last.result
