"""A federation as a notebook sees it: somebody who can have a run done."""

from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable

from sottovoce.learn.party import Faults, Leakage, Value
from sottovoce.learn.party.exchange import Traffic
from sottovoce.learn.protocols.terms import COORDINATOR, KEY_HOLDER
from sottovoce.learn.runs.holdings import Holdings
from sottovoce.learn.runs.in_process import Finished, run_in_process
from sottovoce.learn.runs.terms import RunTerms
from sottovoce.learn.sums import Identity
from sottovoce.learn.texts.documents import Examples


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
    """

    def __init__(self, peers: Mapping[str, Examples], keys: tuple[Any, Any] | None = None) -> None:
        self._examples = dict(peers)
        self._identities = {name: Identity() for name in peers}
        self._keys: dict[str, Any] = {}
        if keys is not None:
            self._keys = dict(zip((COORDINATOR, KEY_HOLDER), keys, strict=True))
        self._kept: dict[bytes, dict[str, Mapping[str, Value]]] = {}
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

    def kept(self, training: bytes) -> Mapping[str, Mapping[str, Value]]:
        """What each party keeps of a training by now; those that fell silent keep nothing."""
        return self._kept.get(training, {})

    def run(
        self,
        terms: RunTerms,
        examples: Mapping[str, Examples],
        *,
        faults: Faults | None = None,
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
        return Holdings(self._identities.get(name), brought.get(name), key, earlier)

    def _key(self, name: str, terms: RunTerms) -> Any:  # noqa: ANN401 - masks need no gmpy2
        if terms.mode == "open" and name == COORDINATOR:
            return None
        if name not in self._keys:
            from sottovoce.learn.paillier import generate_key  # noqa: PLC0415 - likewise

            self._keys[name] = generate_key(terms.recipe.key_bits)
        return self._keys[name]
