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
from sottovoce.errors import (
    BadFrameError,
    InputError,
    NotRunningError,
    ParameterError,
    SottovoceError,
)
from sottovoce.federation._journal import Journal
from sottovoce.federation.config import (
    FeatureSettings,
    PartyConfig,
    TextsFile,
    TrainingSettings,
    load_config,
)
from sottovoce.federation.party import control as parties_control
from sottovoce.federation.party import journal_key as parties_rekey
from sottovoce.federation.party._proposals import PeerRequests, RetryWithoutLost
from sottovoce.federation.party.control import ControlServer, ask, ask_once
from sottovoce.federation.party.history import (
    ANY,
    MEANINGS,
    UNKNOWN,
    RunHistory,
    in_words,
    journal_history,
    latest_training,
    meaning,
    trained_peers,
    training_record,
)
from sottovoce.federation.party.holdings import read_texts, unreadable_data, why_untrainable
from sottovoce.federation.party.party import JOURNAL_FILE, ConfiguredParty, RunRequest, RunResponse
from sottovoce.federation.party.party import _read as read_body
from sottovoce.federation.party.reports import opened_log
from sottovoce.federation.party.terms import check_accepted, training_terms, use_terms
from sottovoce.federation.roster import Member, load_roster
from sottovoce.federation.setup import SetupPlan, set_up
from sottovoce.learn.run.terms import RunTerms
from sottovoce.learn.wire.codec import encode_value
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
    with pytest.raises(ParameterError, match="another query is under way"):
        coordinator_after([trained, busy]).propose(ada, request)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x91" * 20_000,
        msgspec.msgpack.encode({"version": 2, "terms": b""}),
        msgspec.msgpack.encode({"version": 1, "terms": 7}),
        b"\x82\xa7version\x01\xa8why_not\xa1\xff",
        b"\x82\xa7version\x01\xa7why_not\xa1\xff",
    ],
)
@pytest.mark.parametrize("kind", [RunRequest, RunResponse])
def test_a_run_request_or_response_of_any_bytes_is_read_or_refused(data: bytes, kind: Any) -> None:  # noqa: ANN401 - a type
    """Also one nested without end, and one whose text is no UTF-8."""
    try:
        assert read_body(data, kind).version == 1
    except BadFrameError as error:
        assert "must" in str(error)  # noqa: PT017 - read, or refused in a sentence


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


def test_one_kind_in_two_protocols_has_two_meanings() -> None:
    assert "signature" in meaning("agreed", ["signature"])
    assert "fresh public key" in meaning("keys", ["key"])
    assert meaning("masked", ["vector"]) != meaning("masked", ["data"])
    assert meaning("no such kind", ["x"]) == UNKNOWN
    assert all(sentence and sentence[-1] != "." for sentence in MEANINGS.values())
    assert ("sum", ANY) in MEANINGS


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


# Logs and journal keys.


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


def filled(party: ConfiguredParty, terms: RunTerms) -> None:
    """A journal with a finished run in it."""
    with party.journal() as journal:
        journal.add_run(b"s" * 16, terms.to_bytes(), ["ada"], bytes(32))
        journal.hold(b"s" * 16, "ben", 1, "message", b"held")
        with journal._file.transaction() as db:
            sealed = journal._seal.seal(encode_value({"kept": 1}), "result", b"s" * 16)
            db.execute("UPDATE run SET status = 'finished', result = ?", (sealed,))


def test_a_journal_s_new_key_opens_everything_and_the_old_one_nothing(tmp_path: Path) -> None:
    set_up(
        tmp_path / "all",
        SetupPlan(NAMES, TrainingSettings(), features=FeatureSettings(dictionary="hashed")),
    )
    config = load_config(tmp_path / "all" / "ada" / "party.toml")
    party = ConfiguredParty(config)
    filled(party, terms_of(tmp_path / "all"))
    old = party.secrets.journal_key
    parties_rekey.rotate_journal(config, party.store / JOURNAL_FILE)
    again = ConfiguredParty(config)
    assert again.secrets.journal_key != old
    with again.journal() as journal:
        assert [run.result for run in journal_history(journal)] == [{"kept": 1}]
        assert journal.read_frame(b"s" * 16, "in", "ben", 1)[1] == b"held"
    stale = Journal(party.store / JOURNAL_FILE, old)
    with pytest.raises(InputError, match="does not open"):
        journal_history(stale)
    stale.close()


@pytest.mark.parametrize("point", ["before the journal changes", "before the key does"])
def test_a_crash_while_a_journal_s_key_changes_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, point: str
) -> None:
    set_up(
        tmp_path / "all",
        SetupPlan(NAMES, TrainingSettings(), features=FeatureSettings(dictionary="hashed")),
    )
    config = load_config(tmp_path / "all" / "ada" / "party.toml")
    party = ConfiguredParty(config)
    filled(party, terms_of(tmp_path / "all"))

    def crash(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        if point == "before the journal changes":
            patch.setattr(parties_rekey, "_reseal", crash)
        else:
            moved = Path.replace
            patch.setattr(
                Path,
                "replace",
                lambda own, to: (crash if own.suffix == ".next" else moved)(own, to),
            )
        with pytest.raises(KeyboardInterrupt):
            parties_rekey.rotate_journal(config, party.store / JOURNAL_FILE)
    again = ConfiguredParty(config)
    with again.journal() as journal:
        assert [run.result for run in journal_history(journal)] == [{"kept": 1}]
    assert not list((tmp_path / "all" / "ada").glob("*.next"))


@pytest.mark.parametrize("content", ["message,sort\nhi,a\n", "hello you,a\nwell then,b\n"])
def test_a_missing_column_of_a_party_is_mended_in_its_configuration(
    tmp_path: Path, content: str
) -> None:
    (tmp_path / "texts.csv").write_text(content)
    with pytest.raises(InputError) as caught:
        read_texts(tmp_path / "texts.csv", TextsFile("texts.csv"))
    assert "has no column 'text' for text" in str(caught.value)
    assert "Set text and label in [texts] of party.toml" in str(caught.value)
    assert "--" not in str(caught.value), "no command of a party has such options"


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> PartyConfig:
    root = tmp_path_factory.mktemp("readable") / "all"
    set_up(root, SetupPlan(("ada", "ben", "cy"), TrainingSettings()))
    found = load_config(root / "ada" / "party.toml")
    party = msgspec.structs.replace(found.party, texts=TextsFile("secret-name.csv"))
    return cast("PartyConfig", SimpleNamespace(party=party, path=lambda file: root / file))


def write(config: PartyConfig, text: str) -> None:
    Path(config.path("secret-name.csv")).write_text(text)


TRAIN = cast("RunTerms", SimpleNamespace(kind="train"))
CLASSIFY = cast("RunTerms", SimpleNamespace(kind="classify"))


@pytest.mark.parametrize(
    ("held", "owner", "others"),
    [
        (None, "No such file", "cannot be read"),
        ("", "is empty", "cannot be read"),
        ("body,label\na loan,yes\n", "no column 'text'", "lacks a column"),
        ("text,colour\na loan,red\n", "no column 'label'", "lacks a column"),
    ],
)
def test_what_cannot_be_read_is_told_to_the_owner_and_in_general_to_others(
    config: PartyConfig, held: str | None, owner: str, others: str
) -> None:
    Path(config.path("secret-name.csv")).unlink(missing_ok=True)
    if held is not None:
        write(config, held)
    found = unreadable_data(config)
    assert found is not None
    assert owner in found.to_owner
    said = why_untrainable(config, TRAIN)
    assert said is not None
    assert f"ada cannot take part: its file of data {others}" in said
    assert "secret-name" not in said
    assert "colour" not in said
    assert why_untrainable(config, CLASSIFY) is None


def test_labels_that_are_not_there_are_missed(config: PartyConfig, tmp_path: Path) -> None:
    path = tmp_path / "texts.jsonl"
    path.write_text('{"text": "a loan", "label": null}\n')
    party = msgspec.structs.replace(config.party, texts=TextsFile(str(path)))
    found = unreadable_data(
        cast("PartyConfig", SimpleNamespace(party=party, path=lambda _file: path))
    )
    assert found is not None
    assert "have no label in the column 'label'" in found.to_owner
    assert "has no labels" in found.to_others


def test_a_peer_that_can_read_its_texts_says_nothing(config: PartyConfig) -> None:
    write(config, "text,label\na loan,yes\n")
    assert unreadable_data(config) is None
    assert why_untrainable(config, TRAIN) is None
