"""Counts between real processes, by the commands that people use."""

import csv
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import sottovoce as sv
from sottovoce.errors import SottovoceError
from sottovoce.federation import Connected
from sottovoce.federation._config import TrainingSettings
from sottovoce.federation._setup import SetupPlan
from sottovoce.federation.party._processes import PartyProcesses, prepare, running_parties
from sottovoce.federation.party._transcript import UNKNOWN
from sottovoce.learn.count import TogetherCounts
from sottovoce.learn.documents import Documents
from sottovoce.privacy import Ledger

Run = Callable[..., tuple[int, str, str]]
NAMES = ("ada", "ben", "cy")
# So much that no cell has noise, but for once in a million years.
PLAIN = ("--epsilon", "99", "--votes", "3")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("together") / "all"
    peers = {name: documents(name) for name in NAMES}
    prepare(found, peers, SetupPlan(NAMES, TrainingSettings(peers_may_start=True)))
    (found / "words.txt").write_text("debt\nloan\nsea\n", encoding="utf-8")
    for name in NAMES:
        path = found / name / "party.toml"
        path.write_text(path.read_text() + 'budget = "198.5"\n')
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


def test_words_by_label_are_counted_between_processes(
    folder: Path, parties: PartyProcesses, run: Run, tmp_path: Path
) -> None:
    out = tmp_path / "cells.csv"
    done = counted(run, folder, *PLAIN, "--labels", "ham,spam", "--out", out)
    assert done["status"] == "finished"
    cells = {(row["label"], row["word"]): row["votes"] for row in done["rows"]}
    assert cells[("spam", "debt")] == 18
    assert cells[("ham", "sea")] == cells[("ham", "loan")] == 12
    assert (done["documents"], done["survivors"]) == (30, list(NAMES))
    assert next(csv.DictReader(out.read_text(encoding="utf-8").splitlines()))["votes"] == "18"
    assert "whole document" in str(done["leakage"]["against"])
    assert done["guarantee"]["epsilon"] == "99"
    # A peer has the same, running or not.
    parties.settle()
    own = run("learn", "count", "--latest", "--config", config(folder, "ben"), "--json")
    assert json.loads(own[1])["rows"] == done["rows"]
    code, shown, _ = run("learn", "count", "--latest", "--config", config(folder, "ben"))
    assert code == 0
    assert "30" in shown
    assert "Adding or removing one whole document" in shown
    lines = json.loads(run("learn", "transcript", "--config", config(folder, "ada"), "--json")[1])
    assert UNKNOWN not in {line["means"] for line in lines}
    said = {line["kind"]: line["words"] for line in lines}
    assert "share of the noise" in said["masked"]
    assert done["guarantee"]["in_words"] in said["sum"]


def test_a_second_count_pays_from_the_same_ledger_until_it_is_spent(
    folder: Path, parties: PartyProcesses, run: Run, tmp_path: Path
) -> None:
    kept = tmp_path / "pairs.counts"
    done = counted(run, folder, *PLAIN, "--pairs", "--out", kept)
    found = TogetherCounts.from_bytes(kept.read_bytes())
    assert found.pair_totals[1, 2] == 36
    assert done["documents"] == 12
    ledger = Ledger(folder / "state" / "ada" / "sottovoce" / "ledger")
    assert [str(account.spent) for account in ledger.accounts()] == ["396"]
    parties.settle()
    command = ("learn", "count", "--config", config(folder, "coordinator"))
    code, _, err = run(*command, "--words", folder / "words.txt", "--epsilon", "2")
    assert code == 2
    assert "BudgetError" in err
    assert [str(account.spent) for account in ledger.accounts()] == ["396"]


def test_a_notebook_counts_through_a_running_party(folder: Path, parties: PartyProcesses) -> None:
    parties.settle()
    connected = Connected(config(folder, "ada"))
    # Every budget is spent by now; it is refused by the peers, in their own words.
    with pytest.raises(SottovoceError, match="BudgetError"):
        sv.count_together(connected, words=["debt", "loan"], epsilon=50, votes=3)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--epsilon", "0"), "epsilon must be > 0"),
        (("--votes", "1"), "votes must be from 2"),
        (("--drop", "1"), "drop must leave at least 3 of 3"),
        (("--collude", "0"), "counts on the noise of 2 of 3 peers"),
        (("--collude", "2"), "counts on the noise of 2 of 3 peers"),
        (("--labels", "ham,other"), "UnknownLabelError"),
        (("--per-user", "2"), "ConfigError"),
        (("--latest",), "leave out words_file"),
        (("--level", "2"), "--level must be between 0 and 1"),
        (("--out", "cells.txt"), "--out must end in .csv"),
    ],
)
def test_bad_terms_are_refused_with_clear_words(
    folder: Path, parties: PartyProcesses, run: Run, options: tuple[str, ...], words: str
) -> None:
    parties.settle()
    command = ("learn", "count", "--config", config(folder, "coordinator"))
    code, out, err = run(*command, "--words", folder / "words.txt", *options)
    assert (code, out) == (2, "")
    assert words in err


def test_words_that_documents_chose_are_refused(
    folder: Path, parties: PartyProcesses, run: Run, tmp_path: Path
) -> None:
    from sottovoce.corpus import Vocabulary  # noqa: PLC0415 - one test's

    parties.settle()
    listed = tmp_path / "chosen.txt"
    Vocabulary(("debt",), data_dependent=True, origin="the notes").save(listed)
    command = ("learn", "count", "--config", config(folder, "coordinator"))
    code, _, err = run(*command, "--words", listed)
    assert code == 2
    assert "documents chose these words" in err
    code, _, err = run(*command)
    assert code == 2
    assert "a count needs a public list of words" in err
