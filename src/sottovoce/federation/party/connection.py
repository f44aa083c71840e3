"""A running federation as a notebook sees it, from the machine of one of its peers."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sottovoce.errors import InputError
from sottovoce.federation.config import load_config
from sottovoce.federation.party.control import ask
from sottovoce.federation.party.history import record_of
from sottovoce.federation.roster import load_roster, protocol_name
from sottovoce.learn.documents import Documents, Examples
from sottovoce.learn.run.terms import RunTerms
from sottovoce.learn.wire.codec import Value


class Connected:
    """A `learn.runs.Connection` to the party that runs with this ``party.toml``.

        classifier = learn.FederatedTextClassifier().fit(Connected("together/ada/party.toml"))

    The coordinator's configuration must say ``peers_may_start = true``; every peer still looks
    whether it accepts what is proposed, and brings its own texts.
    """

    def __init__(self, config: str | Path) -> None:
        self._config = load_config(Path(config))
        self._roster = load_roster(self._config.path(self._config.party.roster))
        self.last: Mapping[str, Any] = {}
        """The latest run's summary: time, bytes, rounds and leakage."""

    @property
    def identities(self) -> Mapping[str, bytes]:
        """Every peer's name with its public identity."""
        return self._roster.identities

    @property
    def here(self) -> str:
        """The party of this machine."""
        return protocol_name(self._config.party.name, self._config.party.role)

    def run(
        self, terms: RunTerms, examples: Mapping[str, Examples]
    ) -> Mapping[str, Mapping[str, Value]]:
        """Have a run done, and wait for it; what the party of this machine keeps."""
        request: dict[str, Any] = {"do": "run", "terms": terms.to_bytes().hex()}
        given = examples.get(self.here)
        if isinstance(given, Documents):
            request["texts"] = list(given.texts)
        elif examples:
            raise InputError(f"only {self.here}'s own texts can be brought from this machine.")
        *_, last = ask(self._config.path(self._config.party.store), request)
        self.last = {k: v for k, v in last["value"].items() if k != "record"}
        return {self.here: record_of(bytes.fromhex(last["value"]["record"]))}
