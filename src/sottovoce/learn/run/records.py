"""What a party keeps of a training: a record that its machine can store and read again.

It holds a trained classifier in the form of its mode. A peer's record also holds the key of its
words where the peers share one: store it as a secret. The dataclasses are the records' schema.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, assert_never

import numpy as np
from numpy.typing import NDArray

from sottovoce.errors import DamagedRecordError, ParameterError
from sottovoce.learn.features import Features
from sottovoce.learn.query_budget import QueryBudget, QueryCharge, budget_limits, planned_budget
from sottovoce.learn.ridge import LinearModel, Standard
from sottovoce.learn.run.agree import Agreed
from sottovoce.learn.run.terms import RunKind, RunTerms
from sottovoce.learn.training_terms import LocalData, Mode
from sottovoce.learn.wire import codec
from sottovoce.learn.wire.codec import Value, as_record, from_value, to_value

if TYPE_CHECKING:
    from sottovoce.learn.modes.hidden import HiddenClassifier
    from sottovoce.learn.paillier.array import EncryptedArray

Record = dict[str, Value]
VERSION = 3


@dataclass(frozen=True, repr=False)
class KeptRun:
    """What every party keeps of a training.

    Attributes:
        version: of the record.
        kind: of the run.
        mode: the trust mode.
        session: of the training.
        names: the columns' names.
        labels: in alphabetical order.
        peers: who trained.
        identities: every peer's name with its public identity.
        documents: how many each peer stated.
        opened: of how many columns sums were opened, how many the parties allowed, and how many
            enough documents use; none where no sums were opened.
    """

    version: int
    kind: RunKind
    mode: Mode
    session: bytes
    names: tuple[str, ...]
    labels: tuple[str, ...]
    peers: tuple[str, ...]
    identities: Mapping[str, bytes]
    documents: Mapping[str, int]
    opened: tuple[int, ...]


@dataclass(frozen=True, repr=False)
class Trained(KeptRun):
    """A peer's result of a training.

    Attributes:
        features: how texts become rows; None where rows are given.
        has: which columns the peer has.
        held_out: the fraction of documents that it kept for evaluation.
        classifiers: one for two labels, one for each label of more.
    """

    features: Features | None
    has: NDArray[np.bool_]
    held_out: float
    classifiers: tuple[dict[str, Any], ...]

    @property
    def agreement(self) -> Agreed:
        """What the parties had agreed on."""
        return Agreed(self.names, self.labels, self.peers)


@dataclass(frozen=True, repr=False)
class KeptShare:
    """A share of theta under its holder's key, and that key."""

    array: bytes
    key: str


@dataclass(frozen=True, repr=False)
class KeptHidden:
    """A classifier in two encrypted shares, as a peer keeps it."""

    standard: Standard
    modulus: int
    score_bound: int
    query_bits: int
    peers: int
    coordinator: KeptShare
    key_holder: KeptShare
    mean_row: NDArray[np.float64]

    def classifier(self) -> "HiddenClassifier":
        """With both shares as encrypted arrays."""
        from sottovoce.learn.modes.hidden import HiddenClassifier  # noqa: PLC0415 - masks need no gmpy2

        shares = self._share(self.coordinator), self._share(self.key_holder)
        numbers = self.modulus, self.score_bound, self.query_bits
        return HiddenClassifier(self.standard, *numbers, *shares)

    def _share(self, kept: KeptShare) -> "EncryptedArray":
        from sottovoce.learn.modes.hidden_solve import share_slots  # noqa: PLC0415 - masks need no gmpy2
        from sottovoce.learn.paillier.key_files import public_key_from_text  # noqa: PLC0415 - likewise
        from sottovoce.learn.paillier.wire import array_from_bytes  # noqa: PLC0415 - likewise

        public = public_key_from_text(kept.key)
        plan = share_slots(self.modulus, public.bits, self.peers)
        return array_from_bytes(kept.array, public, plan=plan)


@dataclass(frozen=True, repr=False)
class KeptHelper:
    """What a helper of the hidden mode keeps of one classifier.

    Attributes:
        modulus: of the shares.
        score_bound: the largest size of a score.
        peers: how many trained.
        other: the other helper's public key as text; empty at the key holder.
        budget: what is left of it.
        each: how many rows a peer may ask for,
        together: and all of them.
        data: every peer's tag of its data.
    """

    modulus: int
    score_bound: int
    peers: int
    other: str
    budget: QueryBudget
    each: int
    together: int
    data: Mapping[str, bytes]

    def charge(self, query: bytes, classifier: int) -> QueryCharge:
        """A query of one classifier as a ledger counts it; who asks for how much comes later."""
        last = classifier.to_bytes(2)  # each of several classifiers of the same data has its own
        named = tuple(self.data[peer] + last for peer in sorted(self.data) if self.data[peer])
        return QueryCharge(query, named, "", 0, self.each, self.together)


def peer_record(
    terms: RunTerms, agreed: Agreed, features: Features | None, data: LocalData, trained: list[Any]
) -> Record:
    """What a peer keeps: the features' rule, the labels, and a classifier for each training."""
    return {
        **_run_record(terms, agreed, trained),
        "features": to_value(features),
        "has": data.has,
        "held_out": terms.held_out,
        "classifiers": _classifier_records(terms.mode, trained),
    }


def helper_record(terms: RunTerms, agreed: Agreed, trained: list[Any]) -> Record:
    """What a coordinator or a key holder keeps."""
    record = _run_record(terms, agreed, trained)
    if trained and hasattr(trained[0], "holdings"):
        record["holdings"] = {
            peer: np.asarray(has, bool) for peer, has in trained[0].holdings.items()
        }
    if terms.mode == "hidden":
        record["helpers"] = tuple(_hidden_helper(terms, agreed, party) for party in trained)
    elif trained:
        record["classifiers"] = _classifier_records("open", trained)
    return record


def _run_record(terms: RunTerms, agreed: Agreed, trained: list[Any]) -> Record:
    peers = getattr(trained[-1], "survivors", agreed.peers) if trained else agreed.peers
    guarded = getattr(trained[0], "guarded", None) if trained else None
    kept = KeptRun(
        version=VERSION,
        kind=terms.kind,
        mode=terms.mode,
        session=terms.session,
        names=agreed.features,
        labels=agreed.labels,
        peers=peers,
        identities={peer: terms.identities[peer] for peer in terms.peers},
        documents=agreed.documents,
        opened=() if guarded is None else (guarded.kept.width, guarded.allowed, guarded.supported),
    )
    return as_record(kept)


def _hidden_helper(terms: RunTerms, agreed: Agreed, party: Any) -> Value:  # noqa: ANN401 - C or K
    from sottovoce.learn.paillier.key_files import public_key_to_text  # noqa: PLC0415 - masks need no gmpy2

    other, peers = getattr(party, "other", None), party.survivors or agreed.peers
    budget = planned_budget(terms.recipe, party.features, peers)
    each, together = budget_limits(terms.recipe, party.features, len(peers))
    kept = KeptHelper(
        party.share.modulus,
        party.solve.score_bound,
        len(party.survivors),
        "" if other is None else public_key_to_text(other),
        budget,
        each,
        together,
        {peer: party.tags[peer] for peer in peers},
    )
    return to_value(kept)


def read_trained(record: Mapping[str, Value]) -> Trained:
    """A peer's result, or DamagedRecordError."""
    check_version(record, "train")
    return from_value(record, Trained)


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


def _classifier_records(mode: Mode, trained: list[Any]) -> Value:
    """What a peer has of all trainings; a coordinator has it in the open mode."""
    match mode:
        case "hidden":
            each = (
                _kept_hidden(party.classifier, len(party.survivors), party.data)
                for party in trained
            )
            return tuple(map(to_value, each))
        case "open":
            (party,) = trained
            kept = getattr(party, "kept", None)
            return tuple(
                {
                    "coefficients": model.coefficients,
                    "numbers": np.array([model.intercept, penalty]),
                    "kept": np.zeros(0, bool) if kept is None else kept.kept,
                }
                for model, penalty in party.solved
            )
        case _:
            assert_never(mode)


def read_model(record: Mapping[str, Value], width: int) -> LinearModel:
    """A classifier that its holder can read."""
    coefficients = codec.array(record, "coefficients", "<f8")
    numbers = codec.array(record, "numbers", "<f8")
    if coefficients.size != width or numbers.size != 2:  # noqa: PLR2004 - intercept and penalty
        raise DamagedRecordError(f"a classifier must have {width} numbers, and two besides.")
    return LinearModel(coefficients, float(numbers[0]))


def read_hidden(record: Mapping[str, Value]) -> KeptHidden:
    """A classifier in two encrypted shares, or DamagedRecordError."""
    kept = from_value(record, KeptHidden)
    standard = kept.standard
    width = standard.kept.width
    parts = (standard.means, standard.scales, standard.constant)
    if {each.shape for each in parts} != {(width,)} or kept.mean_row.shape != (standard.width,):
        raise DamagedRecordError("a classifier's means and scales must be those of its features.")
    return kept


def _kept_hidden(classifier: "HiddenClassifier", peers: int, data: LocalData) -> KeptHidden:
    from sottovoce.learn.rados.rados import extra_rado  # noqa: PLC0415 - likewise

    rado, rows = extra_rado(classifier.standard.apply(data.rows), data.signs)
    return KeptHidden(
        classifier.standard,
        classifier.modulus,
        classifier.score_bound,
        classifier.query_bits,
        peers,
        _kept_share(classifier.coordinator),
        _kept_share(classifier.key_holder),
        rado / rows,
    )


def _kept_share(array: "EncryptedArray") -> KeptShare:
    from sottovoce.learn.paillier.key_files import public_key_to_text  # noqa: PLC0415 - masks need no gmpy2
    from sottovoce.learn.paillier.wire import array_to_bytes  # noqa: PLC0415 - masks need no gmpy2

    return KeptShare(array_to_bytes(array), public_key_to_text(array.public))
