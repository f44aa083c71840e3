"""A trained classifier as a record, by mode, and back."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from sottovoce.learn.examples import Floats
from sottovoce.learn.learners.ridge import LinearModel
from sottovoce.learn.learners.support import KeptFeatures
from sottovoce.learn.party import Value
from sottovoce.learn.protocols.local import LocalData
from sottovoce.learn.protocols.standard import Standard
from sottovoce.learn.protocols.terms import Mode
from sottovoce.learn.runs import values
from sottovoce.learn.runs.values import DamagedResultError

if TYPE_CHECKING:
    from sottovoce.learn.paillier import EncryptedArray, SlotPlan
    from sottovoce.learn.protocols.hidden_training import HiddenClassifier
    from sottovoce.learn.protocols.paper_training import PaperClassifier

Record = dict[str, Value]


def classifier_part(mode: Mode, party: Any) -> Record:  # noqa: ANN401 - a peer or coordinator
    """What a peer has of one two-class training; a coordinator has it in the open mode."""
    if mode == "hidden":
        return _hidden_part(party.classifier, len(party.survivors), party.data)
    if mode == "paper":
        return _paper_part(party.classifier, len(party.terms.peers), len(party.terms.features) + 1)
    kept = getattr(party, "kept", None)
    return {
        "coefficients": party.model.coefficients,
        "numbers": np.array([party.model.intercept, getattr(party, "penalty", 0.0)]),
        "kept": np.zeros(0, bool) if kept is None else kept.kept,
    }


def read_model(record: Mapping[str, Value], width: int) -> LinearModel:
    """A classifier that its holder can read."""
    coefficients = values.array(record, "coefficients", "<f8")
    numbers = values.array(record, "numbers", "<f8")
    if coefficients.size != width or numbers.size != 2:  # noqa: PLR2004 - intercept and penalty
        raise DamagedResultError(f"a classifier must have {width} numbers, and two besides.")
    return LinearModel(coefficients, float(numbers[0]))


def read_hidden(record: Mapping[str, Value]) -> "HiddenClassifier":
    """A classifier in two encrypted shares."""
    from sottovoce.learn.protocols.hidden_messages import share_slots  # noqa: PLC0415 - masks need no gmpy2
    from sottovoce.learn.protocols.hidden_training import HiddenClassifier  # noqa: PLC0415 - masks need no gmpy2

    modulus, peers = values.item(record, "modulus", int), values.item(record, "peers", int)
    first, second = (
        _read_array(record, part, lambda bits: share_slots(modulus, bits, peers))
        for part in ("coordinator", "key holder")
    )
    return HiddenClassifier(
        _read_standard(record),
        modulus,
        values.item(record, "score bound", int),
        values.item(record, "query bits", int),
        first,
        second,
    )


def read_paper(record: Mapping[str, Value]) -> "PaperClassifier":
    """A classifier under the coordinator's key."""
    from sottovoce.learn.protocols.paper_training import (  # noqa: PLC0415 - masks need no gmpy2
        PaperClassifier,
        theta_slots,
    )

    peers, width = values.item(record, "peers", int), values.item(record, "width", int)
    theta = _read_array(record, "theta", lambda bits: theta_slots(bits, peers, width))
    return PaperClassifier(
        _read_standard(record),
        values.array(record, "has", "|b1"),
        theta,
        values.array(record, "rado", "<f8"),
        values.item(record, "rado rows", int),
    )


def mean_row(record: Mapping[str, Value], standard: Standard) -> Floats:
    """What a peer adds for entities that it does not know, in the hidden mode."""
    row = values.array(record, "mean row", "<f8")
    if row.size != standard.width:
        raise DamagedResultError(f"a mean row must have {standard.width} numbers.")
    return row


def _hidden_part(classifier: "HiddenClassifier", peers: int, data: LocalData) -> Record:
    from sottovoce.learn.protocols.paper_training import extra_rado  # noqa: PLC0415 - likewise

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


def _paper_part(classifier: "PaperClassifier", peers: int, width: int) -> Record:
    return {
        **_standard_part(classifier.standard),
        **_array_part("theta", classifier.theta),
        "has": np.asarray(classifier.has, bool),
        "rado": classifier.rado,
        "rado rows": classifier.rado_rows,
        "peers": peers,
        "width": width,
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
    kept = values.array(record, "kept", "|b1")
    count = values.array(record, "count", "<f8")
    means, scales = values.array(record, "means", "<f8"), values.array(record, "scales", "<f8")
    constant = values.array(record, "constant", "|b1")
    if {means.size, scales.size, constant.size} != {int(kept.sum())} or count.size != 1:
        raise DamagedResultError("a classifier's means and scales must be those of its features.")
    return Standard(KeptFeatures(kept), float(count[0]), means, scales, constant)


def _array_part(name: str, array: "EncryptedArray") -> Record:
    from sottovoce.learn.paillier import (  # noqa: PLC0415 - masks need no gmpy2
        array_to_bytes,
        public_key_to_text,
    )

    return {name: array_to_bytes(array), f"{name}'s key": public_key_to_text(array.public)}


def _read_array(
    record: Mapping[str, Value], name: str, plan: Callable[[int], "SlotPlan"]
) -> "EncryptedArray":
    from sottovoce.learn.paillier import (  # noqa: PLC0415 - masks need no gmpy2
        array_from_bytes,
        public_key_from_text,
    )

    public = public_key_from_text(values.item(record, f"{name}'s key", str))
    return array_from_bytes(values.item(record, name, bytes), public, plan=plan(public.bits))
