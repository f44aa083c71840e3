"""Small federations: certificates of a throw-away authority, and trainings over fixed rows."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any

import numpy as np
from sottovoce_lab.learn.systems import opened_integers

from sottovoce.federation.certificates import Authority, Credentials, fingerprint
from sottovoce.federation.roster import Member, Roster
from sottovoce.learn.modes.hidden import HiddenCoordinator, HiddenKeyHolder, HiddenPeer
from sottovoce.learn.modes.open import TrainingCoordinator, TrainingPeer
from sottovoce.learn.paillier.keys import PrivateKey, random_primes
from sottovoce.learn.solve.plan import Share
from sottovoce.learn.sums.fixed import Ring
from sottovoce.learn.sums.keys import Identity, MaskedSum
from sottovoce.learn.sums.masked_sum import MaskPeer, MaskServer
from sottovoce.learn.training_terms import COORDINATOR, KEY_HOLDER, LocalData, Recipe, TrainingTerms
from sottovoce.learn.wire.codec import decode_value, encode_value
from sottovoce.learn.wire.exchange import Exchange
from sottovoce.learn.wire.message import Party, new_session
from sottovoce.privacy.randomness import drawing_from
from support.false_sums import documents, with_liar
from support.hidden_systems import BITS
from support.paillier_keys import insecure_key_of_primes
from support.trainings import small_peers

WIDTH = 3
JOURNAL_KEY = bytes(range(32))


def enrol(name: str, authority: Authority) -> Credentials:
    """A party's certificate and key."""
    issued = authority.issue(name.replace(" ", "-"), ["127.0.0.1"])
    return Credentials(issued.certificate, issued.key, authority.certificate)


def role_of(name: str) -> str:
    return name if name in (COORDINATOR, KEY_HOLDER) else "peer"


def roster_of(held: Mapping[str, Credentials], ports: Mapping[str, int]) -> Roster:
    """A roster on this machine."""
    return Roster(
        tuple(
            Member(name, role_of(name), f"127.0.0.1:{ports[name]}", fingerprint(own.certificate))
            for name, own in held.items()
        )
    )


def bare_roster(names: Iterable[str]) -> Roster:
    """A roster for wires that have no certificates."""
    return Roster(
        tuple(Member(name, role_of(name), "", f"{at:064x}") for at, name in enumerate(names))
    )


@dataclass(frozen=True)
class ToyTraining:
    """An open training over fixed rows, as a federation runs it."""

    peers: tuple[str, ...]
    rows: int = 12

    @property
    def names(self) -> tuple[str, ...]:
        """Everybody who takes part."""
        return (COORDINATOR, *self.peers)

    def terms(self, *, session: bytes | None = None, peers: Iterable[str] | None = None) -> bytes:
        """What is agreed on."""
        session = session or new_session()
        chosen = sorted(peers or self.peers)
        return json.dumps({"session": session.hex(), "peers": chosen}).encode()

    def without(self, terms: bytes, lost: frozenset[str]) -> bytes | None:
        """The terms of those who are left."""
        left = [name for name in json.loads(terms)["peers"] if name not in lost]
        return self.terms(peers=left) if len(left) >= 3 and lost <= set(self.peers) else None

    def made(self, terms: bytes, name: str) -> Party:
        """A participant's machine."""
        agreed = json.loads(terms)
        identities = {peer: identity(peer).public for peer in agreed["peers"]}
        features = tuple(f"x{at}" for at in range(WIDTH))
        whole = TrainingTerms(bytes.fromhex(agreed["session"]), identities, features, self.recipe)
        return self.machine(whole, name)

    def machine(self, whole: TrainingTerms, name: str) -> Party:
        """The machine of a party under whole terms."""
        if name == COORDINATOR:
            return TrainingCoordinator(whole)
        return TrainingPeer(name, whole, self.data[name])

    @property
    def recipe(self) -> Recipe:
        return Recipe(penalty=0.1)

    @cached_property
    def data(self) -> dict[str, LocalData]:
        has = np.ones(WIDTH, bool)
        given = small_peers(peers=len(self.peers), rows=self.rows, width=WIDTH)
        return {
            name: LocalData(x, y, has, identity(name))
            for name, (x, y) in zip(self.peers, given, strict=True)
        }

    def result(self, party: Any) -> bytes:  # noqa: ANN401 - any of the three
        """The classifier, or that there is none."""
        if getattr(party, "model", None) is None:
            return b"no model"
        return encode_value((party.model.coefficients, np.array([party.model.intercept])))


@cache
def same_key(number: int) -> PrivateKey:
    """A key that anyone can break, the same at every process of a test."""
    with drawing_from(bytes([number]) * 32):
        return insecure_key_of_primes(*random_primes(BITS))


@cache
def identity(name: str) -> Identity:
    """The same at every process of a test."""
    return Identity(name.encode().ljust(32, b"."))


@dataclass(frozen=True)
class ToyDocuments(ToyTraining):
    """A training on rows of 0 and 1, whose summands are weighed; one peer may lie."""

    rows: int = 30
    liar: str = ""

    def machine(self, whole: TrainingTerms, name: str) -> Party:
        stated = dict.fromkeys(whole.identities, self.rows)
        return super().machine(replace(whole, documents=stated, presence=True), name)

    @cached_property
    def data(self) -> dict[str, LocalData]:
        has = np.ones(WIDTH, bool)
        made = {
            name: LocalData(*documents(self.rows, WIDTH, at), has, identity(name))
            for at, name in enumerate(self.peers)
        }
        return with_liar(made, self.liar, lambda sums: sums * 1e6) if self.liar else made


@dataclass(frozen=True)
class ToyHidden(ToyTraining):
    """A hidden training: the coordinator and the key holder end with shares of theta."""

    @property
    def names(self) -> tuple[str, ...]:
        return (COORDINATOR, KEY_HOLDER, *self.peers)

    @property
    def recipe(self) -> Recipe:
        return Recipe(penalty=0.1, key_bits=BITS, fraction_bits=16)

    def machine(self, whole: TrainingTerms, name: str) -> Party:
        if name == COORDINATOR:
            return HiddenCoordinator(whole, same_key(1))
        if name == KEY_HOLDER:
            return HiddenKeyHolder(whole, same_key(2))
        return HiddenPeer(name, whole, self.data[name])

    def result(self, party: Any) -> bytes:  # noqa: ANN401 - any of the three
        """A share, or that there is none."""
        share = getattr(party, "share", None)
        if share is None:
            return b"no share"
        return encode_value(
            (int(share.modulus), tuple(map(int, share.values)), share.fraction_bits)
        )

    def direction(self, ends: Mapping[str, bytes | str]) -> list[int]:
        """The hidden numbers, which nobody but a test puts together."""
        shares = []
        for name in (COORDINATOR, KEY_HOLDER):
            modulus, values, bits = decode_value(ends[name])  # type: ignore[arg-type, misc, str-unpack] # three values
            shares.append(Share(modulus, values, determinant=True, fraction_bits=bits))  # type: ignore[arg-type] # so encoded
        return opened_integers(*shares)

    def plain_direction(self) -> list[int]:
        """The hidden numbers without any federation."""
        terms = self.terms()
        parties = {name: self.made(terms, name) for name in self.names}
        Exchange(parties.values()).run()
        return self.direction({name: self.result(party) for name, party in parties.items()})


def in_process(training: ToyTraining, peers: Iterable[str] | None = None) -> bytes:
    """What the training comes to without any federation, among some of its peers."""
    left = tuple(peers or training.peers)
    terms = training.terms(peers=left)
    gone = set(training.peers) - set(left)
    parties = {name: training.made(terms, name) for name in training.names if name not in gone}
    Exchange(parties.values()).run()
    return training.result(parties[COORDINATOR])


@dataclass(frozen=True)
class ToySum:
    """One masked sum of fixed vectors."""

    peers: tuple[str, ...]
    size: int = 4

    @property
    def names(self) -> tuple[str, ...]:
        """Everybody who takes part."""
        return (COORDINATOR, *self.peers)

    def terms(self) -> bytes:
        """What is agreed on."""
        return new_session()

    def made(self, terms: bytes, name: str) -> Party:
        """A participant's machine."""
        public = {peer: identity(peer).public for peer in self.peers}
        agreed = MaskedSum(terms, COORDINATOR, public, self.size)
        if name == COORDINATOR:
            return MaskServer(agreed)
        return MaskPeer(name, agreed, identity(name), self.summand(name))

    def summand(self, name: str) -> Ring:
        """What a peer adds: large numbers, so that a mask that is left over shows."""
        return np.full(self.size, 10 ** (3 * self.peers.index(name)), np.uint64)

    def result(self, party: Any) -> bytes:  # noqa: ANN401 - either of the two
        """The sum, and over whom it runs."""
        return encode_value((party.total, tuple(sorted(party.survivors))))

    def expected(self, survivors: Iterable[str]) -> bytes:
        """The sum over some."""
        names = tuple(sorted(survivors))
        total: Ring = np.sum([self.summand(n) for n in names], axis=0, dtype=np.uint64)
        return encode_value((total, names))
