"""The release bench compares equal work, and measures memory in a process of its own."""

from fractions import Fraction

import numpy as np
import pytest
from sottovoce_lab.bench import noise, release
from sottovoce_lab.bench.memory import (
    WAYS,
    Memory,
    ReleaseBenchSetting,
    check_release,
    output_bytes,
    release_memory,
)

from sottovoce.errors import CheckFailedError

SMALL = ReleaseBenchSetting(300, 20, Fraction(1, 2))
WIDE = ReleaseBenchSetting(6800, 6800, Fraction(5))


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every peer on a few documents; memory as a child would tell it."""
    cases = tuple(
        release.ReleaseBenchCase(case.setting, {"opendp": 2, "numpy": 10}) for case in release.CASES
    )
    monkeypatch.setattr(release, "CASES", cases)
    told = {"ours": Memory(2_000_000, 1_000_000), "numpy": Memory(3_000_000, 0)}
    monkeypatch.setattr(release, "release_memory", lambda way, *_rest: told[way])


def test_every_row_keeps_the_contract_and_says_what_was_scaled_up(small_parts: None) -> None:
    rows = release.bench_release(100, seconds=0)
    keys = {"bench", "case", "unit", "ours", "peer", "theirs", "ratio"}
    assert all(set(row) == keys and row["bench"] == "release" for row in rows)
    assert {row["case"].partition(", rate")[0] for row in rows} == {
        "100 documents x 6,800 words, 100 columns",
        "100 documents x 6,800 words, all columns",
    }
    for row in rows:
        if row["theirs"] is not None and row["peer"].startswith("OpenDP"):
            assert row["peer"].endswith("scaled up from 2 documents")
        elif "numpy" in row["peer"]:
            assert row["peer"].endswith("scaled up from 10 documents")


def test_memory_is_scaled_to_the_corpus_and_less_is_better(small_parts: None) -> None:
    rows = [row for row in release.bench_release(100, seconds=0) if row["unit"] == "MB"]
    assert len(rows) == 2
    for row in rows:
        assert (row["ours"], row["theirs"], row["ratio"]) == (2.0, 30.0, 15.0)
        assert row["case"].endswith("peak for an output of 1 MB")


def test_without_opendp_its_rows_have_no_figures(
    small_parts: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(noise, "optional_module", lambda _: None)
    rows = release.bench_release(100, seconds=0)
    absent = [row for row in rows if row["theirs"] is None]
    assert [row["peer"] for row in absent] == [noise.OPENDP_NAME] * 2
    with pytest.raises(CheckFailedError, match="make peers"):
        WAYS["opendp"](SMALL, release.zipf_corpus(5, SMALL.words))


def test_the_corpus_has_zipf_shape_and_is_the_same_every_time() -> None:
    counts = release.zipf_corpus(2000, 1000)
    assert counts.shape == (2000, 1000)
    assert counts.has_canonical_format
    assert counts.sum() == 2000 * 100
    totals = counts.toarray().sum(axis=0)
    assert totals[0] / totals[9] == pytest.approx(10, rel=0.1)
    np.testing.assert_array_equal(counts.toarray(), release.zipf_corpus(2000, 1000).toarray())


@pytest.mark.parametrize("way", [name for name in WAYS if name != "opendp"])
def test_a_way_that_adds_other_noise_is_not_compared(way: str) -> None:
    counts = release.zipf_corpus(400, SMALL.words)
    check_release(way, SMALL, counts, WAYS[way](SMALL, counts))
    weaker = ReleaseBenchSetting(SMALL.words, SMALL.columns, Fraction(3, 4))
    with pytest.raises(CheckFailedError, match=f"{way} adds other noise"):
        check_release(way, SMALL, counts, WAYS[way](weaker, counts))


def test_opendp_adds_the_same_noise() -> None:
    pytest.importorskip("opendp", reason="a peer: make peers")
    counts = release.zipf_corpus(50, SMALL.words)
    check_release("opendp", SMALL, counts, WAYS["opendp"](SMALL, counts))


def test_a_process_of_its_own_tells_dense_memory_from_sparse() -> None:
    counts = release.zipf_corpus(500, WIDE.words)
    dense, ours = (release_memory(way, WIDE, counts) for way in ("numpy", "ours"))
    assert dense.peak > 500 * WIDE.words * 8
    assert ours.peak < dense.peak / 4
    assert ours.output == pytest.approx(dense.output, rel=0.05)
    assert ours.output > output_bytes(counts)
