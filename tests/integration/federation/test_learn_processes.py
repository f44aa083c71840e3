"""Trainings between real processes, by the commands that people use."""

import json
import signal
import socket
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sottovoce_lab._data import data_file
from sottovoce_lab.bench.learn import message_rows
from sottovoce_lab.learn import data as study_data
from support.captures import Capture
from support.federated_folders import (
    NAMES,
    Floats,
    change_files,
    deadline,
    kept,
    open_theta,
    prepare_rows,
    split,
)
from support.hidden_systems import BITS, small_keys_allowed

from sottovoce import learn
from sottovoce.cli.learn._output import load_party_config
from sottovoce.corpus.counts import term_statistics
from sottovoce.corpus.read.corpus import open_documents
from sottovoce.corpus.read.tally import ReadOptions
from sottovoce.errors import SottovoceError
from sottovoce.federation.config import FeatureSettings, TrainingSettings
from sottovoce.federation.party.control import Connected, PartyProcesses, prepare, running_parties
from sottovoce.federation.party.history import UNKNOWN
from sottovoce.federation.party.holdings import own_examples
from sottovoce.federation.party.party import ConfiguredParty
from sottovoce.federation.roster import load_roster
from sottovoce.federation.setup import SetupPlan
from sottovoce.learn._text_classifier import FederatedTextClassifier
from sottovoce.learn.documents import Documents
from sottovoce.learn.wire import codec

pytestmark = pytest.mark.opened_share

Run = Callable[..., tuple[int, str, str]]
PENALTY = 0.1
FEW = 3
"""Rows to classify where theta is hidden: each costs a second of processor time."""
PLANTED = b"zqplantedqz"


@pytest.fixture
def key_bits(some_data: Path) -> Iterator[int]:
    """Keys of a usable length with the real data, with made-up data shorter ones."""
    if some_data.name != "made-up":
        yield 2048
        return
    with small_keys_allowed():
        yield BITS


def ionosphere() -> tuple[Floats, NDArray[Any]]:
    rows, signs = study_data.ionosphere()
    return rows, np.where(signs > 0, "g", "b")


def answered(run: Run, *command: object) -> Any:  # noqa: ANN401 - JSON
    code, out, err = run("learn", *command, "--json")
    assert (code, err) == (0, ""), err
    return json.loads(out)


def test_commands_train_classify_and_tell_as_one_process_would(
    tmp_path: Path, run: Run, key_bits: int
) -> None:
    """Ionosphere by sums under masks: theta to the last bit, labels, transcript, a clean stop."""
    folder = tmp_path / "all"
    given = split(*ionosphere())
    prepare_rows(folder, given, TrainingSettings(penalty=PENALTY))
    config = {name: folder / name / "party.toml" for name in ("coordinator", *NAMES)}
    new = folder / "ada" / "rows.csv"
    with running_parties(folder) as parties:
        done = answered(run, "train", "--config", config["coordinator"])
        assert done["status"] == "finished"
        labels = answered(run, "classify", new, "--config", config["ada"])
        status = answered(run, "status", "--config", config["ada"])
        lines = answered(run, "transcript", "--config", config["ben"])
        counted = answered(run, "evaluate", "--training-data", "--config", config["coordinator"])
        parties.settle()
        parties.stop()
        assert {process.returncode for process in parties.processes.values()} == {0}
    trained = learn.train(given, penalty=PENALTY)
    for name in NAMES:
        found = kept(folder, name)["classifiers"][0]
        assert found["coefficients"].tobytes() == trained.coef_[0].tobytes()
        assert found["numbers"][0] == trained.intercept_[0]
    rows, _ = given["ada"]
    assert labels["labels"] == trained.predict(rows).tolist()
    assert status["running"] is True
    assert counted["accuracy"] == 1 - trained.evaluate(given).misclassification
    check_transcript(lines)
    check_keys(lines, folder)
    check_asleep(run, config["ada"], new, labels["labels"])


def check_transcript(lines: list[dict[str, object]]) -> None:
    assert len(lines) > 8
    assert UNKNOWN not in {line["means"] for line in lines}
    assert {"ben"} <= {line["sender"] for line in lines} | {line["receiver"] for line in lines}
    sent = [line for line in lines if line["kind"] == "masked"]
    assert len(sent) == 4, "supports, uses of kept words, pairs of them, and statistics"
    assert all("which nobody can read alone" in str(line["words"]) for line in sent)


def check_keys(lines: list[dict[str, Any]], folder: Path) -> None:
    """Of each run the receipt names the terms and everybody's keys, as the roster has them."""
    roster = load_roster(folder / "ben" / "roster.toml")
    (proposed,) = [line for line in lines if line["kind"] == "propose"]
    assert len(proposed["terms"]) == 64
    assert proposed["parties"] == {
        each.name: {"identity": each.identity, "certificate": each.fingerprint} for each in roster
    }
    found = kept(folder, "ben")
    assert found["identities"] == roster.identities
    assert set(found["documents"]) == set(NAMES)


def check_asleep(run: Run, config: Path, new: Path, labels: list[str]) -> None:
    """A party that does not run still tells, and its key can be changed."""
    assert answered(run, "classify", new, "--config", config)["labels"] == labels
    answered(run, "rotate", "journal", "--config", config)
    status = answered(run, "status", "--config", config)
    assert status["running"] is False
    assert [each["kind"] for each in status["runs"]] == ["train", "evaluate"]
    code, _, err = run("learn", "train", "--config", config)
    assert code == 2
    assert "start it first" in err


def message_documents() -> Documents:
    options = ReadOptions(header=("label", "text"))
    table = open_documents(data_file("sms.tsv"), options=options).read_all()
    return Documents.from_texts(table["text"].to_pylist(), table["label"].to_pylist())


def test_words_of_messages_train_to_the_last_bit_and_no_word_is_on_the_wire(
    tmp_path: Path, some_data: Path
) -> None:
    """Pairwise masks, every byte between the parties captured; 1,000 words of real messages."""
    folder, documents = tmp_path / "all", message_documents()
    width = min(len(documents) // 3, 1000)
    rows, signs = message_rows(width)
    words = message_words(width)
    (tmp_path / "words.txt").write_text("\n".join(words), encoding="utf-8")
    features = FeatureSettings(dictionary="given", words_file=str(tmp_path / "words.txt"))
    peers = {
        name: documents.part(np.arange(len(documents)) % 4 == at) for at, name in enumerate(NAMES)
    }
    plan = SetupPlan(
        NAMES, TrainingSettings(penalty=PENALTY, labels=["ham", "spam"]), features=features
    )
    prepare(folder, peers, plan)
    capture = Capture(folder)
    with running_parties(folder) as parties:
        parties.ask("coordinator", do="train")
        parties.settle()
        planted(capture)
    capture.close()
    trained = learn.train(
        split(rows, np.where(signs > 0, "spam", "ham")), penalty=PENALTY, features=words
    )
    for name in NAMES:
        found = kept(folder, name)["classifiers"][0]["coefficients"]
        assert found.tobytes() == trained.coef_[0].tobytes()
    check_nothing_in_clear(capture, documents, width)


def message_words(count: int) -> list[str]:
    """The words of `message_rows`, in its order."""
    options = ReadOptions(header=("label", "text"))
    table = open_documents(data_file("sms.tsv"), options=options).read_all()
    vocabulary = term_statistics(table["text"].chunks).vocabulary(min_texts=2, max_terms=count)
    return list(vocabulary.terms)


def planted(capture: Capture) -> None:
    """A word in clear, as the capture must see one if it sees anything."""
    host, _, port = capture.proxies["ada"].address.rpartition(":")
    with socket.create_connection((host, int(port))) as line:
        line.sendall(PLANTED.upper() + b"\r\n\r\n")
        line.recv(1)


def check_nothing_in_clear(capture: Capture, documents: Documents, width: int) -> None:
    # Shorter words stand by chance in megabytes of ciphertext.
    words = {
        word.lower().encode()
        for text in documents.texts
        for word in text.split()
        if word.isalpha() and len(word) >= 7
    }
    assert len(words) > 1000
    # Half a matrix of 8 bytes a cell from each of four peers.
    assert capture.size > 16 * width**2, "the peers' masked sums went through the capture"
    assert capture.seen({PLANTED})
    assert capture.seen(words) == set()


def test_the_hidden_mode_gives_the_same_integers_and_labels_as_one_process(
    tmp_path: Path, key_bits: int
) -> None:
    """Some columns of radar returns: theta in shares, opened here with both helpers' keys."""
    folder = tmp_path / "all"
    rows, labels = ionosphere()
    given = split(rows[:, 2:12] if len(rows) > 200 else rows[:, 2:4], labels)
    options: dict[str, Any] = {"key_bits": key_bits, "penalty": PENALTY, "queries_together": 40}
    prepare_rows(folder, given, TrainingSettings(mode="hidden", **options))
    asked = folder / "ada" / "few.csv"
    with (folder / "ada" / "rows.csv").open() as source:
        asked.write_text("".join(line for _, line in zip(range(FEW + 1), source, strict=False)))
    with running_parties(folder) as parties:
        parties.ask("coordinator", do="train")
        found = parties.ask("ada", do="classify", file=str(asked))
        with pytest.raises(SottovoceError, match="more rows classified"):
            parties.ask("ada", do="classify", file=str(folder / "ada" / "rows.csv"))
        parties.settle()
    keys = tuple(paillier(folder, name) for name in ("coordinator", "key-holder"))
    trained = learn.train(given, mode="hidden", keys=keys, **options)
    assert found["labels"] == trained.predict(given["ada"][0][:FEW], peer="ada").tolist()
    here = kept(folder, "ben")["classifiers"][0]
    there = codec.parts(trained._find_result("ben"), "classifiers")[0]
    assert open_theta(here, keys) == open_theta(there, keys)


def paillier(folder: Path, name: str) -> Any:  # noqa: ANN401 - a key, or a test that fails
    return ConfiguredParty(
        load_party_config(folder / name / "party.toml"), strict=False
    ).secrets.paillier


def test_a_peer_that_is_killed_for_good_is_left_out_where_that_was_asked_for(
    tmp_path: Path, run: Run, key_bits: int
) -> None:
    """Once sums rest on all peers none may be lost: it ends by name, or begins again."""
    folder = tmp_path / "all"
    rows, labels = ionosphere()
    given = split(rows[:, 2:6], labels)
    prepare_rows(folder, given, TrainingSettings(penalty=PENALTY))
    change_files(folder, deadline(3))
    config = folder / "coordinator" / "party.toml"
    with running_parties(folder) as parties, ThreadPoolExecutor(1) as other:
        parties.processes["cy"].send_signal(signal.SIGSTOP)
        ending = other.submit(parties.ask, "coordinator", do="train", without_lost=True)
        wait_for_run(parties, "ada")
        lost = parties.processes.pop("cy")
        lost.kill()
        lost.wait()
        done = ending.result(60)
        assert (done["status"], done["attempts"], done["lost"]) == ("finished", 2, ["cy"])
        assert done["peers"] == ["ada", "ben", "dee"]
        assert "the part of cy alone" in done["leakage"]["learns"][-1]["what"]
        parties.settle()
        counted = answered(run, "evaluate", "--training-data", "--config", config)
        code, _, err = run("learn", "train", "--config", config)
        assert (code, err.count("\n")) == (2, 1)
        assert "cy" in err
    left = {name: rows for name, rows in given.items() if name != "cy"}
    trained = learn.train(left, penalty=PENALTY)
    for name in left:
        found = kept(folder, name)["classifiers"][0]["coefficients"]
        assert found.tobytes() == trained.coef_[0].tobytes()
    assert counted["rows"] == sum(len(labels) for _, labels in left.values())


def wait_for_run(parties: PartyProcesses, name: str) -> None:
    end = time.monotonic() + 60
    while time.monotonic() < end:
        runs = parties.ask(name, do="status")["runs"]
        if runs and runs[-1]["bytes_sent"] > 0:
            return
        time.sleep(0.02)
    pytest.fail("no run has begun")


def test_what_a_peer_cannot_bring_ends_the_run_by_name_and_the_parties_stay_up(
    tmp_path: Path, run: Run
) -> None:
    """No documents, labels of one kind only, a stranger's columns: one sentence, exit code 2."""
    folder = tmp_path / "all"
    texts = [f"word{at % 7} common thing{at % 3}" for at in range(30)]
    labels = [("yes", "no")[at % 2] for at in range(30)]
    documents = Documents.from_texts(texts, labels)
    features = FeatureSettings(dictionary="hashed", width=16)
    plan = SetupPlan(NAMES[:3], TrainingSettings(penalty=PENALTY), features=features)
    prepare(folder, dict.fromkeys(NAMES[:3], documents), plan)
    config = folder / "coordinator" / "party.toml"
    good = (folder / "cy" / "texts.csv").read_text()
    bad = {
        "": "cy cannot take part: its file of data cannot be read",
        "label,text\n": "cy cannot take part: its file of data cannot be read",
        "label,text\n,some words here\n": "cy has ended the run: DataError: at cy",
        "other,columns\n1,2\n": "cy cannot take part: its file of data lacks a column",
    }
    (folder / "cy" / "texts.csv").write_text("")
    with running_parties(folder) as parties:
        assert "data unreadable" in (folder / "cy" / "log.jsonl").read_text(), "said at its start"
        for content, why in bad.items():
            (folder / "cy" / "texts.csv").write_text(content)
            code, out, err = run("learn", "train", "--config", config)
            assert (code, out) == (2, "")
            assert err.count("\n") == 1
            assert why in err
            assert "some words here" not in err
        for name in NAMES[:3]:
            (folder / name / "texts.csv").write_text(good.replace("no,", "yes,"))
        code, _, err = run("learn", "train", "--config", config)
        assert (code, err.count("\n")) == (2, 1)
        assert "DataError" in err
        for name in NAMES[:3]:
            (folder / name / "texts.csv").write_text(good)
        assert answered(run, "train", "--config", config)["status"] == "finished"
        code, _, refused = run("learn", "evaluate", "--config", config)
        _, counted, _ = run("learn", "evaluate", "--training-data", "--config", config)
        _, running, _ = run("learn", "status", "--config", folder / "cy" / "party.toml")
        reasons = [each["ended"] for each in parties.ask("cy", do="status")["runs"]]
    (sentence,) = [
        each["sentence"] for each in reasons if "at least 1" in str(each.get("sentence"))
    ]  # the right party knows why
    _, offline, _ = run("learn", "status", "--config", folder / "cy" / "party.toml")
    for shown in (running, offline):
        assert f"was ended by cy: {sentence}" in shown, "stopped or not"
    assert code == 2
    assert "give no estimate" in refused
    assert "nothing about new ones" in counted
    assert "accuracy" not in counted
    log = [json.loads(line) for line in (folder / "cy" / "log.jsonl").read_text().splitlines()]
    assert any("at least 1" in str(line.get("sentence")) for line in log)
    everything = "".join(path.read_text() for path in folder.glob("*/log.jsonl"))
    assert "word3" not in everything
    assert "common" not in everything


def test_a_notebook_at_one_peer_trains_across_all_if_the_coordinator_lets_it(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "all"
    texts = [f"{('rose', 'flour')[at % 2]} common{at % 5} word{at % 7}" for at in range(40)]
    labels = [("garden", "kitchen")[at % 2] for at in range(40)]
    peers = dict.fromkeys(NAMES[:3], Documents.from_texts(texts, labels))
    prepare(folder, peers, SetupPlan(NAMES[:3], TrainingSettings(peers_may_start=True)))
    with running_parties(folder):
        here = Connected(folder / "ada" / "party.toml")
        model = FederatedTextClassifier(
            dictionary="hashed", width=32, penalty=PENALTY, labels=("garden", "kitchen")
        ).fit(here)
        alone = FederatedTextClassifier(
            dictionary="hashed", width=32, penalty=PENALTY, labels=("garden", "kitchen")
        ).fit(dict.fromkeys(NAMES[:3], (texts, labels)))
        assert model.predict(["a rose", "some flour"]).tolist() == ["garden", "kitchen"]
        asked_for = ["rose word3", "flour common1 word2"]
        assert np.array_equal(
            model.decision_function(asked_for), alone.decision_function(asked_for)
        )
        assert here.last["kind"] == "train"
        rare = {"fewest_documents": 2, "allow_rare": "a word of one document is that document"}
        strict = FederatedTextClassifier(
            dictionary="hashed", width=32, penalty=PENALTY, options=rare
        )
        with pytest.raises(SottovoceError, match="accepts fewest_documents from 5 on, got 2"):
            strict.fit(here)


def test_csv_quoting_keeps_texts_whole(tmp_path: Path) -> None:
    """What `prepare` writes is what a peer reads."""
    texts = ('say "hi", all', "two\nlines", "plain")
    documents = Documents.from_texts(texts, ["a", "b", "a"])
    plan = SetupPlan(NAMES[:3], TrainingSettings())
    prepare(tmp_path / "all", dict.fromkeys(NAMES[:3], documents), plan)
    read = own_examples(load_party_config(tmp_path / "all" / "ada" / "party.toml"))
    assert isinstance(read, Documents)
    assert read.texts == texts
