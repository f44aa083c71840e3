"""The release studies, small: what they report, and that what they report is so."""

import json
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from types import ModuleType

import numpy as np
import pytest
from scipy import sparse
from sottovoce_lab._data import CountedCorpus
from sottovoce_lab.release import _study, figure_1, figure_2, table_1
from sottovoce_lab.release import synthetic as release_synthetic
from sottovoce_lab.release._study import (
    STRONG,
    WEAK,
    Level,
    ReleaseRecipe,
    ReleaseStudy,
    ReleaseStudySizes,
)

from sottovoce.arrays import Floats
from sottovoce.release.compression.embedding import Embedding
from sottovoce.release.counts import Counts
from sottovoce.report.result import StudyResult

WORDS = 40
VOCABULARY = tuple(f"w{i}" for i in range(WORDS))


def geometric(seed: int = 0) -> Callable[[Counts, Fraction], Counts]:
    """Two-sided geometric noise for tests only: numpy's generator is no privacy noise."""
    generator = np.random.default_rng(seed)

    def noise(counts: Counts, rate: Fraction) -> Counts:
        stop = -np.expm1(-float(rate))
        drawn = [generator.geometric(stop, counts.shape) for _ in range(2)]
        return sparse.csr_array(counts.toarray() + drawn[0] - drawn[1])

    return noise


def laplace(counts: Counts, rate: Fraction) -> Floats:
    generator = np.random.default_rng(0)
    return counts.toarray() + generator.laplace(scale=1 / float(rate), size=counts.shape)


def corpus(seed: int = 0) -> CountedCorpus:
    """Documents of one of four topics, ten words each."""
    generator, topic = np.random.default_rng(seed), np.arange(60) % 4
    means = np.where(np.arange(WORDS)[None, :] // 10 == topic[:, None], 2.0, 0.05)
    counts = sparse.csr_array(generator.poisson(means))
    return CountedCorpus(counts, VOCABULARY, tuple(f"t{each}" for each in topic))


def recipe(columns: int = 8) -> ReleaseRecipe:
    vectors = np.repeat(np.eye(4, dtype=np.float32), 10, axis=0)
    return ReleaseRecipe(geometric(), columns, VOCABULARY, Embedding(VOCABULARY, vectors))


def study(
    levels: tuple[Level, ...] = (WEAK,),
    columns: int = 8,
    documents: Callable[[int], CountedCorpus] = lambda _seed: corpus(),
    seeds: int = 2,
    iterations: int = 10,
) -> ReleaseStudy:
    sizes = ReleaseStudySizes(
        topics=4, seeds=seeds, iterations=iterations, dimensions=4, levels=levels
    )
    return ReleaseStudy(recipe(columns), documents, sizes)


def assert_sound(result: StudyResult) -> None:
    """Rows are JSON, share their keys, and show the true epsilon wherever there is one."""
    json.dumps(result.rows, allow_nan=False)
    assert len({frozenset(row) for row in result.rows}) == 1
    assert all(row["true_epsilon"] is not None for row in result.rows if row["rate"] is not None)
    assert {*result.shown, *result.wide} <= set(result.rows[0])
    for plot in result.plots:
        assert plot.svg.startswith("<svg")


@pytest.fixture
def topics() -> None:
    pytest.importorskip("tomotopy", reason="tomotopy is missing: pip install sottovoce[topics]")


def test_synthetic_shows_the_paper_s_cells_in_both_accountings(topics: None) -> None:
    result = release_synthetic.run(study(documents=corpus))
    assert_sound(result)
    printed = [row for row in result.rows if row["paper_jaccard"] is not None]
    assert len(printed) == 10
    for row in printed:
        weaker = WORDS / 8 if row["accounting"] == "paper" else 1
        assert row["true_epsilon"] == pytest.approx(weaker * float(str(row["stated_epsilon"])))
    assert any("tenth" in note for note in result.notes)


def test_noise_costs_topics(topics: None) -> None:
    """Almost no noise keeps the topics; strong noise leaves little more than chance."""
    levels = (Level(Fraction(50), 1), Level(Fraction(1, 50), 1))
    rows = release_synthetic.run(study(levels, documents=corpus, iterations=30)).rows
    jaccard = {row["rate"]: row["jaccard"] for row in rows if row["method"] == "none"}
    assert float(str(jaccard[50.0])) > 0.5 > float(str(jaccard[0.02]))


def test_figure_2_runs_every_method_at_equal_true_epsilon(topics: None) -> None:
    result = figure_2.run(study(iterations=5))
    assert_sound(result)
    for accounting in ("tight", "paper"):
        rows = [row for row in result.rows if row["accounting"] == accounting]
        assert len({row["method"] for row in rows}) == 5
        assert len({row["true_epsilon"] for row in rows}) == 1
    assert result.rows[0]["paper_exclusivity"] == 0.2642
    assert result.rows[0]["accuracy"] == 1
    (noiseless,) = [
        row for row in result.rows if (row["method"], row["accounting"]) == ("none", "paper")
    ]
    assert noiseless["jaccard"] == result.rows[0]["jaccard"]


def test_table_1_shows_the_shared_words_of_a_pair(topics: None) -> None:
    result = table_1.run(study(columns=4, seeds=1), pair=2)
    assert_sound(result)
    assert len(result.rows) == 20
    for row in result.rows:
        ours, theirs = row["private_words"], row["true_words"]
        assert isinstance(ours, list)
        assert isinstance(theirs, list)
        shared = set(ours) & set(theirs)
        assert set(row["shared_words"]) == shared  # type: ignore[arg-type]  # a list of words
        assert row["jaccard"] == pytest.approx(len(shared) / len(set(ours) | set(theirs)))
    # One clause for each level and accounting: levels of equal epsilon but another N stay apart.
    assert result.plots[0].finding.count("without compression") == 4
    printed = {row["paper_jaccard"] for row in result.rows}
    assert printed == {None, 0.6, 0.2121, 0.0256, 0.0811}


@pytest.mark.parametrize("module", [release_synthetic, figure_2])
def test_no_private_model_shares_its_seed_with_a_reference(
    module: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A common seed would make models of nearly the same text agree by that alone."""
    seeds: list[int] = []

    def untrained(counts: Counts, topics: int, seed: int, **options: int) -> Floats:
        seeds.append(seed)
        return np.random.default_rng(len(seeds)).random((topics, counts.shape[1]))

    monkeypatch.setattr(_study, "fit_topics", untrained)
    module.run(study())
    assert len(seeds) > 4
    assert not set(seeds[:2]) & set(seeds[2:])


def test_figure_1_measures_density_and_foreign_words() -> None:
    result = figure_1.run(recipe(), corpus().first(30), laplace, length_cap=10)
    assert_sound(result)
    panels = {row["panel"]: row for row in result.rows}
    assert "".join(str(panel) for panel in panels) == "abcdef"
    assert panels["a"]["foreign_words_mean"] == 0
    assert panels["a"]["length_ratio"] == 1
    assert all(panels[panel]["true_epsilon"] == 2 for panel in "bcdef")
    assert panels["b"]["rate"] == 2 / 20
    assert panels["e"]["rate"] == 1

    def length(panel: str) -> float:
        return float(str(panels[panel]["length_ratio"]))

    assert length("c") > length("e") > 1
    assert length("b") > length("d") > 1


def test_a_release_spends_exactly_the_rate_it_is_given() -> None:
    """The frequencies' rate and the columns' rate sum to the whole."""
    for method in ("none", "random", "frequency", "embedding-cluster", "embedding-disperse"):
        rates: list[Fraction] = []

        def recording(counts: Counts, rate: Fraction, spent: list[Fraction] = rates) -> Counts:
            spent.append(rate)
            return counts

        counts = corpus().counts
        kept = replace(recipe(), noise=recording).release(method, counts, Fraction(1, 3), 0)
        assert sum(set(rates)) == Fraction(1, 3)
        assert kept.sum() == counts.sum()


def test_frequencies_are_bought_once_for_all_documents() -> None:
    calls: list[tuple[int, ...]] = []

    def recording(counts: Counts, rate: Fraction) -> Counts:
        calls.append(counts.shape)
        return counts

    ReleaseRecipe(recording, 8).release("random", corpus().counts, Fraction(1), 0)
    assert calls == [(1, WORDS), (60, 8)]


def test_without_an_embedding_its_methods_are_left_out(topics: None) -> None:
    bare = replace(study((STRONG,), seeds=1, iterations=2), recipe=ReleaseRecipe(geometric(), 8))
    methods = {row["method"] for row in figure_2.run(bare).rows}
    assert methods == {"true text", "none", "random", "frequency"}
