"""A party that is taken off the roster is refused at once, whatever was open before."""

import time
from dataclasses import replace
from pathlib import Path

import pytest
from support.federation_nodes import Enrolled
from support.federations import ToyTraining

from sottovoce.errors import AbortedError, CallRefusedError
from sottovoce.learn.training_terms import COORDINATOR

PEERS = ("ann", "bob", "cy")


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
