"""Paillier's bench compares equal values, and says what is missing."""

import os
from importlib.util import find_spec

import pytest
from sottovoce_lab.bench import paillier
from sottovoce_lab.bench.paillier import PEERS, Encrypted, Ours

from sottovoce.compiled import available_cores
from sottovoce.errors import CheckFailedError

OPERATIONS = ["encrypt", "add", "multiply by a scalar", "decrypt"]


QUICK = {"key_bits": (2048,), "seconds": 0.0}


@pytest.fixture
def quick_peers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without sf-heu, which takes long to make keys."""
    monkeypatch.setattr(
        paillier, "find_spec", lambda name: None if name == "heu" else find_spec(name)
    )
    monkeypatch.setattr(paillier.bench_paillier, "__kwdefaults__", QUICK)


@pytest.mark.long
def test_all_peers_compute_the_same() -> None:
    for peer in ("heu", "tenseal"):
        pytest.importorskip(peer, reason="a peer: make peers")
    rows = paillier.bench_paillier(64, key_bits=(2048,), seconds=0)
    assert {row["peer"] for row in rows if row["theirs"]} >= set(PEERS)


def test_every_operation_is_compared_with_every_peer(quick_peers: None) -> None:
    rows = paillier.bench_paillier(16)
    found = {(row["case"], row["peer"]) for row in rows if row["unit"] == "values/s"}
    assert found >= {(f"2048 bits, {name}", peer) for name in OPERATIONS for peer in PEERS}
    assert all(row["ratio"] is None or row["ratio"] > 0 for row in rows)
    per_ciphertext = {row["case"] for row in rows if row["unit"] == "ciphertexts/s"}
    assert per_ciphertext == {f"2048 bits, {name}" for name in OPERATIONS}
    assert any("new key, tables and 16 values" in row["case"] for row in rows)
    assert any("2 cores" in row["case"] for row in rows) == (available_cores() > 1)


def test_a_missing_peer_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paillier, "find_spec", lambda _name: None)
    rows = paillier.bench_paillier(16, key_bits=(2048,), seconds=0)
    assert {row["theirs"] for row in rows if row["peer"] in PEERS} == {None}


def test_a_scheme_that_computes_something_else_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(self: Ours, encrypted: Encrypted) -> Encrypted:
        return encrypted * (paillier.SCALAR - 1)

    monkeypatch.setattr(Ours, "times", wrong)
    monkeypatch.setattr(paillier, "find_spec", lambda _name: None)
    with pytest.raises(CheckFailedError, match="ours computes other values"):
        paillier.bench_paillier(16, key_bits=(2048,), seconds=0)


def test_what_a_peer_prints_goes_to_standard_error(capfd: pytest.CaptureFixture[str]) -> None:
    with paillier.output_to_errors():
        os.write(1, b"from C++")
    os.write(1, b"rows")
    shown = capfd.readouterr()
    assert (shown.out, shown.err) == ("rows", "from C++")
