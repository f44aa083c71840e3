"""What a party keeps of a training: a record that its machine can store and read again.

A peer's record holds the key of its words where the peers share one: store it as a secret.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.learn.party import Value
from sottovoce.learn.protocols.budget import QueryBudget, planned_budget
from sottovoce.learn.protocols.local import LocalData
from sottovoce.learn.protocols.terms import COORDINATOR, Mode
from sottovoce.learn.runs import values
from sottovoce.learn.runs.agreeing import Agreed
from sottovoce.learn.runs.classifiers import classifier_part
from sottovoce.learn.runs.terms import MODES, RunTerms
from sottovoce.learn.runs.terms_bytes import TEXT, DamagedTermsError, maybe
from sottovoce.learn.runs.values import DamagedResultError
from sottovoce.learn.texts.features import Features

VERSION = 1
Record = dict[str, Value]


def peer_record(
    terms: RunTerms,
    agreed: Agreed,
    features: Features | None,
    data: LocalData,
    trained: list[Any],
) -> Record:
    """What a peer keeps: the features' rule, the labels, and a classifier for each training."""
    chosen = None if features is None else features.chosen
    return {
        **_common(terms, agreed, trained),
        "text": maybe(TEXT).written(terms.text),
        "key": b"" if features is None else features.key,
        "chosen": () if chosen is None else (chosen,),
        "has": data.has,
        "held out": np.array([terms.held_out]),
        "classifiers": tuple(classifier_part(terms.mode, party) for party in trained),
    }


def helper_record(terms: RunTerms, agreed: Agreed, trained: list[Any]) -> Record:
    """What a coordinator or a key holder keeps."""
    record = _common(terms, agreed, trained)
    if trained and hasattr(trained[0], "holdings"):
        record["holdings"] = {
            peer: np.asarray(has, bool) for peer, has in trained[0].holdings.items()
        }
    if terms.mode == "hidden":
        record["helpers"] = tuple(_helper_part(terms, agreed, party) for party in trained)
    elif trained and trained[0].name == COORDINATOR:
        record["classifiers"] = tuple(classifier_part("open", party) for party in trained)
    return record


def _common(terms: RunTerms, agreed: Agreed, trained: list[Any]) -> Record:
    peers = getattr(trained[-1], "survivors", agreed.peers) if trained else agreed.peers
    return {
        "version": VERSION,
        "kind": terms.kind,
        "mode": terms.mode,
        "session": terms.session,
        "features": agreed.features,
        "labels": agreed.labels,
        "peers": peers,
    }


def _helper_part(terms: RunTerms, agreed: Agreed, party: Any) -> Record:  # noqa: ANN401 - C or K
    from sottovoce.learn.paillier import public_key_to_text  # noqa: PLC0415 - masks need no gmpy2

    other = getattr(party, "other", None)
    budget = planned_budget(terms.recipe, party.features, party.survivors or agreed.peers)
    return {
        "modulus": party.share.modulus,
        "score bound": party.solve.score_bound,
        "peers": len(party.survivors),
        "other": "" if other is None else public_key_to_text(other),
        "budget": budget_part(budget),
    }


def budget_part(budget: QueryBudget) -> Record:
    """What is left of a budget."""
    left, together = budget.state
    return {"left": dict(left), "together": together}


def read_budget(record: Mapping[str, Value]) -> QueryBudget:
    """A budget that was put down."""
    kept = values.part(record, "budget")
    left = values.part(kept, "left")
    if not all(isinstance(rows, int) for rows in left.values()):
        raise DamagedResultError("a budget must be rows by peer.")
    rows = {name: int(value) for name, value in left.items() if isinstance(value, int)}
    return QueryBudget.resumed(rows, values.item(kept, "together", int))


@dataclass(frozen=True, repr=False)
class Trained:
    """A peer's result of a training, read again.

    Attributes:
        mode: the trust mode.
        session: of the training.
        names: the columns' names.
        labels: in alphabetical order.
        peers: who trained.
        features: how texts become rows; None where rows are given.
        has: which columns the peer has.
        held_out: the fraction of documents that it kept for evaluation.
        classifiers: one for two labels, one for each label of more.
    """

    mode: Mode
    session: bytes
    names: tuple[str, ...]
    labels: tuple[str, ...]
    peers: tuple[str, ...]
    features: Features | None
    has: NDArray[np.bool_]
    held_out: float
    classifiers: tuple[Mapping[str, Value], ...]

    @property
    def agreed(self) -> Agreed:
        """What the parties had agreed on."""
        return Agreed(self.names, self.labels, self.peers)


def read_trained(record: Mapping[str, Value]) -> Trained:
    """A peer's result, or DamagedResultError."""
    check_version(record, "train")
    mode = values.item(record, "mode", str)
    if mode not in MODES:
        raise DamagedResultError("a result must be of a known mode.")
    held = values.array(record, "held out", "<f8")
    if held.size != 1:
        raise DamagedResultError("a result must have one fraction that was held out.")
    return Trained(
        mode,
        values.item(record, "session", bytes),
        values.texts(record, "features"),
        values.texts(record, "labels"),
        values.texts(record, "peers"),
        _read_features(record),
        values.array(record, "has", "|b1"),
        float(held[0]),
        values.parts(record, "classifiers"),
    )


def check_version(record: Mapping[str, Value], kind: str) -> None:
    """Refuse what another version wrote, and another kind of run."""
    if record.get("version") != VERSION or record.get("kind") != kind:
        raise DamagedResultError(
            f"a result must be that of a run to {kind}, of version {VERSION}; bring the right one."
        )


def _read_features(record: Mapping[str, Value]) -> Features | None:
    try:
        recipe = maybe(TEXT).read(record.get("text", ()))
    except (DamagedTermsError, ValueError) as error:
        raise DamagedResultError("a result's text recipe must be one.") from error
    if recipe is None:
        return None
    chosen = values.item(record, "chosen", tuple)
    if len(chosen) > 1 or not all(
        isinstance(each, np.ndarray) and each.dtype == "<i8" for each in chosen
    ):
        raise DamagedResultError("a result's buckets must be whole numbers.")
    return Features(recipe, values.item(record, "key", bytes), chosen[0] if chosen else None)
