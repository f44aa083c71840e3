"""Nodes over real sockets and mutual TLS."""

import time
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import pytest
from support.federation_nodes import Enrolled, federation
from support.federations import ToyDocuments, ToySum, ToyTraining, in_process

from sottovoce.errors import AbortedError, CallRefusedError, JournalError
from sottovoce.learn.training_terms import COORDINATOR

PEERS = ("ann", "bob", "cy")


def test_who_is_not_there_is_named_and_the_others_stay_up(tmp_path: Path) -> None:
    training = ToyTraining(PEERS)
    enrolled = Enrolled(training, tmp_path)
    quick: dict[str, Any] = {"deadline_s": 2.5, "beat_s": 0.25}
    with ExitStack() as stack:
        here = (COORDINATOR, "ann", "bob")
        nodes = {name: stack.enter_context(enrolled.node(name, **quick)) for name in here}
        session = nodes[COORDINATOR].propose(training.terms())
        for node in nodes.values():
            assert node.wait_for_run(timeout_s=20) == session
            with pytest.raises(AbortedError) as caught:
                node.wait(session, 20)
            assert (caught.value.error, caught.value.missing) == ("LostPartyError", ("cy",))
        nodes["cy"] = stack.enter_context(enrolled.node("cy", **quick))
        again = nodes[COORDINATOR].propose(training.terms())
        assert nodes[COORDINATOR].wait(again, 20) == in_process(training)


def test_large_vectors_go_in_pieces(tmp_path: Path) -> None:
    toy = ToySum(PEERS, 100_000)
    with federation(toy, tmp_path) as nodes:
        session = nodes[COORDINATOR].propose(toy.terms())
        assert nodes[COORDINATOR].wait(session, 60) == toy.expected(PEERS)
        (run,) = nodes[COORDINATOR].status()["runs"]
        assert run["bytes_received"] > 3 * 8 * 100_000


def test_a_node_that_cannot_write_its_journal_says_so_and_nothing_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    training = ToyTraining(PEERS)
    with federation(training, tmp_path, deadline_s=2.5, beat_s=0.25) as nodes:

        def full(*_: object, **__: object) -> NoReturn:
            raise JournalError("cannot write the journal: it is full.")

        monkeypatch.setattr(nodes["bob"]._journal, "advance", full)
        session = nodes[COORDINATOR].propose(training.terms())
        with pytest.raises(AbortedError) as caught:
            nodes[COORDINATOR].wait(session, 20)
        assert caught.value.missing == ("bob",)
        with pytest.raises(JournalError, match="full"):
            nodes["bob"].wait(session, 20)


def test_a_peer_with_sums_of_documents_that_it_has_not_is_named_to_everybody(
    tmp_path: Path,
) -> None:
    training = ToyDocuments(PEERS, liar="bob")
    with federation(training, tmp_path) as nodes:
        session = nodes[COORDINATOR].propose(training.terms())
        for node in nodes.values():
            assert node.wait_for_run(timeout_s=20) == session
            with pytest.raises(
                AbortedError,
                match=r"no more than sums over its 30 documents, got.*run again without bob\.",
            ) as caught:
                node.wait(session, 20)
            assert (caught.value.error, caught.value.by) == ("FalseSummandError", COORDINATOR)


def test_a_removed_party_is_refused_on_the_connection_that_it_has_and_its_runs_end(
    tmp_path: Path,
) -> None:
    training = ToyTraining(PEERS)
    enrolled = Enrolled(training, tmp_path)
    here, there = enrolled.node(COORDINATOR), enrolled.node("cy")
    here.offer("Hello", lambda caller, data: caller.name.encode() + data)
    with here, there:
        assert there.ask(COORDINATOR, "Hello", b"!", 20) == b"cy!"
        run = here.propose(training.terms())  # ann and bob are not there: it waits for them
        left = tuple(each for each in enrolled.roster if each.name != "cy")
        begun = time.monotonic()
        here.take_roster(replace(enrolled.roster, members=left))
        with pytest.raises(CallRefusedError, match="on the roster"):
            there.ask(COORDINATOR, "Hello", b"!", 20)
        with pytest.raises(AbortedError) as caught:
            here.wait(run, 20)
        assert time.monotonic() - begun < here.settings.deadline_s, "nobody waited for silence"
    assert "cy" in str(caught.value)
