"""One party of a run: a state machine that ends with a record; and all of them in one process.

`make_party` makes the party that a run's terms and its own holdings call for. A notebook has runs
done through a `Connection`: `InProcess` has all parties here, a federation has one of them.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from sottovoce.errors import ParameterError, StalledError
from sottovoce.learn.documents import (
    FEWEST_SECRET_BYTES,
    Examples,
    document_digests,
    document_numbers,
    keyed_digest,
)
from sottovoce.learn.run.classify import classify_plan, classifying_helper, classifying_peer
from sottovoce.learn.run.count import count_plan, counting_helper, counting_peer
from sottovoce.learn.run.evaluate import evaluate_plan, evaluating_helper, evaluating_peer
from sottovoce.learn.run.leakage import run_leakage
from sottovoce.learn.run.terms import INTERMEDIARY, ROLES, Holdings, RunKind, RunTerms
from sottovoce.learn.run.train import RunScript, train_plan, training_helper, training_peer
from sottovoce.learn.sums.keys import Identity
from sottovoce.learn.training_terms import COORDINATOR, KEY_HOLDER
from sottovoce.learn.wire.codec import Value
from sottovoce.learn.wire.exchange import Exchange, Faults, Said, Traffic
from sottovoce.learn.wire.message import Leakage
from sottovoce.learn.wire.stages import Script, Staged

if TYPE_CHECKING:
    from sottovoce.learn.count.recipe import CountTrust
    from sottovoce.learn.count.spend import Spending

# What a helper counts on is not what it brings: queries that run side by side change it.
_COUNTED = "helpers"


class RunParty(Staged):
    """A party of a run: what it does, and what it keeps in the end."""

    def __init__(
        self,
        name: str,
        terms: RunTerms,
        plan: tuple[str, ...],
        script: RunScript,
        holdings: Holdings | None = None,
    ) -> None:
        super().__init__(name, terms.session, plan, self._noting(script))
        self.terms = terms
        self._holdings = holdings or Holdings()
        self._digests: dict[bytes, bytes] = {}
        self._record: Mapping[str, Value] | None = None

    @property
    def leakage(self) -> Leakage:
        """Who learns what."""
        return run_leakage(self.terms)

    def digest_holdings(self, secret: bytes) -> bytes:
        """A digest of all that this party brings to the run, under a secret of its own.

        Whoever carries the run on after a crash compares it with that of the beginning, and derives
        from it what the party draws: masks that have hidden one thing never hide another.
        """
        if secret not in self._digests:
            self._digests[secret] = holdings_digest(self._holdings, secret)
        return self._digests[secret]

    def result(self) -> Mapping[str, Value]:
        """What this party keeps; it may hold secrets of its own."""
        if self._record is None:
            raise StalledError(f"{self.name} has not finished this run, so it has no result.")
        return self._record

    def _noting(self, script: RunScript) -> Script:
        self._record = yield from script


def holdings_digest(holdings: Holdings, secret: bytes) -> bytes:
    """HMAC of a party's examples in their order, its keys and its part of an earlier training."""
    examples, kept = holdings.examples, holdings.earlier or {}
    documents: Value = ()
    if examples is not None:
        documents = (document_digests(examples, secret), document_numbers(examples))
    identity = () if holdings.identity is None else (holdings.identity.public,)
    key = () if holdings.key is None else (holdings.key.public.fingerprint,)
    earlier = {name: value for name, value in kept.items() if name != _COUNTED}
    return keyed_digest(secret, "brought", documents, (identity, key), earlier)


def make_party(terms: RunTerms | bytes, name: str, holdings: Holdings) -> RunParty:
    """The party called ``name`` of a run, with what it brings; it refuses what does not fit."""
    # Through bytes even here, so that all parties have the very same numbers and words.
    known = RunTerms.from_bytes(terms if isinstance(terms, bytes) else terms.to_bytes())
    if name not in known.parties:
        raise ParameterError(f"this run has no party called {name!r}.")
    plan, peer, helper = _KINDS[known.kind]
    part = helper if name in ROLES else peer
    return RunParty(name, known, plan(known), part(name, known, holdings), holdings)


def _rados_plan(terms: RunTerms) -> tuple[str, ...]:
    from sottovoce.learn.run import intermediary  # noqa: PLC0415 - masks need no gmpy2

    return intermediary.rados_plan(terms)


def _rados(name: str, terms: RunTerms, holdings: Holdings) -> RunScript:
    from sottovoce.learn.run import intermediary  # noqa: PLC0415 - likewise

    helpers = {
        COORDINATOR: intermediary.rados_coordinator,
        KEY_HOLDER: intermediary.rados_key_holder,
        INTERMEDIARY: intermediary.rados_intermediary,
    }
    if name in helpers:
        return helpers[name](terms, holdings)
    return intermediary.rados_peer(name, terms, holdings)


_Plan = Callable[[RunTerms], tuple[str, ...]]
_Part = Callable[[str, RunTerms, Holdings], RunScript]
# The stages of each kind of run, and what peers and helpers do.
_KINDS: dict[RunKind, tuple[_Plan, _Part, _Part]] = {
    "train": (train_plan, training_peer, training_helper),
    "classify": (classify_plan, classifying_peer, classifying_helper),
    "evaluate": (evaluate_plan, evaluating_peer, evaluating_helper),
    "rados": (_rados_plan, _rados, _rados),
    "count": (count_plan, counting_peer, counting_helper),
}


@dataclass(frozen=True, repr=False)
class Finished:
    """A run that has ended.

    Attributes:
        results: what each party keeps, by its name; parties that fell silent are left out.
        traffic: what it cost on the wire.
        transcript: every message: sender, receiver, step, kind and bytes.
        leakage: who learnt what.
    """

    results: Mapping[str, Mapping[str, Value]]
    traffic: Traffic
    transcript: tuple[Said, ...]
    leakage: Leakage


def run_in_process(
    terms: RunTerms, holdings: Mapping[str, Holdings], *, faults: Faults | None = None
) -> Finished:
    """Run every party to its end; whoever brings nothing of its own may be left out."""
    parties = [make_party(terms, name, holdings.get(name, Holdings())) for name in terms.parties]
    exchange = Exchange(parties, faults=faults)
    traffic = exchange.run()
    results = {party.name: party.result() for party in parties if party.has_finished}
    if not results:
        raise StalledError("nobody who is left has finished the run.")
    return Finished(results, traffic, tuple(exchange.transcript), run_leakage(terms))


@runtime_checkable
class Connection(Protocol):
    """Peers that can be reached, from the machine of one of them or all in one process.

    `run` starts a run of these terms at all parties, waits for its end, and gives back what each
    party *of this machine* keeps. It raises the run's error if it ends with one.
    """

    @property
    def identities(self) -> Mapping[str, bytes]:
        """Every peer's name with its public identity."""

    @property
    def here(self) -> str:
        """The peer of this machine: the one that asks."""

    def run(
        self, terms: RunTerms, examples: Mapping[str, Examples]
    ) -> Mapping[str, Mapping[str, Value]]:
        """Have a run done.

        ``examples`` holds what parties of this machine bring instead of what they are configured
        with: rows to classify. Results of earlier runs are found by ``terms.training``.
        """


class InProcess:
    """All parties in this process: what a notebook has without any federation.

    Attributes:
        last: the latest run: traffic, transcript and leakage.
        spending: where all peers pay for counts.
        trust: whom all of them count on.
    """

    def __init__(self, peers: Mapping[str, Examples], keys: tuple[Any, Any] | None = None) -> None:
        self._examples = dict(peers)
        self._identities = {name: Identity() for name in peers}
        self._keys: dict[str, Any] = {}
        if keys is not None:
            self._keys = dict(zip((COORDINATOR, KEY_HOLDER), keys, strict=True))
        self._kept: dict[bytes, dict[str, Mapping[str, Value]]] = {}
        self.spending: Spending | None = None
        self.trust: CountTrust | None = None
        self.last: Finished | None = None

    @property
    def identities(self) -> Mapping[str, bytes]:
        """Every peer's name with its public identity."""
        return {name: identity.public for name, identity in self._identities.items()}

    @property
    def here(self) -> str:
        """The first peer by name, unless a run names another."""
        return min(self._identities)

    @property
    def traffic(self) -> Traffic:
        """What the latest run cost on the wire."""
        return Traffic() if self.last is None else self.last.traffic

    @property
    def leakage(self) -> Leakage | None:
        """Who learnt what from the latest run."""
        return None if self.last is None else self.last.leakage

    def kept_results(self, training: bytes) -> Mapping[str, Mapping[str, Value]]:
        """What each party keeps of a training by now; those that fell silent keep nothing."""
        return self._kept.get(training, {})

    def run(
        self, terms: RunTerms, examples: Mapping[str, Examples], *, faults: Faults | None = None
    ) -> Mapping[str, Mapping[str, Value]]:
        """Run all parties to the end, and keep what they keep.

        ``faults`` is what goes wrong between them, for tests.
        """
        brought = {**self._examples, **examples}
        holdings = {name: self._holdings(name, terms, brought) for name in terms.parties}
        self.last = run_in_process(terms, holdings, faults=faults)
        if terms.kind == "train":
            self._kept[terms.session] = dict(self.last.results)
        for name, result in self.last.results.items():
            spent = result.get("training")
            if isinstance(spent, Mapping):
                self._kept[terms.training][name] = spent
        return self.last.results

    def _holdings(self, name: str, terms: RunTerms, brought: Mapping[str, Examples]) -> Holdings:
        earlier = self._kept.get(terms.training, {}).get(name)
        key = self._key(name, terms) if name in {COORDINATOR, KEY_HOLDER} else None
        return Holdings(
            self._identities.get(name),
            brought.get(name),
            key,
            earlier,
            self._secret(name),
            spending=self.spending,
            trust=self.trust,
        )

    def _secret(self, name: str) -> bytes:
        """Nobody's secret: all parties are here, and a notebook that is run again does the same."""
        return keyed_digest(bytes(FEWEST_SECRET_BYTES), "in process", name)

    def _key(self, name: str, terms: RunTerms) -> Any:  # noqa: ANN401 - masks need no gmpy2
        if terms.mode == "open" and name == COORDINATOR:
            return None
        if name not in self._keys:
            from sottovoce.learn.paillier.keys import generate_key  # noqa: PLC0415 - likewise

            self._keys[name] = generate_key(terms.recipe.key_bits)
        return self._keys[name]
