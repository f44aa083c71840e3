"""Small federations: certificates of a throw-away authority, and trainings over fixed rows."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache, cached_property
from typing import Any

import numpy as np
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from sottovoce.federation.credentials import Credentials, fingerprint
from sottovoce.federation.roster import Member, Roster
from sottovoce.learn.party import Exchange, Party, encoded, new_session
from sottovoce.learn.protocols.local import LocalData
from sottovoce.learn.protocols.open_training import (
    TrainingCoordinator,
    TrainingKeyHolder,
    TrainingPeer,
)
from sottovoce.learn.protocols.terms import COORDINATOR, KEY_HOLDER, Recipe, TrainingTerms
from sottovoce.learn.sums import Identity
from support.hidden_systems import BITS, two_keys
from support.trainings import small_peers

WIDTH = 3
JOURNAL_KEY = bytes(range(32))


class Authority:
    """Signs certificates for tests."""

    def __init__(self, name: str = "authority") -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = _subject(name)
        self.pem = self._signed(name, self._key, days=10, ca=True)

    def credentials(self, name: str, *, days: float = 1.0) -> Credentials:
        """A party's certificate and key; of negative days, an expired one."""
        key = ec.generate_private_key(ec.SECP256R1())
        pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        return Credentials(self._signed(name.replace(" ", "-"), key, days=days), pem, self.pem)

    def _signed(
        self, name: str, key: ec.EllipticCurvePrivateKey, *, days: float, ca: bool = False
    ) -> bytes:
        now = datetime.now(UTC)
        names = x509.SubjectAlternativeName([x509.DNSName(name)])
        return (
            x509.CertificateBuilder()
            .subject_name(_subject(name))
            .issuer_name(self._name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - timedelta(days=5))
            .not_valid_after(now + timedelta(days=days))
            .add_extension(x509.BasicConstraints(ca=ca, path_length=None), critical=True)
            .add_extension(names, critical=False)
            .sign(self._key, SHA256())
            .public_bytes(Encoding.PEM)
        )


def _subject(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


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
    way: str = "masks"
    rows: int = 12

    @property
    def names(self) -> tuple[str, ...]:
        """Everybody who takes part."""
        extra = (KEY_HOLDER,) if self.way == "packed" else ()
        return (COORDINATOR, *extra, *self.peers)

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
        if name == COORDINATOR:
            return TrainingCoordinator(whole)
        if name == KEY_HOLDER:
            return TrainingKeyHolder(whole, two_keys()[1])
        return TrainingPeer(name, whole, self.data[name])

    @property
    def recipe(self) -> Recipe:
        return Recipe(way=self.way, penalty=0.1, key_bits=BITS)  # type: ignore[arg-type] # a word

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
        return encoded((party.model.coefficients, np.array([party.model.intercept])))


@cache
def identity(name: str) -> Identity:
    """The same at every process of a test."""
    return Identity(name.encode().ljust(32, b"."))


def in_process(training: ToyTraining) -> bytes:
    """What the training comes to without any federation."""
    terms = training.terms()
    parties = {name: training.made(terms, name) for name in training.names}
    Exchange(parties.values()).run()
    return training.result(parties[COORDINATOR])
