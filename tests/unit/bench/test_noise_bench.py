"""The noise bench compares at equal rate and says when a peer is absent."""

from fractions import Fraction

import pytest

from sottovoce.bench import noise


def test_rows_compare_every_size_with_both_peers() -> None:
    rows = noise.noise_rows([1000, 2000], [Fraction(1)], opendp_samples=100)
    assert [row["case"].split(",")[1].strip() for row in rows] == ["1e+03 samples"] * 2 + [
        "2e+03 samples"
    ] * 2
    assert {row["bench"] for row in rows} == {"noise"}
    for row in rows:
        if row["theirs"] is not None:
            assert row["ratio"] == row["ours"] / row["theirs"]


def test_an_absent_peer_is_named_with_the_way_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(noise, "_opendp", lambda: None)
    absent, present = noise.noise_rows([1000], [Fraction(1)])
    assert absent["theirs"] is None
    assert absent["ratio"] is None
    assert "make peers" in absent["peer"]
    assert present["ratio"] is not None
