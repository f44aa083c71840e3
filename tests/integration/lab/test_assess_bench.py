"""The bench of an assessment compares only what ranks alike."""

from dataclasses import replace

import numpy as np
import pytest
from sottovoce_lab.bench import assess
from sottovoce_lab.bench import assess as assess_peer
from sottovoce_lab.bench.assess import Material, bench_assess, check_pandas_ranks, ours, prepare

from sottovoce.corpus.simulate.community import SimulatedCommunity
from sottovoce.corpus.simulate.parameters import SimulationParameters
from sottovoce.corpus.simulate.write import simulate
from sottovoce.errors import CheckFailedError

KEYS = {"bench", "case", "unit", "ours", "peer", "theirs", "ratio"}


def small(asked: SimulationParameters) -> SimulatedCommunity:
    """What the bench asks for, in fewer weeks, with fewer topics and less to learn from."""
    topics = asked.sensitive_topics[:3]
    return simulate(replace(asked, weeks=12, sensitive_topics=topics, background_documents=500))


@pytest.fixture(scope="module")
def material(tmp_path_factory: pytest.TempPathFactory) -> Material:
    pytest.importorskip("tomotopy")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(assess, "ITERATIONS", 20)
        patch.setattr(assess, "simulate", small)
        return prepare(tmp_path_factory.mktemp("bench"), 600, 8)


def test_every_case_has_a_row(material: Material, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("gensim")
    monkeypatch.setattr(assess, "prepare", lambda *_arguments: material)
    rows = bench_assess(600, users=1000, peer_posts=100, topics=8, seconds=0.0)
    assert all(set(row) == KEYS for row in rows)
    assert [row["case"].partition(",")[0] for row in rows][-2:] == ["ent", "diff-priv"]
    timed = [row for row in rows if row["unit"] != "share"]
    assert all(row["ratio"] and row["ratio"] > 0 for row in timed)
    assert len(timed) < len(rows), "each path says what share of it only one thread does"
    assert "of our top 10% in the peer's" in rows[0]["case"]


def test_pandas_ranks_everybody_as_we_do_given_our_strengths(material: Material) -> None:
    pytest.importorskip("pandas")
    check_pandas_ranks(material, ours(material))


def test_other_ranks_are_not_compared(material: Material, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pandas")
    right = assess_peer._ranks
    monkeypatch.setattr(
        assess_peer,
        "_ranks",
        lambda posts, strengths, catalogue: right(posts, np.roll(strengths, 1, 0), catalogue),
    )
    with pytest.raises(CheckFailedError, match="pandas ranks other users"):
        check_pandas_ranks(material, ours(material))
