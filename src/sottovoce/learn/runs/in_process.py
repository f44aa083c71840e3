"""All parties of a run in this process, for notebooks, studies and tests."""

from collections.abc import Mapping
from dataclasses import dataclass

from sottovoce.learn.party import Exchange, Faults, Leakage, Said, StalledError, Traffic, Value
from sottovoce.learn.runs.holdings import Holdings
from sottovoce.learn.runs.leakage import run_leakage
from sottovoce.learn.runs.making import make_party
from sottovoce.learn.runs.terms import RunTerms


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
    results = {party.name: party.result() for party in parties if party.finished}
    if not results:
        raise StalledError("nobody who is left has finished the run.")
    return Finished(results, traffic, tuple(exchange.transcript), run_leakage(terms))
