"""What a party keeps of a training: a record that its machine can store and read again.

It holds a trained classifier in the form of its mode. A peer's record also holds the key of its
words where the peers share one: store it as a secret.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.arrays import Floats
from sottovoce.errors import DamagedRecordError, ParameterError
from sottovoce.learn.features import Features, TextRecipe
from sottovoce.learn.local_data import LocalData
from sottovoce.learn.query_budget import (
    QueryBudget,
    QueryCharge,
    budget_limits,
    planned_budget,
)
from sottovoce.learn.ridge import LinearModel, Standard
from sottovoce.learn.run.agree import Agreed
from sottovoce.learn.run.terms import MODES, RunTerms
from sottovoce.learn.support import KeptFeatures
from sottovoce.learn.training_terms import COORDINATOR, Mode
from sottovoce.learn.wire import codec
from sottovoce.learn.wire.codec import Value, from_value, to_value

if TYPE_CHECKING:
    from sottovoce.learn.hidden.train import HiddenClassifier
    from sottovoce.learn.paillier.array import EncryptedArray
    from sottovoce.learn.paillier.slots import SlotPlan

Record = dict[str, Value]
VERSION = 2


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
        "text": to_value(terms.text),
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


@dataclass(frozen=True, repr=False)
class OneClassifier:
    """One of several classifiers that a party has from one training."""

    name: str
    model: LinearModel
    penalty: float
    kept: KeptFeatures | None
    survivors: tuple[str, ...]
    holdings: Mapping[str, Floats]
    guarded: Any = None


def each_classifier(party: Any, number: int) -> list[Any]:  # noqa: ANN401 - any party
    """What a party has of a training of so many labels, label by label."""
    solved = getattr(party, "solved", ())
    if len(solved) != number or number == 1:
        return [party]  # the key holder has none
    kept, holdings = getattr(party, "kept", None), getattr(party, "holdings", {})
    guarded = getattr(party, "guarded", None)
    return [
        OneClassifier(party.name, model, penalty, kept, party.survivors, holdings, guarded)
        for model, penalty in solved
    ]


def _common(terms: RunTerms, agreed: Agreed, trained: list[Any]) -> Record:
    peers = getattr(trained[-1], "survivors", agreed.peers) if trained else agreed.peers
    guarded = getattr(trained[0], "guarded", None) if trained else None
    opened = () if guarded is None else (guarded.kept.width, guarded.allowed, guarded.supported)
    return {
        "version": VERSION,
        "kind": terms.kind,
        "mode": terms.mode,
        "session": terms.session,
        "features": agreed.features,
        "labels": agreed.labels,
        "peers": peers,
        "identities": {peer: terms.identities[peer] for peer in terms.peers},
        "documents": dict(agreed.documents),
        "opened": opened,
    }


def opened_words(record: Mapping[str, Value]) -> str:
    """Of how many features the sums were opened, and why not of all; empty where none were."""
    numbers = codec.item(record, "opened", tuple) if "opened" in record else ()
    if not numbers:
        return ""
    kept, allowed, supported = (n for n in numbers if isinstance(n, int))
    found = f"sums of {kept} of {supported} features that enough documents use"
    if allowed != supported:
        found += (
            f"; of more than {allowed} they would hold too much of so few documents; the hidden "
            "mode and learn count have no such limit"
        )
    if kept != allowed:
        found += f"; of {allowed}, some differ from others in a few documents only"
    return found


def _helper_part(terms: RunTerms, agreed: Agreed, party: Any) -> Record:  # noqa: ANN401 - C or K
    from sottovoce.learn.paillier.key_files import public_key_to_text  # noqa: PLC0415 - masks need no gmpy2

    other, peers = getattr(party, "other", None), party.survivors or agreed.peers
    budget = planned_budget(terms.recipe, party.features, peers)
    each, together = budget_limits(terms.recipe, party.features, len(peers))
    return {
        "modulus": party.share.modulus,
        "score bound": party.solve.score_bound,
        "peers": len(party.survivors),
        "other": "" if other is None else public_key_to_text(other),
        "budget": budget_part(budget),
        "limits": {"each": each, "together": together},
        "data": {peer: party.tags[peer] for peer in peers},
    }


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
    """A peer's result, or DamagedRecordError."""
    check_version(record, "train")
    mode = codec.item(record, "mode", str)
    if mode not in MODES:
        raise DamagedRecordError("a result must be of a known mode.")
    held = codec.array(record, "held out", "<f8")
    if held.size != 1:
        raise DamagedRecordError("a result must have one fraction that was held out.")
    return Trained(
        mode,
        codec.item(record, "session", bytes),
        codec.texts(record, "features"),
        codec.texts(record, "labels"),
        codec.texts(record, "peers"),
        _read_features(record),
        codec.array(record, "has", "|b1"),
        float(held[0]),
        codec.parts(record, "classifiers"),
    )


def check_version(record: Mapping[str, Value], kind: str) -> None:
    """Refuse what another version wrote, and another kind of run."""
    if (record.get("version"), record.get("kind"), kind) == (VERSION, "rados", "train"):
        raise ParameterError(
            "this training went through an intermediary: the key holder alone has its rados, and "
            "nobody a classifier to label with; train without an intermediary for that."
        )
    if record.get("version") != VERSION or record.get("kind") != kind:
        raise DamagedRecordError(
            f"a result must be that of a run to {kind}, of version {VERSION}; bring the right one."
        )


def _read_features(record: Mapping[str, Value]) -> Features | None:
    if record.get("text") is None:
        return None
    recipe = from_value(record["text"], TextRecipe)
    chosen = codec.item(record, "chosen", tuple)
    if len(chosen) > 1 or not all(
        isinstance(each, np.ndarray) and each.dtype == "<i8" for each in chosen
    ):
        raise DamagedRecordError("a result's buckets must be whole numbers.")
    return Features(recipe, codec.item(record, "key", bytes), chosen[0] if chosen else None)


def classifier_part(mode: Mode, party: Any) -> Record:  # noqa: ANN401 - a peer or coordinator
    """What a peer has of one two-class training; a coordinator has it in the open mode."""
    if mode == "hidden":
        return _hidden_part(party.classifier, len(party.survivors), party.data)
    kept = getattr(party, "kept", None)
    return {
        "coefficients": party.model.coefficients,
        "numbers": np.array([party.model.intercept, getattr(party, "penalty", 0.0)]),
        "kept": np.zeros(0, bool) if kept is None else kept.kept,
    }


def read_model(record: Mapping[str, Value], width: int) -> LinearModel:
    """A classifier that its holder can read."""
    coefficients = codec.array(record, "coefficients", "<f8")
    numbers = codec.array(record, "numbers", "<f8")
    if coefficients.size != width or numbers.size != 2:  # noqa: PLR2004 - intercept and penalty
        raise DamagedRecordError(f"a classifier must have {width} numbers, and two besides.")
    return LinearModel(coefficients, float(numbers[0]))


def read_hidden(record: Mapping[str, Value]) -> "HiddenClassifier":
    """A classifier in two encrypted shares."""
    from sottovoce.learn.hidden.told import share_slots  # noqa: PLC0415 - masks need no gmpy2
    from sottovoce.learn.hidden.train import HiddenClassifier  # noqa: PLC0415 - likewise

    modulus, peers = codec.item(record, "modulus", int), codec.item(record, "peers", int)
    first, second = (
        _read_array(record, part, lambda bits: share_slots(modulus, bits, peers))
        for part in ("coordinator", "key holder")
    )
    return HiddenClassifier(
        _read_standard(record),
        modulus,
        codec.item(record, "score bound", int),
        codec.item(record, "query bits", int),
        first,
        second,
    )


def mean_row(record: Mapping[str, Value], standard: Standard) -> Floats:
    """What a peer adds for entities that it does not know, in the hidden mode."""
    row = codec.array(record, "mean row", "<f8")
    if row.size != standard.width:
        raise DamagedRecordError(f"a mean row must have {standard.width} numbers.")
    return row


def _hidden_part(classifier: "HiddenClassifier", peers: int, data: LocalData) -> Record:
    from sottovoce.learn.rados.rados import extra_rado  # noqa: PLC0415 - likewise

    rado, rows = extra_rado(classifier.standard.applied(data.rows), data.signs)
    return {
        "mean row": rado / rows,
        **_standard_part(classifier.standard),
        "modulus": classifier.modulus,
        "score bound": classifier.score_bound,
        "query bits": classifier.query_bits,
        "peers": peers,
        **_array_part("coordinator", classifier.coordinator),
        **_array_part("key holder", classifier.key_holder),
    }


def _standard_part(standard: Standard) -> Record:
    return {
        "kept": standard.kept.kept,
        "count": np.array([standard.count]),
        "means": standard.means,
        "scales": standard.scales,
        "constant": standard.constant,
    }


def _read_standard(record: Mapping[str, Value]) -> Standard:
    kept = codec.array(record, "kept", "|b1")
    count = codec.array(record, "count", "<f8")
    means, scales = codec.array(record, "means", "<f8"), codec.array(record, "scales", "<f8")
    constant = codec.array(record, "constant", "|b1")
    if {means.size, scales.size, constant.size} != {int(kept.sum())} or count.size != 1:
        raise DamagedRecordError("a classifier's means and scales must be those of its features.")
    return Standard(KeptFeatures(kept), float(count[0]), means, scales, constant)


def _array_part(name: str, array: "EncryptedArray") -> Record:
    from sottovoce.learn.paillier.key_files import public_key_to_text  # noqa: PLC0415 - masks need no gmpy2
    from sottovoce.learn.paillier.wire import array_to_bytes  # noqa: PLC0415 - masks need no gmpy2

    return {name: array_to_bytes(array), f"{name}'s key": public_key_to_text(array.public)}


def _read_array(
    record: Mapping[str, Value], name: str, plan: Callable[[int], "SlotPlan"]
) -> "EncryptedArray":
    from sottovoce.learn.paillier.key_files import public_key_from_text  # noqa: PLC0415 - masks need no gmpy2
    from sottovoce.learn.paillier.wire import array_from_bytes  # noqa: PLC0415 - masks need no gmpy2

    public = public_key_from_text(codec.item(record, f"{name}'s key", str))
    return array_from_bytes(codec.item(record, name, bytes), public, plan=plan(public.bits))


def budget_part(budget: QueryBudget) -> Record:
    """What is left of a budget."""
    left, together = budget.state
    return {"left": dict(left), "together": together}


def read_charge(record: Mapping[str, Value], query: bytes, classifier: int) -> QueryCharge:
    """A query of one classifier as a ledger counts it; who asks for how many rows comes later."""
    tags, limits = codec.part(record, "data"), codec.part(record, "limits")
    together, each = codec.item(limits, "together", int), codec.item(limits, "each", int)
    data = tuple(tags[peer] for peer in sorted(tags))
    if not all(isinstance(tag, bytes) for tag in data):
        raise DamagedRecordError("tags of data must be bytes by peer.")
    last = classifier.to_bytes(2)  # each of several classifiers of the same data has its own
    named = tuple(bytes(tag) + last for tag in data if isinstance(tag, bytes) and tag)
    return QueryCharge(query, named, "", 0, each, together)


def read_budget(record: Mapping[str, Value]) -> QueryBudget:
    """A budget that was put down."""
    kept = codec.part(record, "budget")
    left = codec.part(kept, "left")
    if not all(isinstance(rows, int) for rows in left.values()):
        raise DamagedRecordError("a budget must be rows by peer.")
    rows = {name: int(value) for name, value in left.items() if isinstance(value, int)}
    return QueryBudget.resumed(rows, codec.item(kept, "together", int))
