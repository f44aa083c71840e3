"""The bench of topics of posts compares like with like."""

from pathlib import Path

import numpy as np
import pytest
from sottovoce_lab.bench import infer
from sottovoce_lab.bench import infer as infer_data


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SOTTOVOCE_DATA", str(tmp_path))
    monkeypatch.setattr(infer_data, "TOPICS", 12)
    monkeypatch.setattr(infer_data, "TRAINING_ITERATIONS", 20)
    monkeypatch.setattr(infer, "TURNS_S", 0.1)
    monkeypatch.setattr(infer, "ITERATIONS", (2, 20))
    monkeypatch.setattr(infer, "GIBBS_ITERATIONS", (10,))


@pytest.mark.usefixtures("small")
def test_every_peer_has_a_row_for_speed_and_one_for_likelihood() -> None:
    rows = infer.bench_infer(60)
    speeds = [row for row in rows if row["unit"] == "posts/s"]
    nats = [row for row in rows if row["unit"] == "nats/word"]
    assert {row["peer"] for row in nats} <= {row["peer"] for row in speeds}
    assert len(nats) == 3
    for row in rows:
        assert row["ratio"] is None or row["ratio"] > 0
    for row in nats:
        assert row["theirs"] is None or 3 < row["theirs"] < 12


@pytest.mark.usefixtures("small")
def test_the_scored_half_is_not_observed_and_a_better_theta_costs_fewer_nats() -> None:
    held = infer_data.held_out_posts(80)
    observed, scored = held.observed.sum(axis=1), held.scored.sum(axis=1)
    assert ((scored == observed) | (scored == observed + 1)).all()
    theta = held.model.infer(held.observed)
    prior = np.tile(held.model.alpha / held.model.alpha.sum(), (80, 1))
    assert held.nats(theta) < held.nats(prior) < held.nats(theta[::-1])
