"""One party of one run: a state machine that ends with a record."""

from collections.abc import Callable, Mapping

from sottovoce.errors import ParameterError
from sottovoce.learn.party import Leakage, StalledError, Value
from sottovoce.learn.protocols.stages import Script, Staged
from sottovoce.learn.protocols.terms import COORDINATOR, KEY_HOLDER
from sottovoce.learn.runs.classifying import classify_plan, classifying_helper, classifying_peer
from sottovoce.learn.runs.evaluating import evaluate_plan, evaluating_helper, evaluating_peer
from sottovoce.learn.runs.holdings import Holdings
from sottovoce.learn.runs.leakage import run_leakage
from sottovoce.learn.runs.terms import INTERMEDIARY, ROLES, RunKind, RunTerms
from sottovoce.learn.runs.training import (
    RunScript,
    train_plan,
    training_coordinator,
    training_key_holder,
    training_peer,
)


class RunParty(Staged):
    """A party of a run: what it does, and what it keeps in the end."""

    def __init__(
        self, name: str, terms: RunTerms, plan: tuple[str, ...], script: RunScript
    ) -> None:
        super().__init__(name, terms.session, plan, self._noting(script))
        self.terms = terms
        self._record: Mapping[str, Value] | None = None

    @property
    def leakage(self) -> Leakage:
        """Who learns what."""
        return run_leakage(self.terms)

    def result(self) -> Mapping[str, Value]:
        """What this party keeps; it may hold secrets of its own."""
        if self._record is None:
            raise StalledError(f"{self.name} has not finished this run, so it has no result.")
        return self._record

    def _noting(self, script: RunScript) -> Script:
        self._record = yield from script


def make_party(terms: RunTerms | bytes, name: str, holdings: Holdings) -> RunParty:
    """The party called ``name`` of a run, with what it brings; it refuses what does not fit."""
    # Through bytes even here, so that all parties have the very same numbers and words.
    known = RunTerms.from_bytes(terms if isinstance(terms, bytes) else terms.to_bytes())
    if name not in known.parties:
        raise ParameterError(f"this run has no party called {name!r}.")
    plan, made = _KINDS[known.kind]
    return RunParty(name, known, plan(known), made(known, name, holdings))


def _classifying(terms: RunTerms, name: str, holdings: Holdings) -> RunScript:
    if name in ROLES:
        return classifying_helper(name, terms, holdings)
    return classifying_peer(name, terms, holdings)


def _evaluating(terms: RunTerms, name: str, holdings: Holdings) -> RunScript:
    if name in ROLES:
        return evaluating_helper(name, terms, holdings)
    return evaluating_peer(name, terms, holdings)


def _rados_plan(terms: RunTerms) -> tuple[str, ...]:
    from sottovoce.learn.runs import intermediary  # noqa: PLC0415 - masks need no gmpy2

    return intermediary.rados_plan(terms)


def _rados(terms: RunTerms, name: str, holdings: Holdings) -> RunScript:
    from sottovoce.learn.runs import intermediary  # noqa: PLC0415 - likewise

    helpers = {
        COORDINATOR: intermediary.rados_coordinator,
        KEY_HOLDER: intermediary.rados_key_holder,
        INTERMEDIARY: intermediary.rados_intermediary,
    }
    if name in helpers:
        return helpers[name](terms, holdings)
    return intermediary.rados_peer(name, terms, holdings)


def _training(terms: RunTerms, name: str, holdings: Holdings) -> RunScript:
    if name == COORDINATOR:
        return training_coordinator(terms, holdings)
    if name == KEY_HOLDER:
        return training_key_holder(terms, holdings)
    return training_peer(name, terms, holdings)


_Plan = Callable[[RunTerms], tuple[str, ...]]
_Made = Callable[[RunTerms, str, Holdings], RunScript]
_KINDS: dict[RunKind, tuple[_Plan, _Made]] = {
    "train": (train_plan, _training),
    "classify": (classify_plan, _classifying),
    "evaluate": (evaluate_plan, _evaluating),
    "rados": (_rados_plan, _rados),
}
