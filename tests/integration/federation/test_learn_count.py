"""Counts between real processes, by the commands that people use."""

import csv
import json
import shutil
import time
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from support.federated_folders import change_files, deadline

import sottovoce as sv
from sottovoce.corpus.vocabulary import Vocabulary
from sottovoce.errors import InputError, SottovoceError
from sottovoce.federation import Connected
from sottovoce.federation.config import TrainingSettings, load_config
from sottovoce.federation.party.control import PartyProcesses, prepare, running_parties
from sottovoce.federation.party.history import UNKNOWN
from sottovoce.federation.party.party import ConfiguredParty, RunRequest
from sottovoce.federation.setup import SetupPlan
from sottovoce.learn.count.opened import TogetherCounts
from sottovoce.learn.count.recipe import CountRecipe
from sottovoce.learn.documents import Documents
from sottovoce.learn.features import TextRecipe
from sottovoce.learn.run.terms import RunTerms
from sottovoce.learn.wire.codec import encode_value
from sottovoce.privacy import Ledger

Run = Callable[..., tuple[int, str, str]]
NAMES = ("ada", "ben", "cy")
# So much that no cell has noise, but for once in a million years.
PLAIN = ("--epsilon", "99", "--votes", "3")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("together") / "all"
    peers = {name: documents(name) for name in NAMES}
    limits = {"budget": "297.5", "most_epsilon": 99, "labels": ["ham", "spam"]}
    training = TrainingSettings(peers_may_start=True)
    prepare(found, peers, SetupPlan(NAMES, training, count_with=limits))
    (found / "words.txt").write_text("debt\nloan\nsea\n", encoding="utf-8")
    path = found / "coordinator" / "party.toml"
    counting = '\n[count]\nwords_file = "../words.txt"\nlabels = ["ham", "spam"]\n'
    path.write_text(path.read_text() + counting)
    return found


def documents(name: str) -> Documents:
    texts = [f"a debt of {name}, {at}" for at in range(6)]
    texts += [f"loan and sea of {name}, {at}" for at in range(4)]
    return Documents(tuple(texts), ("spam",) * 6 + ("ham",) * 4)


@pytest.fixture(scope="module")
def parties(folder: Path) -> Iterator[PartyProcesses]:
    from support.warm_python import warm_parties  # noqa: PLC0415 - as the folder's other tests

    with warm_parties(), running_parties(folder) as running:
        yield running


def config(folder: Path, name: str) -> Path:
    return folder / name / "party.toml"


def counted(run: Run, folder: Path, *options: object) -> Any:  # noqa: ANN401 - JSON
    words = ("--words", folder / "words.txt") if "--latest" not in options else ()
    told = ("learn", "count", "--config", config(folder, "coordinator"), *words, *options)
    code, out, err = run(*told, "--json")
    assert (code, err) == (0, ""), err
    return json.loads(out)


def test_words_and_pairs_are_counted_between_processes_until_budgets_are_spent(
    folder: Path, parties: PartyProcesses, run: Run, tmp_path: Path
) -> None:
    check_words_by_label(run, folder, parties, tmp_path / "cells.csv")
    check_classifier(run, folder, parties, tmp_path / "new.csv")
    check_pairs_and_ledger(run, folder, parties, tmp_path / "pairs.counts")
    # A notebook beside a peer hears the same refusal.
    parties.settle()
    with pytest.raises(SottovoceError, match="BudgetError"):
        sv.count_together(Connected(config(folder, "ada")), words=["debt"], epsilon=50, votes=3)


def check_words_by_label(run: Run, folder: Path, parties: PartyProcesses, out: Path) -> None:
    done = counted(run, folder, *PLAIN, "--labels", "ham,spam", "--out", out)
    assert done["status"] == "finished"
    cells = {(row["label"], row["word"]): row["votes"] for row in done["rows"]}
    assert cells[("spam", "debt")] == 18
    assert cells[("ham", "sea")] == cells[("ham", "loan")] == 12
    assert (done["documents"], done["survivors"]) == (30, list(NAMES))
    assert next(csv.DictReader(out.read_text(encoding="utf-8").splitlines()))["votes"] == "18"
    assert "whole document" in str(done["leakage"]["against"])
    assert done["guarantee"]["epsilon"] == "99"
    # A peer has the same, and its transcript says what is promised.
    parties.settle()
    latest = ("learn", "count", "--latest", "--config", config(folder, "ben"))
    assert json.loads(run(*latest, "--json")[1])["rows"] == done["rows"]
    code, shown, _ = run(*latest)
    assert code == 0
    assert "Adding or removing one whole document" in shown
    lines = json.loads(run("learn", "transcript", "--config", config(folder, "ada"), "--json")[1])
    assert UNKNOWN not in {line["means"] for line in lines}
    said = {line["kind"]: line["words"] for line in lines}
    assert "share of the noise" in said["masked"]
    assert done["guarantee"]["in_words"] in said["sum"]


def check_classifier(run: Run, folder: Path, parties: PartyProcesses, new: Path) -> None:
    coordinator = ("--config", config(folder, "coordinator"))
    code, shown, err = run("learn", "train", *coordinator, *PLAIN)
    assert (code, err) == (0, ""), err
    assert "a classifier from words counted by label" in shown
    assert "Adding or removing one whole document" in shown
    parties.settle()
    new.write_text("text\nmy debt\na loan by the sea\n", encoding="utf-8")
    classify = ("learn", "classify", new, "--config", config(folder, "cy"), "--json")
    assert json.loads(run(*classify)[1])["labels"] == ["spam", "ham"]
    code, _, err = run("learn", "evaluate", *coordinator)
    assert code == 2
    assert "was counted under noise" in err
    for options, words in {
        ("--votes", "3"): "--votes is for --epsilon",
        ("--epsilon", "1", "--without-lost"): "leave out --without-lost",
    }.items():
        code, _, err = run("learn", "train", *coordinator, *options)
        assert code == 2
        assert words in err


def check_pairs_and_ledger(run: Run, folder: Path, parties: PartyProcesses, kept: Path) -> None:
    done = counted(run, folder, *PLAIN, "--pairs", "--out", kept)
    found = TogetherCounts.from_bytes(kept.read_bytes())
    assert found.pair_totals[1, 2] == 36
    assert done["documents"] == 12
    ledger = Ledger(folder / "state" / "ada" / "sottovoce" / "ledger")
    assert [str(account.spent) for account in ledger.accounts()] == ["594"]
    parties.settle()
    command = ("learn", "count", "--config", config(folder, "coordinator"))
    code, _, err = run(*command, "--words", folder / "words.txt", "--epsilon", "2")
    assert code == 2
    assert "BudgetError" in err
    assert [str(account.spent) for account in ledger.accounts()] == ["594"]


def test_peers_as_init_leaves_them_bound_each_count_and_all_together(
    tmp_path: Path, run: Run
) -> None:
    folder, words = tmp_path / "as left", tmp_path / "words.txt"
    words.write_text("debt\nloan\nsea\n", encoding="utf-8")
    assert run("learn", "init", folder, "--names", ",".join(NAMES))[0] == 0
    for name in NAMES:
        texts = "".join(f"{text},\n" for text in documents(name).texts)
        (folder / name / "texts.csv").write_text("text,label\n" + texts.replace(", ", " "))
    command = ("learn", "count", "--config", config(folder, "coordinator"), "--words", words)
    with running_parties(folder) as parties:

        def answered(epsilon: str) -> tuple[int, str]:
            parties.settle()
            code, _, err = run(*command, "--epsilon", epsilon)
            return code, err

        code, err = answered("100")
        assert code == 2
        assert "counts at epsilon up to 1, got 100 for a whole document; see [count_with]" in err
        assert [answered("1") for _ in range(2)] == [(0, "")] * 2
        code, err = answered("1/100")
        assert code == 2
        assert "BudgetError" in err


BAD = {
    ("--epsilon", "0"): "epsilon must be > 0",
    ("--epsilon", "1e300000000"): "epsilon must lie between 1e-40 and 1e40",
    ("--votes", "1"): "votes must be from 2",
    ("--drop", "1"): "drop must leave at least 3 of 3",
    ("--collude", "0"): "counts on the noise of 2 of 3 peers",
    ("--collude", "2"): "counts on the noise of 2 of 3 peers",
    ("--labels", "ham,other"): "labels that it has named itself",
    ("--per-user", "2"): "ConfigError",
    ("--latest",): "leave out words_file",
    ("--level", "2"): "--level must be between 0 and 1",
    ("--out", "cells.txt"): "--out must end in .csv",
}


def test_bad_terms_are_refused_with_clear_words(
    folder: Path, parties: PartyProcesses, run: Run, tmp_path: Path
) -> None:
    command = ("learn", "count", "--config", config(folder, "coordinator"))
    chosen = tmp_path / "chosen.txt"
    Vocabulary(("debt",), data_dependent=True, origin="the notes").save(chosen)
    public = ("--words", folder / "words.txt")
    tried = {(*public, *options): words for options, words in BAD.items()}
    tried[("--words", chosen)] = "documents chose these words"
    for options, words in tried.items():
        parties.settle()
        code, out, err = run(*command, *options)
        assert (code, out) == (2, "")
        assert words in err


def test_a_coordinator_refuses_a_peers_endless_epsilon_at_once(
    folder: Path, parties: PartyProcesses, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before, 1 KB of terms kept the coordinator busy without end."""
    shutil.copytree(
        folder / "ada", tmp_path / "ada", ignore=shutil.ignore_patterns("store", "*.sock")
    )
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    ada = ConfiguredParty(load_config(tmp_path / "ada" / "party.toml"))
    asked = RunTerms(
        bytes(16), "count", "open", ada.roster.identities,
        text=TextRecipe("given", ("debt",)), count=CountRecipe(epsilon=Fraction(7)),
    ).to_bytes()  # fmt: skip
    epsilon, endless = encode_value("7"), encode_value("1e300000000")
    assert asked.count(epsilon) == 1
    node, maker = ada.node(lambda _event, /, **_: None, lambda *_: None)
    try:
        begun = time.monotonic()
        with pytest.raises(InputError, match="fraction must lie between 1e-40 and 1e40"):
            node.request_run(RunRequest(1, asked.replace(epsilon, endless)))
        assert time.monotonic() - begun < 5, "most of it to connect"
    finally:
        node.close()
        maker.memory.close()
    assert "runs" in parties.ask("coordinator", do="status")


def test_a_peer_that_is_not_there_is_left_out_if_one_may_be_lost(tmp_path: Path, run: Run) -> None:
    folder, names = tmp_path / "four", (*NAMES, "dee")
    limits = {"budget": 99, "most_epsilon": 99, "drop": 1}
    plan = SetupPlan(names, TrainingSettings(), count_with=limits)
    prepare(folder, {name: documents(name) for name in names}, plan)
    (folder / "words.txt").write_text("debt\nloan\nsea\n", encoding="utf-8")
    change_files(folder, deadline(3))
    cells = tmp_path / "cells.jsonl"
    command = ("learn", "count", "--config", config(folder, "coordinator"), "--drop", "1")
    with running_parties(folder, ["coordinator", *NAMES]):
        given = ("--words", folder / "words.txt", *PLAIN, "--out", cells)
        code, shown, err = run(*command, *given)
        assert (code, err) == (0, "")
        done = counted(run, folder, "--latest")
    assert "who learns what" in shown
    assert "lost on the way" in shown
    assert done["survivors"] == list(NAMES)
    assert done["documents"] == 30
    assert json.loads(cells.read_text(encoding="utf-8").splitlines()[0])["votes"] == 18
    ledgers = [folder / "state" / name / "sottovoce" / "ledger" for name in names]
    assert [ledger.exists() for ledger in ledgers] == [True, True, True, False]
