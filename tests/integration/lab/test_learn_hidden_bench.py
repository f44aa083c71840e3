"""The hidden bench counts what it says, and tells a peer that computes something else."""

import json
import subprocess
from types import SimpleNamespace

import numpy as np
import pytest
from sottovoce_lab.bench import _hidden_solves as hidden_solves
from sottovoce_lab.bench._hidden_solves import (
    SolveCost,
    bench_hidden,
    cheetah_cost,
    newton,
    phe_newton_seconds,
)

from sottovoce.errors import CheckFailedError
from sottovoce.learn.solve.plan import Share
from sottovoce.learn.solve.run import HiddenSolution
from sottovoce.learn.solve.system import IntegerSystem, PublicBounds
from sottovoce.learn.wire.exchange import Traffic

MATRIX, VECTOR = np.array([[1.1, 0.2], [0.2, 1.1]]), np.array([0.5, -0.25])


def test_rows_put_every_way_beside_every_peer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hidden_solves, "ionosphere_system", lambda: (MATRIX, VECTOR))
    monkeypatch.setattr(hidden_solves, "cheetah_cost", lambda *_: SolveCost(100.0, 10**9))
    monkeypatch.setattr(hidden_solves, "phe_newton_seconds", lambda *_: None)
    rows = bench_hidden(runs=1, fraction_bits=(14,))
    assert len(rows) == 6
    assert {row["bench"] for row in rows} == {"learn"}
    for row in rows:
        if row["theirs"] is None:
            assert row["ratio"] is None
        else:
            assert row["ratio"] == pytest.approx(row["theirs"] / row["ours"])


def said(theta: list[float], log: str) -> object:
    text = f"{log}\n{json.dumps({'theta': theta, 'cpu_s': 2.5})}\n"
    return SimpleNamespace(stdout=text, stderr="")


def test_a_peers_seconds_and_bytes_are_read_off_its_words(monkeypatch: pytest.MonkeyPatch) -> None:
    theta = newton(MATRIX, VECTOR, 10).tolist()
    monkeypatch.setattr(hidden_solves, "find_spec", lambda _: True)
    log = "[info] Link details: total send bytes 22070547, recv bytes 21737420, send actions 2289"
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: said(theta, log))
    assert cheetah_cost(MATRIX, VECTOR) == SolveCost(2.5, 22070547 + 21737420)
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: said(theta, ""))
    with pytest.raises(CheckFailedError, match="bytes"):
        cheetah_cost(MATRIX, VECTOR)
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: said([0.0, 0.0], log))
    with pytest.raises(CheckFailedError, match="Newton"):
        cheetah_cost(MATRIX, VECTOR)


def test_a_missing_peer_is_no_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hidden_solves, "find_spec", lambda _: None)
    assert cheetah_cost(MATRIX, VECTOR) is None
    assert phe_newton_seconds(34, 2048) is None


def test_newton_in_clear_solves() -> None:
    np.testing.assert_allclose(newton(MATRIX, VECTOR, 30), np.linalg.solve(MATRIX, VECTOR))


def test_phe_is_scaled_by_its_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    costs = {"encrypt": 1.0, "add": 0.0, "decrypt": 0.0, "multiply": 0.0}
    monkeypatch.setattr(hidden_solves, "_phe_seconds", lambda *_: costs)
    monkeypatch.setattr(hidden_solves, "find_spec", lambda _: True)
    assert phe_newton_seconds(34, 2048) == 20 * 3 * 34**2
    costs["multiply"] = 1.0
    assert phe_newton_seconds(34, 2048) == 20 * (3 * 34**2 + 2 * 34**3)


def test_phe_operations_are_timed() -> None:
    pytest.importorskip("phe")
    found = hidden_solves._phe_seconds(512, 3)
    assert set(found) == {"encrypt", "add", "decrypt", "multiply"}
    assert min(found.values()) >= 0


def test_a_wrong_solution_fails_the_bench() -> None:
    system = IntegerSystem([[2, 0], [0, 3]], [1, 1], 0)
    wrong = HiddenSolution(Share(101, (1, 2)), Share(101, (1, 1)), Traffic())
    with pytest.raises(CheckFailedError, match="other integers"):
        hidden_solves._check_integers(wrong, system)
    here, there = (Share(1 << 40, values, fraction_bits=8) for values in ((1, 2), (1, 1)))
    with pytest.raises(CheckFailedError, match="1e-4"):
        hidden_solves._check_theta(HiddenSolution(here, there, Traffic()), system)
    assert PublicBounds(2, 0, 3, 5, 1).largest_determinant == 7
