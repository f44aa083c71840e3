"""Tables 1 to 3 of R-Susceptibility, small: what they report, and that what they report is so."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from sottovoce_lab.assess import table_1, table_2, table_3
from sottovoce_lab.assess._simulated_judges import simulated_catalogue
from sottovoce_lab.assess.table_1 import Panels

from sottovoce.corpus.simulate.community import SimulatedCommunity
from sottovoce.corpus.simulate.parameters import SimulationParameters
from sottovoce.corpus.simulate.write import simulate
from sottovoce.errors import InputError, ParameterError
from sottovoce.report.result import Row, StudyResult
from sottovoce.topics.catalogue import Catalogue, Topic
from sottovoce.topics.judgements.votes import Vote

Run = Callable[..., tuple[int, str, str]]
SMALL = SimulationParameters(users=60, weeks=3, background_documents=400)


@pytest.fixture(scope="module")
def community() -> SimulatedCommunity:
    return simulate(SMALL)


@pytest.fixture(scope="module")
def catalogue(community: SimulatedCommunity) -> Catalogue:
    return simulated_catalogue(community.topics)


def named(result: StudyResult, name: str, column: str = "row") -> Row:
    return next(row for row in result.rows if row[column] == name)


def test_table_1_counts_all_topics_and_recomputes_the_paper_s_kappas(catalogue: Catalogue) -> None:
    result = table_1.run(Panels.simulate(catalogue, 4))
    counted = [row for row in result.rows if row["agreeing"] is not None]
    assert [row["agreeing"] for row in counted] == [7, 6, 5, 4, 3, 2, 1, 0]
    assert sum(row["ours"] for row in counted) == pytest.approx(46)  # type: ignore[misc] # numbers
    printed, again = (
        named(result, "Fleiss' kappa"),
        named(result, "kappa from the paper's own counts"),
    )
    for corpus in ("quora", "nyt", "hf"):
        assert round(again[f"paper_{corpus}"], 3) == printed[f"paper_{corpus}"]  # type: ignore[arg-type] # numbers
        percents = [row[f"paper_{corpus}_percent"] for row in counted]
        assert sum(percents) == pytest.approx(100)  # type: ignore[arg-type] # numbers
    assert any("judges are simulated" in note for note in result.notes)


def test_simulated_judges_disagree_about_as_much_as_the_paper_s(catalogue: Catalogue) -> None:
    result = table_1.run(Panels.simulate(catalogue, 20))
    kappa = named(result, "Fleiss' kappa")["ours"]
    assert isinstance(kappa, float)
    assert 0.1 < kappa < 0.35


def test_table_1_of_real_votes_is_theirs_and_leaves_the_paper_out_at_other_numbers() -> None:
    votes = [
        Vote(f"j{judge}", topic, judge < yes)
        for topic, yes in (("hiv", 3), ("pets", 0), ("music", 0))
        for judge in range(3)
    ]
    result = table_1.run(Panels([votes]))
    counted = {row["agreeing"]: row["ours"] for row in result.rows if row["agreeing"] is not None}
    assert counted == {3: 1, 2: 0, 1: 0, 0: 2}
    assert named(result, "Fleiss' kappa")["ours"] == pytest.approx(1.0)
    assert named(result, "3 of 3 judges")["paper_quora"] is None
    assert not any("simulated" in note for note in result.notes)
    with pytest.raises(InputError, match="as many votes on every topic"):
        table_1.run(Panels([votes[:-1]]))


def test_the_survey_stands_beside_judges_and_catalogue(catalogue: Catalogue) -> None:
    survey = {"Health": 3.4, "Anxiety": 3.2, "Religious Views": 2.5, "Media Preferences": 2.3}
    result = table_1.run(Panels.simulate(catalogue, 3), survey)
    row = named(result, "survey: rank correlation with judges' shares")
    assert row["points"] == 4
    assert isinstance(row["ours"], float)
    assert named(result, "survey: Health")["people"] == 3.4
    assert any("only 4 of its 33 kinds" in note for note in result.notes)
    without = table_1.run(Panels.simulate(catalogue, 1))
    assert any("not at hand" in note for note in without.notes)


def test_table_2_finds_sensitive_topics_in_a_trained_model(
    community: SimulatedCommunity, catalogue: Catalogue
) -> None:
    pytest.importorskip("tomotopy", reason="tomotopy is missing: pip install sottovoce[topics]")
    texts = [str(text) for text in community.background["text"].to_pylist()]
    only = Catalogue(catalogue.sensitive)
    result = table_2.run(table_2.AssessTable2Settings(only, texts, topics=30, iterations=60))
    assert [row["topic"] for row in result.rows] == list(only.names)
    found = [row for row in result.rows if row["dimension"] is not None]
    assert found
    for row in found:
        ours, paper = row["our_words"], row["paper_words"]
        assert isinstance(ours, list)
        assert isinstance(paper, list)
        assert len(ours) == len(paper) == 8
        assert row["overlap"] == len(set(ours) & set(paper))
        assert set(ours) & set(only.by_name[str(row["topic"])].words)
    assert any("simulated" in note for note in result.notes)


def test_a_topic_that_the_model_lacks_has_an_empty_row(catalogue: Catalogue) -> None:
    pytest.importorskip("tomotopy", reason="tomotopy is missing: pip install sottovoce[topics]")
    texts = [f"tomato basil soup{number % 3} garden" for number in range(40)]
    settings = table_2.AssessTable2Settings(catalogue, texts, "own.txt", topics=2, iterations=5)
    with pytest.raises(ParameterError, match="count must be"):
        table_2.run(settings)  # six words are not eight
    texts += ["one more plate with oil and pepper"] * 9
    settings = table_2.AssessTable2Settings(catalogue, texts, "own.txt", topics=2, iterations=5)
    result = table_2.run(settings)
    assert {row["dimension"] for row in result.rows} == {None}
    assert "0 of 5 sensitive topics" in result.plots[0].finding


def test_table_3_samples_by_score_and_counts_majorities(community: SimulatedCommunity) -> None:
    result = table_3.run(lambda _seed: community, 2, 12)
    topics = [row for row in result.rows if row["paper_aol"] is not None][:5]
    total = named(result, "TOTAL", "topic")
    assert total["of"] == 60
    assert total["ours"] == pytest.approx(sum(row["ours"] for row in topics))  # type: ignore[misc] # numbers
    assert total["ours"] > total["uniform"]  # type: ignore[operator] # numbers
    debts = named(result, "financial debts", "topic")
    assert (debts["paper_quora"], debts["paper_quora_corrected"], debts["paper_hf"]) == (
        11,
        10,
        None,
    )
    assert (total["paper_quora"], total["paper_quora_corrected"]) == (68, 67)
    kappa = named(result, "Fleiss' kappa", "topic")["ours"]
    assert isinstance(kappa, float)
    assert 0.2 < kappa < 0.9


def test_the_paper_s_table_3_adds_up_as_printed_and_recomputes_only_as_corrected() -> None:
    topics = [topic for topic in table_3.PAPER_USERS if topic != "TOTAL"]
    columns = list(zip(*(table_3.PAPER_USERS[topic] for topic in topics), strict=True))
    sums = [sum(count or 0 for count in column) for column in columns]
    assert sums == table_3.PAPER_USERS["TOTAL"]
    micro = (0.358, 0.493, 0.299, 0.418)  # Table 5, Quora, LDA rows

    def recomputes(users: int) -> bool:
        return all(any(round(hits / users, 3) == value for hits in range(users)) for value in micro)

    assert recomputes(table_3.CORRECTED_QUORA["TOTAL"])
    assert not recomputes(68)


def test_users_are_scored_by_their_best_post(community: SimulatedCommunity) -> None:
    users, scores = table_3.strengths(community)
    assert set(users) == set(community.posts["user"].to_pylist())
    assert set(scores) == set(community.parameters.sensitive_topics)
    assert all(0 <= value <= 1 for each in scores.values() for value in each)
    words = set(community.topics[0].words)
    name = community.topics[0].name
    for user, score in zip(users, scores[name], strict=True):
        texts = [
            row["text"].lower()
            for row in community.posts.to_pylist()
            if row["user"] == user and any(word in row["text"].lower() for word in words)
        ]
        if not texts:
            assert score == 0


@pytest.mark.parametrize("name", ["assess-table-1", "assess-table-2", "assess-table-3"])
def test_a_quick_study_prints_its_rows_and_fills_its_folder(
    run: Run, tmp_path: Path, name: str
) -> None:
    pytest.importorskip("tomotopy", reason="tomotopy is missing: pip install sottovoce[topics]")
    code, out, _ = run("study", name, "--quick", "--out", tmp_path / "out", "--json")
    assert code == 0
    assert json.loads(out) == json.loads((tmp_path / "out" / "rows.json").read_text())
    assert (tmp_path / "out" / "report.html").read_text().count("<svg") == 1


def test_table_1_runs_on_a_user_s_votes_and_catalogue(run: Run, tmp_path: Path) -> None:
    votes, topics = tmp_path / "votes.csv", tmp_path / "topics.toml"
    votes.write_text("judge,topic,sensitive\na,x,yes\nb,x,yes\na,y,no\nb,y,no\n")
    Catalogue((Topic("x", ("x",), "law"), Topic("y", ("y",), "law"))).save(topics)
    asked = ("study", "assess-table-1", "--votes", votes, "--json")
    code, out, _ = run(*asked)
    assert code == 0
    assert [row["ours"] for row in json.loads(out) if row["agreeing"] is not None] == [1, 0, 1]
    code, again, _ = run(*asked, "--data", topics)
    assert code == 0
    assert [row["ours"] for row in json.loads(again)][:3] == [1, 0, 1]
    Catalogue((Topic("x", ("x",), "law"),)).save(topics)
    assert run(*asked, "--data", topics)[0] == 2


def test_table_2_runs_on_a_sample_of_a_user_s_documents(run: Run, tmp_path: Path) -> None:
    pytest.importorskip("tomotopy", reason="tomotopy is missing: pip install sottovoce[topics]")
    path = tmp_path / "documents.csv"
    lines = [f"debt loan bank plate{number % 5} oil salt pepper bread" for number in range(60)]
    path.write_text("\n".join(["body", *lines]))
    asked = ("study", "assess-table-2", "--data", path, "--fields", "text=body", "--quick")
    code, out, _ = run(*asked, "--documents", 40, "--json")
    assert code == 0
    assert {row["documents"] for row in json.loads(out)} == {40}
    assert {row["data"] for row in json.loads(out)} == {str(path)}
    code, out, _ = run(*asked, "--json")
    assert {row["documents"] for row in json.loads(out)} == {60}
