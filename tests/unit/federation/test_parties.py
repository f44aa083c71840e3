"""The glue between configurations, nodes and commands."""

import json
import os
import re
import socket
import stat
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import msgspec
import pytest

import sottovoce.learn
from sottovoce.errors import InputError, NotRunningError, ParameterError, SottovoceError
from sottovoce.federation.config import (
    FeatureSettings,
    PartyConfig,
    PartyFile,
    TextsFile,
    TrainingSettings,
    load_config,
)
from sottovoce.federation.party import control as parties_control
from sottovoce.federation.party._proposals import PeerRequests, RetryWithoutLost
from sottovoce.federation.party.control import ControlServer, ask, ask_once
from sottovoce.federation.party.history import (
    MEANINGS,
    UNKNOWN,
    RunHistory,
    in_words,
    latest_training,
    meaning,
    trained_peers,
    training_record,
)
from sottovoce.federation.party.holdings import unreadable_data, why_untrainable
from sottovoce.federation.party.party import RunRequest
from sottovoce.federation.party.reports import opened_log
from sottovoce.federation.party.terms import check_accepted, training_terms, use_terms
from sottovoce.federation.roster import Member, load_roster
from sottovoce.federation.setup import SetupPlan, set_up
from sottovoce.learn.run.terms import RunTerms
from sottovoce.learn.wire.message import new_session

NAMES = ("ada", "ben", "cy")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("parties") / "all"
    set_up(
        root,
        SetupPlan(
            NAMES, TrainingSettings(), features=FeatureSettings(dictionary="hashed", width=8)
        ),
    )
    return root


def terms_of(folder: Path, **changes: Any) -> RunTerms:  # noqa: ANN401 - of the configuration
    config = load_config(folder / "coordinator" / "party.toml")
    assert config.party.training is not None
    training = msgspec.structs.replace(config.party.training, **changes)
    party = msgspec.structs.replace(config.party, training=training)
    changed = msgspec.structs.replace(config, party=party)
    return training_terms(changed, load_roster(folder / "ada" / "roster.toml"))


# What a peer accepts.


def accepted(folder: Path, terms: RunTerms) -> None:
    config = load_config(folder / "ada" / "party.toml")
    check_accepted(terms, config, load_roster(folder / "ada" / "roster.toml"))


def test_a_peer_takes_no_part_among_strangers_or_only_two(folder: Path) -> None:
    terms = terms_of(folder, allow_two="each learns the other's summand")
    swapped = dict(terms.identities) | {"ben": terms.identities["cy"]}
    with pytest.raises(ParameterError, match="knows ben by another identity"):
        accepted(folder, replace(terms, identities=swapped))
    two = {name: terms.identities[name] for name in ("ada", "ben")}
    with pytest.raises(ParameterError, match="at least 3 peers, got 2"):
        accepted(folder, replace(terms, identities=two))


def test_terms_are_what_the_configuration_says(folder: Path) -> None:
    terms = terms_of(folder, penalty=0.5, labels=["b", "a"], held_out=0.25)
    assert (terms.kind, terms.mode, terms.recipe.penalty) == ("train", "open", 0.5)
    assert terms.labels == ("a", "b")
    assert terms.text is not None
    assert (terms.text.dictionary, terms.text.width) == ("hashed", 8)
    assert terms_of(folder, mode="hidden").recipe.penalty == 0.1
    assert terms_of(folder, intermediary=True).kind == "rados"
    query = use_terms("classify", terms_of(folder, mode="hidden"), asker="ada", rows=3)
    assert query.parties == ("coordinator", "key holder", "ada")


def test_a_training_begins_again_only_if_asked_and_only_without_peers(folder: Path) -> None:
    terms = terms_of(folder)
    four = replace(terms, identities={**terms.identities, "dee": bytes(32)})
    lost = frozenset(["dee"])
    asked_for = RetryWithoutLost(always=False)
    assert asked_for(four.to_bytes(), lost) is None
    asked_for.allow(four)
    following = asked_for(four.to_bytes(), lost)
    assert following is not None
    found = RunTerms.from_bytes(following)
    assert (found.peers, found.recipe, found.text) == (NAMES, terms.recipe, terms.text)
    assert found.session != four.session
    always = RetryWithoutLost(always=True)
    assert always(four.to_bytes(), lost) is not None
    assert always(four.to_bytes(), frozenset(["dee", "key holder"])) is None
    assert always(terms.to_bytes(), frozenset(["cy"])) is None, "two are too few"
    query = use_terms("evaluate", four)
    assert always(query.to_bytes(), lost) is None


@pytest.mark.parametrize("given", [True, False])
def test_what_was_given_decides_whether_a_training_goes_on_by_itself(
    folder: Path, *, given: bool
) -> None:
    """What was opened with dee, less what is opened without, would be dee's own."""
    terms, asked = terms_of(folder), []
    four = replace(terms, identities={**terms.identities, "dee": bytes(32)})

    def nothing_given(begun: RunTerms) -> bool:
        asked.append(begun.session)
        return not given

    retry = RetryWithoutLost(always=False, nothing_given=nothing_given)
    assert (retry(four.to_bytes(), frozenset(["dee"])) is None) == given
    assert asked == [four.session]


def test_only_peers_who_have_the_classifier_are_asked_to_judge_it(folder: Path) -> None:
    """Who was lost on the way of a masked training has none, and would refuse."""
    terms = terms_of(folder)
    four = replace(terms, identities={**terms.identities, "dee": bytes(32)})
    recovered = RunHistory(b"t", four, "finished", {"peers": NAMES}, 0.0)
    assert trained_peers(recovered) == NAMES
    assert use_terms("evaluate", four, peers=trained_peers(recovered)).peers == NAMES
    assert trained_peers(recovered._replace(result={})) is None
    assert use_terms("evaluate", four).peers == tuple(sorted([*NAMES, "dee"]))


# Budgets.


def helper(left: int, together: int) -> dict[str, Any]:
    budget = {"left": dict.fromkeys(NAMES, left), "together": together}
    return {"helpers": ({"budget": budget},)}


def query_of(training: RunTerms, rows: int, status: str, result: Any = None) -> RunHistory:  # noqa: ANN401 - a record
    terms = use_terms("classify", training, asker="ada", rows=rows)
    return RunHistory(new_session(), terms, status, result, 0.0)


def test_a_query_that_was_aborted_counts_as_asked(folder: Path) -> None:
    """Its asker may have got the labels before it ended the run."""
    terms = terms_of(folder, mode="hidden")
    trained = RunHistory(b"t", terms, "finished", helper(10, 20), 0.0)
    after = {"training": helper(6, 16)}
    history = [trained, query_of(terms, 4, "finished", after), query_of(terms, 3, "aborted")]
    budget = _budget(training_record(history, terms.session))
    assert budget == {"left": {"ada": 3, "ben": 6, "cy": 6}, "together": 13}
    refused = [*history, query_of(terms, 100, "aborted")]
    assert _budget(training_record(refused, terms.session)) == budget, "nothing was told"
    assert latest_training(history) == trained
    assert training_record(history, new_session()) is None


def _budget(record: Mapping[str, Any] | None) -> Any:  # noqa: ANN401 - a record
    assert record is not None
    return record["helpers"][0]["budget"]


def coordinator_after(history: list[RunHistory], *, may_start: bool = False) -> PeerRequests:
    """A coordinator that has seen these runs, and proposes whatever it is asked to."""
    node = SimpleNamespace(history=lambda: history, propose=lambda terms, parties: b"run")
    return PeerRequests(cast("Any", node), peers_may_start=may_start)


def test_a_coordinator_proposes_a_peers_queries_in_its_own_name_one_at_a_time(folder: Path) -> None:
    terms = terms_of(folder, mode="hidden")
    trained = RunHistory(b"t", terms, "finished", helper(10, 20), 0.0)
    query = use_terms("classify", terms, asker="ada", rows=2)
    ada, ben = (Member(name, "peer", "x:1", f"{at}" * 64) for at, name in enumerate(("ada", "ben")))
    request = RunRequest(1, query.to_bytes())
    assert coordinator_after([trained]).propose(ada, request) == b"run"
    with pytest.raises(ParameterError, match="its own name only"):
        coordinator_after([trained]).propose(ben, request)
    with pytest.raises(ParameterError, match="no finished training"):
        coordinator_after([]).propose(ada, request)
    busy = query_of(terms, 1, "running")
    with pytest.raises(ParameterError, match="another query is running"):
        coordinator_after([trained, busy]).propose(ada, request)


def test_peers_start_trainings_only_where_the_coordinator_lets_them(folder: Path) -> None:
    ada = Member("ada", "peer", "x:1", "0" * 64)
    request = RunRequest(1, terms_of(folder).to_bytes())
    assert coordinator_after([], may_start=True).propose(ada, request) == b"run"
    with pytest.raises(ParameterError, match="peers_may_start = true"):
        coordinator_after([]).propose(ada, request)


# Words.


SPOKEN = r'\b(?:Teller|Listener|Say|Hear|say|hear|reply|hear_reply)\((?!kind)[^()]*?"([a-z ]+)"'


def test_every_kind_of_message_in_the_protocols_has_words() -> None:
    source = Path(sottovoce.learn.__file__).parent
    kinds = set()
    for path in source.rglob("*.py"):
        kinds |= set(re.findall(SPOKEN, path.read_text()))
    assert {"features", "model", "summand", "bits", "dictionary"} <= kinds
    known = {kind for kind, _ in MEANINGS}
    assert kinds - known == set()
    assert meaning("masked", ["vector"]) != meaning("masked", ["data"])
    assert meaning("no such kind", ["x"]) == UNKNOWN


def test_a_line_says_who_what_how_much_and_what_became_of_it() -> None:
    line = {"sender": "ada", "receiver": "coordinator", "kind": "masked", "bytes": 8_000_000,
            "fields": {"vector": "uint64 1000000"}, "state": 1, "frame": "message"}  # fmt: skip
    said = "sent to coordinator: this peer's numbers under masks, which nobody can read alone"
    assert in_words(line, "ada") == f"{said}; 8,000,000 bytes."
    assert "not yet acknowledged" in in_words({**line, "state": 0}, "ada")
    assert in_words({**line, "state": "held"}, "coordinator").startswith("received from ada")


# The control socket.


def answers(request: Mapping[str, Any]) -> Any:  # noqa: ANN401 - answers
    if request["do"] == "fail":
        raise InputError("no such thing.")
    if request["do"] == "break":
        raise RuntimeError("private words")
    yield {"progress": 1}
    yield {"value": request["do"], "last": True}


def test_a_running_party_answers_its_owner_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = tmp_path / ("long" * 40)
    store.mkdir()
    with pytest.raises(NotRunningError):
        ask_once(store, {"do": "x"})
    server = ControlServer(store, answers)
    server.start()
    try:
        assert stat.S_IMODE((store / "control.sock").stat().st_mode) == 0o600
        assert ask_once(store, {"do": "x"}) == "x"
        assert [*ask(store, {"do": "x"})] == [{"progress": 1}, {"value": "x", "last": True}]
        with pytest.raises(SottovoceError, match="no such thing"):
            ask_once(store, {"do": "fail"})
        with pytest.raises(SottovoceError) as refused:
            ask_once(store, {"do": "break"})
        assert "private" not in str(refused.value)
        monkeypatch.setattr(parties_control, "_user", lambda _: os.geteuid() + 1)
        with pytest.raises(SottovoceError, match="another user"):
            ask_once(store, {"do": "x"})
    finally:
        server.close()
    assert not (store / "control.sock").exists()


def test_a_request_that_is_no_json_is_refused(tmp_path: Path) -> None:
    server = ControlServer(tmp_path, answers)
    server.start()
    here = Path.cwd()
    os.chdir(tmp_path)
    try:
        with socket.socket(socket.AF_UNIX) as line, line.makefile("rwb") as stream:
            line.connect("control.sock")
            stream.write(b"nonsense\n")
            stream.flush()
            assert "line of JSON" in json.loads(stream.readline())["error"]
    finally:
        os.chdir(here)
        server.close()


# Logs, and what a peer holds.


def test_a_log_is_lines_of_json_for_its_owner(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    for at in range(2):
        with opened_log(path, "ada") as noted:
            noted("begun", number=at)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [(line["event"], line["party"], line["number"]) for line in lines] == [
        ("begun", "ada", 0),
        ("begun", "ada", 1),
    ]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with opened_log(None, "ada") as nowhere:
        nowhere("anything")
    with pytest.raises(InputError, match="cannot write the log"), opened_log(tmp_path, "ada"):
        pass


TRAIN = cast("RunTerms", SimpleNamespace(kind="train"))
CLASSIFY = cast("RunTerms", SimpleNamespace(kind="classify"))


def peer_with(folder: Path, held: str | None, file: str) -> PartyConfig:
    """Ada, with a file of these texts."""
    if held is not None:
        (folder / file).write_text(held)
    party = PartyFile("ada", "peer", "127.0.0.1:1", texts=TextsFile(file))
    return PartyConfig(party, folder)


@pytest.mark.parametrize(
    ("file", "held", "owner", "others"),
    [
        ("hidden.csv", None, "No such file", "cannot be read"),
        ("hidden.csv", "", "is empty", "cannot be read"),
        ("hidden.csv", "body,label\na loan,yes\n", "no column 'text'", "lacks a column"),
        ("hidden.csv", "hello you,a\nwell,b\n", "in [texts] of party.toml", "lacks a column"),
        ("hidden.csv", "text,colour\na loan,red\n", "no column 'label'", "lacks a column"),
        ("hidden.jsonl", '{"text": "a", "label": null}\n', "have no label in", "has no labels"),
    ],
)
def test_what_cannot_be_read_is_told_to_the_owner_and_in_general_to_others(
    tmp_path: Path, file: str, held: str | None, owner: str, others: str
) -> None:
    config = peer_with(tmp_path, held, file)
    found = unreadable_data(config)
    assert found is not None
    assert owner in found.to_owner
    assert "--" not in found.to_owner, "no command of a party has such options"
    said = why_untrainable(config, TRAIN)
    assert said is not None
    assert "ada cannot take part: its file of data" in said
    assert others in said
    assert "hidden" not in said
    assert "colour" not in said
    assert why_untrainable(config, CLASSIFY) is None


def test_a_peer_that_can_read_its_texts_says_nothing(tmp_path: Path) -> None:
    config = peer_with(tmp_path, "text,label\na loan,yes\n", "texts.csv")
    assert unreadable_data(config) is None
    assert why_untrainable(config, TRAIN) is None
