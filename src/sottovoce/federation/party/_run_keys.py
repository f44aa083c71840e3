"""The Paillier keys of a helper's runs: a key for each run and each purpose, and for nothing else.

A ciphertext of one run cannot be opened in another, whatever a coordinator proposes. A key is in
the journal before anybody is told it, so that a restarted helper goes on with the same; to make and
prove one takes less than a second at 3,072 bits. When a run has ended, its key goes; only that of a
hidden classifier stays, for as long as rows may be classified by it.
"""

import json
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from sottovoce.errors import InputError
from sottovoce.federation._journal.journal import Journal
from sottovoce.federation._journal.keys import KeptKey
from sottovoce.json import parse_json
from sottovoce.learn.run.terms import RunTerms
from sottovoce.learn.training_terms import COORDINATOR, KEY_HOLDER

if TYPE_CHECKING:
    from sottovoce.learn.paillier.keys import PrivateKey

SOLVE, RADOS = "solve", "rados"


class JournalReader(Protocol):
    """Whoever lets a journal be used while nobody else does: a node."""

    def read_journal(self, reading: Callable[[Journal], Any]) -> Any:  # noqa: ANN401 - what is read
        """What ``reading`` finds."""


def purposes(terms: RunTerms, name: str) -> tuple[str, ...]:
    """What a party needs keys for in a run, the most important first."""
    if name == KEY_HOLDER and terms.kind == "rados":
        return (RADOS,)
    return (SOLVE,) if name in {COORDINATOR, KEY_HOLDER} and terms.mode == "hidden" else ()


class RunKeys:
    """A helper's keys.

    ``first`` is the key of the party's folder: made at setup, it is that of the first run.
    """

    def __init__(self, node: JournalReader, first: "PrivateKey | None") -> None:
        self._node, self._first = node, first

    def of_run(self, terms: RunTerms, name: str) -> "dict[str, PrivateKey]":
        """The keys of a run by purpose; a run that uses a training has the training's."""
        wanted = purposes(terms, name)
        if wanted and terms.training:
            return {SOLVE: self._of_training(terms.training)}
        return {each: self._of(terms.session, each, terms.recipe.key_bits) for each in wanted}

    def forget(self, ended: Mapping[bytes, str]) -> None:
        """Wipe the keys of runs that have ended, given by session and how; hidden ones may stay."""
        for key in self._kept():
            status = ended.get(key.session)
            keeps = status == "finished" and key.purpose == SOLVE
            if key.usable and status is not None and not keeps:
                self._node.read_journal(partial(_forget, key))

    def _of(self, session: bytes, purpose: str, bits: int) -> "PrivateKey":
        written = self._node.read_journal(lambda journal: journal.key(session, purpose))
        if written is not None:
            return _read(written)
        key = self._unused_first(bits) or _made(bits)
        self._keep(key, session, purpose)
        return key

    def _of_training(self, training: bytes) -> "PrivateKey":
        written = self._node.read_journal(lambda journal: journal.key(training, SOLVE))
        if written is not None:
            return _read(written)
        # A classifier of an earlier release is under the key of the folder.
        used = [key for key in self._kept() if key.session == training]
        if used or self._first is None:
            raise InputError("the key of that training is gone; train again to classify.")
        return self._first

    def _unused_first(self, bits: int) -> "PrivateKey | None":
        """The key of the folder, if no run can have used it: none has a key, and none has ended."""
        first = self._first
        if first is None or first.public.bits != bits or self._kept():
            return None
        return None if self._node.read_journal(_ended_runs) else first

    def _kept(self) -> list[KeptKey]:
        found: list[KeptKey] = self._node.read_journal(lambda journal: journal.run_keys())
        return found

    def _keep(self, key: "PrivateKey", session: bytes, purpose: str) -> None:
        public = key.public
        body = json.dumps({"p": f"{int(key.secret.p):x}", "q": f"{int(key.secret.q):x}"}).encode()
        self._node.read_journal(
            lambda journal: journal.keep_key(session, purpose, public.fingerprint, body)
        )


def _forget(key: KeptKey, journal: Journal) -> None:
    journal.forget_key(key.session, key.purpose)


def _ended_runs(journal: Journal) -> list[bytes]:
    runs = (journal.run(session) for session in journal.sessions())
    return [run.session for run in runs if run is not None and run.status != "running"]


def _read(written: bytes) -> "PrivateKey":
    from sottovoce.learn.paillier.keys import PrivateKey  # noqa: PLC0415 - masks need no gmpy2

    fields = parse_json(written)
    return PrivateKey._trust(int(fields["p"], 16), int(fields["q"], 16))  # noqa: SLF001 - made here, and sealed since


def _made(bits: int) -> "PrivateKey":
    """A fresh key of the operating system's randomness, never of a run's stream.

    A thread of its own is outside the stream: a rebuilt run finds its key and draws nothing for it.
    """
    from sottovoce.learn.paillier.keys import generate_key  # noqa: PLC0415 - masks need no gmpy2

    with ThreadPoolExecutor(1, "new key") as other:
        return other.submit(generate_key, bits).result()
