"""``sottovoce topics judge``, ``match`` and ``catalogue`` as their users meet them."""

import csv
import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support.shown import Run

from sottovoce.cli.topics import judge
from sottovoce.corpus.counts import count_batches
from sottovoce.corpus.read.corpus import read_truth
from sottovoce.corpus.simulate.parameters import SimulationParameters
from sottovoce.corpus.simulate.write import write_community
from sottovoce.corpus.vocabulary import Vocabulary
from sottovoce.corpus.words.rules import TokenRules
from sottovoce.topics import Catalogue, load_model
from sottovoce.topics.judgements import votes
from sottovoce.topics.judgements.votes import CHECK_TEXT
from sottovoce.topics.lda.model import LdaModel
from sottovoce.topics.model_file import Origin

PARAMETERS = SimulationParameters(users=60, weeks=3, background_documents=1)


@pytest.fixture(scope="module")
def community(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("community")
    write_community(folder, PARAMETERS)
    return folder


@pytest.fixture
def folder(community: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A simulated community, in whose folder commands run."""
    shutil.copytree(community, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def rows_of(sheet: Path) -> list[dict[str, str]]:
    with sheet.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def fill(path: Path, answer: Callable[[dict[str, str]], dict[str, str]]) -> None:
    """Answer every row of a sheet as a judge would, and save it as a spreadsheet does."""
    rows = [row if row["sensitive"] else {**row, **answer(row)} for row in rows_of(path)]
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0], delimiter=";")
        writer.writeheader()
        writer.writerows(rows)


def honest(row: dict[str, str]) -> dict[str, str]:
    for answer, domain in (("yes", "law"), ("no", "society")):
        if row["words"] == CHECK_TEXT.format(answer=answer, domain=domain):
            return {"sensitive": answer, "domain": domain}
    is_debt = "debt" in row["words"].split(", ")
    answers = ("Yes", "finance") if is_debt else ("no", "other")
    return {"sensitive": answers[0], "domain": answers[1]}


def careless(row: dict[str, str]) -> dict[str, str]:
    return {"sensitive": "yes", "domain": "medicine"}


def test_a_study_goes_from_sheets_to_a_judged_catalogue(run: Run, folder: Path) -> None:
    code, out, _ = run(
        *("topics", "judge", "export", "topics.toml", "--out", "s.csv"),
        *("--judges", 3, "--checks", 2, "--split", "--json"),
    )
    files = json.loads(out)["files"]
    assert code == 0
    assert files == [f"s-judge-{number}.csv" for number in (1, 2, 3)]
    for file in files[:2]:
        fill(folder / file, honest)
    fill(folder / files[2], careless)
    asked = ("topics", "judge", "import", "topics.toml", *files)
    code, out, err = run(*asked, "--out", "judged.toml", "--json")
    assert code == 0
    assert "1 judges failed an attention check: kept" in err
    judged = Catalogue.load(Path("judged.toml"))
    assert [topic.name for topic in judged.sensitive] == ["financial debts"]
    assert judged.by_name["financial debts"].domain == "finance"
    assert len(json.loads(out)["topics"]) == 46
    for dropping, sensitive in (((), 46), (("--drop-failed",), 1)):
        run(*asked, "--out", "lenient.toml", "--threshold", "0.3", *dropping)
        assert len(Catalogue.load(Path("lenient.toml")).sensitive) == sensitive
    code, out, _ = run("topics", "judge", "agreement", *files, "--json")
    found = json.loads(out)
    assert (found["items"], found["judges"], found["votes"]) == (46, 3, 138)
    assert [row["items"] for row in found["table"]] == [1, 0, 45, 0]
    assert found["kappa"] < 0
    code, out, _ = run("topics", "judge", "agreement", *files, "--drop-failed")
    assert code == 0
    assert "kappa" in out


def test_when_all_judges_are_dropped_the_way_out_is_told(run: Run, folder: Path) -> None:
    run("topics", "judge", "export", "topics.toml", "--out", "s.csv", "--judges", 1, "--checks", 2)
    fill(folder / "s.csv", careless)
    code, _, err = run("topics", "judge", "agreement", "s.csv", "--drop-failed")
    assert code == 2
    assert "no vote is left; give more filled-in sheets" in err
    assert "leave --drop-failed out" in err


def test_a_platform_s_sheet_has_no_judges_and_its_votes_come_back(run: Run, folder: Path) -> None:
    run("topics", "judge", "export", "topics.toml", "--out", "batch.csv", "--judges", 0)
    rows = rows_of(folder / "batch.csv")
    assert list(rows[0]) == ["item", "words", "question", "domain_question"]
    lines = ["WorkerId,Input.item,Answer.sensitive,Answer.domain"]
    lines += [f"W{n},{row['item']},yes,law" for n in range(2) for row in rows]
    (folder / "votes.csv").write_text("\n".join(lines))
    code, out, _ = run("topics", "judge", "import", "topics.toml", "votes.csv", "--out", "j.toml")
    assert code == 0
    assert "46 of 46 judged topics sensitive" in out
    code, out, _ = run("topics", "judge", "agreement", "votes.csv", "--json")
    assert json.loads(out)["kappa"] is None


def test_wrong_votes_end_with_a_sentence_and_write_nothing(run: Run, folder: Path) -> None:
    votes = folder / "votes.csv"
    votes.write_text("judge,topic,sensitive\na,astrology,yes\n")
    code, out, err = run("topics", "judge", "import", "topics.toml", votes, "--out", "j.toml")
    assert (code, out) == (2, "")
    assert "1 votes are on topics that the catalogue does not have" in err
    assert "astrology" not in err
    votes.write_text("judge,topic,sensitive\na,hiv,yes\nb,hiv,\n")
    asked = ("topics", "judge", "import", "topics.toml", votes, "--out", "j.toml")
    assert "1 rows have no answer" in run(*asked)[2]
    assert not (folder / "j.toml").exists()
    code, _, err = run(*asked, "--allow-missing")
    assert code == 0
    assert "left out 1 rows without an answer" in err


PROFILES = ("topics", "judge", "export-profiles", "posts.parquet")
KEPT = ("--out", "p.csv", "--key", "p.key")


def write_pairs() -> pa.Table:
    """Six users with their topics, in a file."""
    pairs = pq.read_table("truth.parquet").select(["user", "topic"]).slice(0, 6)
    pq.write_table(pairs, "who.parquet")
    return pairs


def profile_answer(row: dict[str, str]) -> dict[str, str]:
    return {"sensitive": "yes" if row["judge"] in {"judge-1", "judge-2"} else "no"}


def test_profiles_are_exported_only_on_request_privately_and_become_a_truth(
    run: Run, folder: Path
) -> None:
    pairs = write_pairs()
    asked = (*PROFILES, "who.parquet", *KEPT, "--judges", "3")
    code, _, err = run(*asked)
    assert code == 2
    assert "--with-texts" in err
    assert not (folder / "p.csv").exists()
    code, _, err = run(*asked, "--with-texts")
    assert code == 0
    assert "keep it from the judges" in err
    for name in ("p.csv", "p.key"):
        assert (folder / name).stat().st_mode & 0o777 == 0o600
    users = set(pairs["user"].to_pylist())
    sheet = (folder / "p.csv").read_text()
    assert not any(user in sheet.replace(",", " ").split() for user in users)
    fill(folder / "p.csv", profile_answer)
    assert run(
        *("topics", "judge", "import-profiles", "p.csv"),
        *("--key", "p.key", "--out", "judged.parquet", "--json"),
    ).json["topics"][-1] == {"topic": "TOTAL", "sensitive": 6, "judged": 6}
    truth = read_truth(folder / "judged.parquet")
    assert sorted(
        zip(truth["user"].to_pylist(), truth["topic"].to_pylist(), strict=True)
    ) == sorted(zip(pairs["user"].to_pylist(), pairs["topic"].to_pylist(), strict=True))
    assert set(truth["grade"].to_pylist()) == {2 / 3}
    assert (folder / "judged.parquet").stat().st_mode & 0o777 == 0o600


def test_profiles_can_be_sampled_from_a_ranking(run: Run, folder: Path) -> None:
    lines = ["measure,user,topic,score"]
    lines += [f"lda,u{n:02},{topic},{n / 10}" for n in range(60) for topic in ("hiv", "debts")]
    (folder / "ranks.csv").write_text("\n".join(lines))
    asked = (*PROFILES, "ranks.csv", "--with-texts", *KEPT, "--judges", "0")
    assert run(*asked, "--sample", 5, "--base", 1e30, "--json").json["profiles"] == 10
    key = json.loads((folder / "p.key").read_text())["profiles"]
    assert {entry["user"] for entry in key} == {f"u{n}" for n in range(55, 60)}


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("user,score\na,1\n", "has no column topic"),
        ("user,topic\na,hiv\n", "has no column score"),
        ("user,topic,score\na,hiv,much\n", "score must be a number"),
        ("user,topic,score\n", "has no row"),
        ("measure,user,topic,score\nent,a,hiv,1\nlda,a,hiv,1\n", "several measures"),
    ],
)
def test_an_unusable_list_of_profiles_is_refused(
    run: Run, folder: Path, content: str, says: str
) -> None:
    (folder / "ranks.csv").write_text(content)
    code, _, err = run(*PROFILES, "ranks.csv", "--with-texts", *KEPT, "--sample", 5)
    assert code == 2
    assert says in err


@pytest.fixture
def model(folder: Path) -> Path:
    """A model with a dimension for each topic but the last, and its fingerprint on file."""
    topics = Catalogue.load(folder / "topics.toml").topics[:-1]
    words = [[word for word in topic.words if " " not in word] for topic in topics]
    terms = list(dict.fromkeys(word for own in words for word in own))
    phi = np.full((len(terms), len(topics)), 0.2 / len(terms))
    for number, own in enumerate(words):
        phi[[terms.index(word) for word in own], number] += 0.8 / len(own)
    vocabulary = Vocabulary.public(terms)
    LdaModel(phi, np.full(len(topics), 0.1), vocabulary, TokenRules()).save(folder / "model")
    return folder / "model"


def test_match_shows_words_and_shares_and_refuses_what_nothing_stands_for(
    run: Run, folder: Path, model: Path
) -> None:
    code, out, err = run("topics", "match", model, "topics.toml")
    assert code == 0
    assert "heroin" in out
    last = Catalogue.load(folder / "topics.toml").names[-1]
    assert f"nothing fits '{last}'" in err
    code, _, err = run("topics", "match", model, "topics.toml", "--out", "matched.toml")
    assert code == 2
    assert "1 of 46 topics match no dimension" in err
    assert not (folder / "matched.toml").exists()
    asked = ("topics", "match", model, "topics.toml", "--out", "matched.toml", "--json")
    found = run(*asked, "--allow-unmatched").json
    assert {row["dimension"]: row["topic"] for row in found["matches"]} == dict(
        enumerate(Catalogue.load(folder / "topics.toml").names[:-1])
    )
    matched = Catalogue.load(folder / "matched.toml")
    assert (len(matched), matched.model) == (45, found["model"])
    assert matched.by_name["hiv"].dimensions != ()


def test_a_matched_catalogue_scores_posts_of_its_topic_highest(
    run: Run, folder: Path, model: Path
) -> None:
    run("topics", "match", model, "topics.toml", "--out", "matched.toml", "--allow-unmatched")
    scorer = load_model(model).scorer(Catalogue.load(folder / "matched.toml"))
    texts = [pa.array(["heroin overdose rehab", "trimester midwife"])]
    counts = next(iter(count_batches(texts, scorer.vocabulary, scorer.rules)))
    best = scorer.strengths(counts).argmax(axis=1)
    assert [scorer.topics[place] for place in best] == ["drug addiction", "pregnancy"]


def test_choices_are_recorded_and_shared_dimensions_are_warned_of(
    run: Run, folder: Path, model: Path
) -> None:
    last = Catalogue.load(folder / "topics.toml").names[-1]
    asked = ("topics", "match", model, "topics.toml", "--out", "matched.toml")
    code, _, err = run(*asked, "--choose", f"{last}=3,17", "--choose", "hiv=3")
    assert code == 2  # the topics that had 3 and 17 now have nothing
    code, _, err = run(*asked, "--choose", f"{last}=3,17", "--choose", "hiv=3", "--allow-unmatched")
    assert code == 0
    assert "dimension 3 stands for several topics" in err
    matched = Catalogue.load(folder / "matched.toml")
    assert matched.by_name[last].dimensions == (3, 17)
    assert matched.by_name["hiv"].dimensions == (3,)
    for wrong in ("hiv", "hiv=", "=3", "hiv=x"):
        code, _, err = run(*asked, "--choose", wrong)
        assert code == 2
        assert "--choose must look like TOPIC=3,17" in err
    assert "no topic 'none'" in run(*asked, "--choose", "none=1")[2]
    assert "once" in run(*asked, "--choose", "hiv=1", "--choose", "hiv=2")[2]


def test_a_model_becomes_a_catalogue_that_judges_can_fill(
    run: Run, folder: Path, model: Path
) -> None:
    code, out, _ = run("topics", "catalogue", model, "--out", "own.toml", "--words", 5, "--json")
    assert code == 0
    own = Catalogue.load(folder / "own.toml")
    assert len(own) == json.loads(out)["topics"] == 45
    assert {len(topic.words) for topic in own} == {5}
    code, out, _ = run("topics", "judge", "export", "own.toml", "--out", "sheets.csv")
    assert code == 0
    code, out, _ = run("topics", "catalogue", model, "--out", "own.toml", "--relevance", 0.5)
    assert "Judges have not seen them yet" in out


def test_what_comes_of_private_texts_is_readable_by_its_owner_only(
    run: Run, folder: Path, model: Path
) -> None:
    public = load_model(model)
    assert isinstance(public, LdaModel)
    replace(public, origin=Origin(public=False)).save(folder / "private")
    for name, private in (("private", True), ("model", False)):
        run("topics", "catalogue", name, "--out", f"{name}-own.toml")
        run("topics", "match", name, "topics.toml", "--out", f"{name}.toml", "--allow-unmatched")
        for made in (f"{name}-own.toml", f"{name}.toml"):
            assert ((folder / made).stat().st_mode & 0o777 == 0o600) is private


def test_as_many_judges_are_asked_as_the_study_asks() -> None:
    own = judge.TOPIC_JUDGES, judge.PROFILE_JUDGES
    assert own == (votes.TOPIC_JUDGES, votes.PROFILE_JUDGES)


def test_no_sheet_takes_the_place_of_a_key_or_of_the_posts(run: Run, folder: Path) -> None:
    write_pairs()
    asked = (*PROFILES, "who.parquet", "--with-texts")
    for out, key in (("p.csv", "p.csv"), ("posts.parquet", "p.key"), ("p.csv", "who.parquet")):
        code, _, err = run(*asked, "--out", out, "--key", key)
        assert code == 2
        assert "which is the same file; give another name." in err
    (folder / "p.key").write_text("an earlier key")
    code, _, err = run(*asked, *KEPT)
    assert code == 2
    assert "the key p.key exists already" in err
    assert (folder / "p.key").read_text() == "an earlier key"
    assert not (folder / "p.csv").exists()
