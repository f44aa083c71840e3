"""A topic that nobody mentions puts nobody into a band, and the tables say so."""

import numpy as np
import pyarrow as pa
import pytest
from sottovoce_spark._ranks import band_numbers

from sottovoce.assess import Ranking, Scoring, State, known_measures, score
from sottovoce.assess.alerts import MEMBERS, check_bands
from sottovoce.assess.ranking import EVIDENCE, without_evidence
from sottovoce.assess.state.words import WordUse
from sottovoce.corpus.read.corpus import open_posts
from sottovoce.topics import BagOfWords, Catalogue, Topic

TOPICS = Catalogue(
    (
        Topic("debts", ("debt",), "money", sensitive=True),
        Topic("loans", ("loan", "bank"), "money"),
        Topic("wages", ("wage",), "money"),
    )
)
# All write of neighbouring topics, each to another degree, but nobody of debts.
ROWS = [
    (f"u{number:03}", "2024-01-01", " ".join(["loan"] * (1 + number) + ["bank"] * 5))
    for number in range(100)
]
MEASURES = ("bow-d", "bow-dt", "bow", "ent", "diff-priv")


def ranked(rows: list[tuple[str, str, str]]) -> Ranking:
    return score(rows, (), TOPICS, measures=MEASURES, k=1.0)


@pytest.mark.parametrize("measure", MEASURES)
def test_nobody_is_in_a_band_for_a_topic_that_nobody_mentions(measure: str) -> None:
    ranking = score(ROWS, (), TOPICS, measures=(measure,), k=0.5)
    assert set(ranking.select(measure, "debts")["band"].to_pylist()) == {"rest"}
    assert ranking.summary[0][EVIDENCE] == 0


def test_breadth_alone_parts_their_scores() -> None:
    """Without the rule some would be in the top 1%, at a score below 0."""
    scores = score(ROWS, (), TOPICS, measures=("bow-d",), k=0.5).select("bow-d", "debts")["score"]
    assert scores[0].as_py() < 0
    assert len(set(scores.to_pylist())) > 50


def test_one_who_mentions_it_is_ranked_and_the_bands_are_as_ever() -> None:
    rows = [*ROWS, ("ada", "2024-01-02", "debt")]
    ranking = ranked(rows)
    for measure in MEASURES:
        first = ranking.select(measure, "debts")
        assert (first["user"][0].as_py(), first["band"][0].as_py()) == ("ada", "top 1%")
    assert [row[EVIDENCE] for row in ranking.summary] == [1] * len(MEASURES)
    assert without_evidence(ranking.summary) == []


def test_tables_say_that_nobody_has_evidence() -> None:
    shown = str(ranked(ROWS))
    assert "Nobody has written anything that speaks for debts (by bow-d, bow-dt, bow, ent" in shown
    assert "nobody is in a band" in shown


def test_topics_that_nobody_mentions_are_said_in_one_sentence_by_measures() -> None:
    rows = [("bow", "debts", 0), ("bow", "rent", 0), ("ent", "debts", 0), ("ent", "rent", 0)]
    rows += [("bow", "tax", 0), ("ent", "tax", 4)]
    summary = [dict(zip(("measure", "topic", EVIDENCE), row, strict=True)) for row in rows]
    several, one = without_evidence(summary)
    assert "speaks for debts, rent (by bow, ent): nobody is in a band" in several
    assert one.startswith("Nobody has written anything that speaks for tax (by bow): nobody is")


def test_nobody_is_alerted_and_who_was_in_leaves() -> None:
    state: State = Scoring(TOPICS, [BagOfWords()]).state_of(open_posts(ROWS))
    measures = {"bow-d": known_measures()["bow-d"]}
    changes, members = check_bands(state, measures, MEMBERS.empty_table(), topics=["debts"])
    assert (changes.num_rows, members.num_rows) == (0, 0)
    before = pa.Table.from_pylist(
        [{"measure": "bow-d", "topic": "debts", "percent": 10, "user": "u000"}], MEMBERS
    )
    changes, members = check_bands(state, measures, before, topics=["debts"])
    assert changes["entered"].to_pylist() == [False]
    assert members.num_rows == 0


def test_any_of_some_words_is_found_wherever_its_bit_is() -> None:
    use = WordUse(20)
    use.admit(3)
    use.bits[0, 0], use.bits[1, 2] = 1, 8
    found = use.any_used(np.array([0, 19]))
    assert found.tolist() == [True, True, False]
    assert use.any_used(np.array([1, 9])).tolist() == [False] * 3


def test_on_a_cluster_nobody_is_in_a_band_either() -> None:
    at_least = np.arange(1, 201)
    assert set(band_numbers(at_least, 200, evident=0).tolist()) == {3}
    assert set(band_numbers(at_least, 200, evident=1).tolist()) == {0, 1, 2, 3}
