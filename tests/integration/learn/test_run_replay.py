"""A party that hears the same and draws the same says the same: what a journal rests on."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from support.hidden_systems import BITS, small_keys_allowed
from support.text_runs import AGREED, made_holdings, made_peers, made_terms

from sottovoce.learn.features import TextRecipe
from sottovoce.learn.run.party import RunParty, make_party
from sottovoce.learn.run.terms import Holdings, RunTerms
from sottovoce.learn.wire.exchange import Exchange
from sottovoce.learn.wire.message import Message
from sottovoce.privacy import randomness

SOURCE = "sottovoce.privacy.randomness.os"  # where learn draws, and nobody else


class Taped:
    """A party whose every draw, input and output is written down."""

    def __init__(self, party: RunParty, monkeypatch: pytest.MonkeyPatch) -> None:
        self.party, self.name = party, party.name
        self.draws: list[bytes] = []
        self.inputs: list[Message | str] = []
        self.outputs: list[bytes] = []
        self._patch = monkeypatch

    @property
    def has_finished(self) -> bool:
        return self.party.has_finished

    def _noted(self, given: Message | str, work: Callable[[], list[Message]]) -> list[Message]:
        beneath = vars(randomness)["os"]

        def draw(count: int) -> bytes:
            self.draws.append(beneath.urandom(count))
            return self.draws[-1]

        with self._patch.context() as patch:
            patch.setattr(SOURCE, SimpleNamespace(urandom=draw))
            said = work()
        self.inputs.append(given)
        self.outputs += [message.to_bytes() for message in said]
        return said

    def start(self) -> list[Message]:
        return self._noted("start", self.party.start)

    def receive(self, message: Message) -> list[Message]:
        return self._noted(message, lambda: self.party.receive(message))

    def time_out(self) -> list[Message]:
        return self._noted("time out", self.party.time_out)


def replayed(
    taped: Taped, terms: RunTerms, holdings: Holdings, monkeypatch: pytest.MonkeyPatch
) -> tuple[list[bytes], Any]:
    tape = list(taped.draws)
    said: list[Message] = []
    with monkeypatch.context() as patch:
        patch.setattr(SOURCE, SimpleNamespace(urandom=lambda count: _next(tape, count)))
        party = make_party(terms.to_bytes(), taped.name, holdings)
        for given in taped.inputs:
            if isinstance(given, Message):
                said += party.receive(Message.from_bytes(given.to_bytes()))
            else:
                said += party.start() if given == "start" else party.time_out()
    assert not tape
    return [message.to_bytes() for message in said], party.result()


def _next(tape: list[bytes], count: int) -> bytes:
    drawn = tape.pop(0)
    assert len(drawn) == count
    return drawn


@pytest.mark.parametrize(
    ("kind", "mode", "given"),
    [
        ("train", "open", {"text": AGREED}),
        (
            "train",
            "hidden",
            {
                "text": TextRecipe(dictionary="hashed", width=4),
                "recipe": {"penalty": 0.1, "key_bits": BITS, "solver": "chebyshev",
                           "fraction_bits": 16},
            },
        ),
    ],
    ids=["open", "hidden"],
)  # fmt: skip
def test_what_every_party_says_and_keeps_follows_from_inputs_and_draws(
    kind: str, mode: str, given: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    with small_keys_allowed():
        terms = made_terms(kind, mode, **given)
        holdings = made_holdings(made_peers(documents=30))
        taped = [Taped(make_party(terms, n, holdings[n]), monkeypatch) for n in terms.parties]
        Exchange(taped).run()
        for each in taped:
            said, kept = replayed(each, terms, holdings[each.name], monkeypatch)
            assert said == each.outputs
            assert repr(kept) == repr(each.party.result())
