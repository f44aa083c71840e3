"""What a training across holders gives back: a classifier to ask, and all of its parties."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sottovoce._notebook import html_facts
from sottovoce.arrays import Floats
from sottovoce.errors import InputError, LeakError, ParameterError, StalledError
from sottovoce.learn._holders import RowHolders, TextHolders
from sottovoce.learn.documents import Examples
from sottovoce.learn.ridge import LinearModel
from sottovoce.learn.run.classify import call_labels, scores
from sottovoce.learn.run.evaluate import ConfusionCounts, JointEvaluation
from sottovoce.learn.run.leakage import opened_words, run_leakage
from sottovoce.learn.run.party import Connection, InProcess
from sottovoce.learn.run.records import read_hidden, read_model, read_trained
from sottovoce.learn.run.terms import RunKind, RunTerms
from sottovoce.learn.training_terms import COORDINATOR, Mode, Offset
from sottovoce.learn.wire import codec
from sottovoce.learn.wire.codec import Value
from sottovoce.learn.wire.exchange import Said, Traffic
from sottovoce.learn.wire.message import new_session

if TYPE_CHECKING:
    from sottovoce.learn.wire.message import Leakage


class TrainedClassifier:
    """A classifier of several holders, and all of its parties: what `train` gives back.

    Attributes:
        classes_: the labels, in the type in which they were given; of two, scores are positive for
            the second.
        mode: the trust mode.
        leakage: who has learnt what.
        traffic: what the training cost on the wire; ``query_traffic`` what the last query did.
        transcript: every message of the training: sender, receiver, step, kind and bytes.
        connection: through which runs are done; of a federation elsewhere neither traffic nor
            transcript is known here.
        penalty: ridge's lambda.

    Example:
        >>> from sottovoce.learn import train
        >>> holder = ([[0.0, 1.0], [1.0, 0.0]] * 12, [False, True] * 12)
        >>> trained = train([holder, holder, holder], penalty=0.1)
        >>> trained.predict([[1.0, 0.0]]).tolist()
        [True]
        >>> trained.leakage.protocol
        'open mode, exact statistics; opened: sums of 2 of 2 features that enough documents use'
    """

    def __init__(
        self,
        holders: RowHolders | TextHolders,
        terms: RunTerms,
        connection: Connection,
        results: Mapping[str, Mapping[str, Value]],
    ) -> None:
        told = [name for name in terms.peers if name in results]
        ended = connection.last if isinstance(connection, InProcess) else None
        if not told or (ended is not None and COORDINATOR not in results):
            raise StalledError("none of the remaining parties knows the classifier.")
        self.mode: Mode = terms.mode
        self.terms, self.connection = terms, connection
        self.traffic = Traffic() if ended is None else ended.traffic
        self.transcript: tuple[Said, ...] = () if ended is None else ended.transcript
        self._holders, self._results, self._here = holders, results, told[0]
        opened, leakage = opened_words(self._find_result(self._here)), run_leakage(terms)
        what = f"{leakage.protocol}; opened: {opened}" if opened else leakage.protocol
        self.leakage: Leakage = replace(leakage, protocol=what)
        self.query_traffic = Traffic()
        self.classes_: NDArray[Any] = holders.values(
            read_trained(self._find_result(self._here)).labels
        )
        self.penalty = self._penalty()

    @property
    def rounds(self) -> int:
        """Of the training."""
        return self.traffic.rounds

    @property
    def bytes(self) -> int:
        """Of the training, sent by all parties."""
        return self.traffic.bytes

    @property
    def coef_(self) -> Floats:
        """Theta of the features as they came, a row a classifier; nobody has it in hidden mode."""
        return np.array([model.coefficients for model in self._models()])

    @property
    def intercept_(self) -> Floats:
        """The intercept of each classifier; nobody has it in the hidden mode."""
        return np.array([model.intercept for model in self._models()])

    @property
    def features_(self) -> tuple[str, ...]:
        """The common dictionary, in the order of ``coef_``: names, or numbers of word buckets."""
        return read_trained(self._find_result(self._here)).names

    @property
    def kept_features_(self) -> tuple[str, ...]:
        """The features that were trained on: those that enough documents and peers use."""
        trained = read_trained(self._find_result(self._here))
        first = trained.classifiers[0]
        if self.mode == "hidden":
            kept = read_hidden(first).standard.kept.kept
        else:
            kept = codec.array(first, "kept", "|b1")
        if not kept.size:
            return trained.names
        return tuple(name for name, keep in zip(trained.names, kept, strict=True) if keep)

    def predict(
        self,
        X: Any,  # noqa: ANN401, N803 - rows or texts; sklearn's name
        *,
        peer: str | None = None,
        offset: Offset | None = None,
    ) -> NDArray[Any]:
        """A label per row or text, asked for by ``peer`` (the first one by default).

        Private Text Classification, Protocol 3.

        Args:
            X: texts, where holders have texts; rows over the asking peer's features; or, where
                peers hold parts of the same entities, each peer's rows by its name, row i of each
                being the same entity.
            peer: who asks, and learns the labels.
            offset: ``mean``: peers that do not know the entities add the mean row of a rado.
        """
        asker = self._here if peer is None else peer
        parts = X if isinstance(X, Mapping) else {asker: X}
        if asker not in parts or not set(parts) <= set(self.terms.peers):
            raise InputError(
                "rows must come from peers of the training, the asking one among them."
            )
        examples = {name: self._holders.to_classify(name, each) for name, each in parts.items()}
        if len({len(each) for each in examples.values()}) != 1:
            raise InputError("peers must give as many rows each: row i of each is one entity.")
        if self.mode == "open" and len(examples) == 1 and offset is None:
            self.query_traffic = Traffic()
            names = call_labels(read_trained(self._find_result(self._here)), examples[asker])
        else:
            names = self._ask_others(asker, examples, offset)
        return self._holders.values(names)

    def decision_function(self, X: Any) -> Floats:  # noqa: ANN401, N803 - as predict
        """A score per row or text, and per label where there are more than two."""
        if self.mode == "hidden":
            raise LeakError("nobody has theta in this mode, and so nobody has scores; predict.")
        examples = self._holders.to_classify(self._here, X)
        found = scores(read_trained(self._find_result(self._here)), examples)
        return found[:, 0] if found.shape[1] == 1 else found

    def evaluate(
        self, held: Mapping[str, Any] | None = None, *, rows: int = 0, training_data: bool = False
    ) -> ConfusionCounts | JointEvaluation:
        """Counts over all peers' held-out rows or texts, by a secure sum.

        Args:
            held: rows or texts with their labels that were not trained on, by peer; None: what each
                peer has held out.
            rows: where the classifier is nobody's to read, how many of each peer are classified by
                queries; 0: all, as many as the peer with most has.
            training_data: where nothing was held out, count on what was trained on, which is no
                estimate; without this it is refused.
        """
        if held and self.terms.held_out:
            raise ParameterError("pass no rows: every holder has held out a part of its own.")
        if not (held or self.terms.held_out or training_data):
            raise ParameterError(
                "this training held out nothing, and the documents it was trained on give no "
                "estimate. Train with held_out=0.2, or ask by name for a count on training "
                "data: training_data=True."
            )
        examples = {
            name: self._holders.to_evaluate(name, given) for name, given in (held or {}).items()
        }
        asked = examples or dict(self._holders.examples)
        most = rows or max((len(each) for each in asked.values()), default=0)
        if not set(asked) <= set(self.terms.peers):
            raise InputError("rows must come from peers of the training.")
        known = self.terms.identities
        terms = self._use(
            "evaluate",
            identities={name: known[name] for name in asked or known},
            rows=0 if self.mode == "open" else most,
        )
        results = self.connection.run(terms, examples)
        here = self._here if self._here in results else min(terms.peers)
        found = JointEvaluation.from_record(results[here])
        return found.of_label(found.labels[1]) if self._of_rows else found

    def __repr__(self) -> str:
        """Counts, and nothing of what anybody holds."""
        facts = ", ".join(f"{name}={value!r}" for name, value in self._facts().items())
        return f"{type(self).__name__}({facts})"

    def _repr_html_(self) -> str:
        facts = {"lambda": self.penalty, **self._facts()}
        order = ("mode", "peers", "features", "kept", "lambda", "rounds", "bytes")
        return html_facts({name: facts[name] for name in order}) + self.leakage._repr_html_()

    def _facts(self) -> dict[str, object]:
        return {
            "mode": self.mode,
            "peers": len(self.terms.peers),
            "features": len(self.features_),
            "kept": len(self.kept_features_),
            "rounds": self.rounds,
            "bytes": self.bytes,
        }

    @property
    def _of_rows(self) -> bool:
        return isinstance(self._holders, RowHolders)

    def _find_result(self, name: str) -> Mapping[str, Value]:
        """What a party keeps of the training."""
        return self._results[name]

    def _use(self, kind: RunKind, **changes: Any) -> RunTerms:  # noqa: ANN401 - fields of terms
        training = self.terms.session
        return replace(self.terms, session=new_session(), kind=kind, training=training, **changes)

    def _ask_others(
        self, asker: str, examples: Mapping[str, Examples], offset: Offset | None
    ) -> tuple[str, ...]:
        """Label names by a run in which others take part."""
        others = tuple(examples)
        if offset is not None:
            if len(examples) > 1:
                raise ParameterError(
                    "offset is for rows that the asking peer alone has a part of, got "
                    f"{len(examples)} peers' parts; leave it out."
                )
            others = read_trained(self._find_result(self._here)).peers
        terms = self._use(
            "classify",
            asker=asker,
            rows=len(examples[asker]),
            contributors=tuple(sorted(set(others) - {asker})),
            offset=offset,
        )
        result = self.connection.run(terms, examples)
        if isinstance(self.connection, InProcess):
            self.query_traffic = self.connection.traffic
        return codec.texts(result[asker], "labels")

    def _penalty(self) -> float:
        if self.mode != "open":
            return self.terms.recipe.penalty or 0.0
        (first, *_) = codec.parts(self._find_result(self._here), "classifiers")
        return float(codec.array(first, "numbers", "<f8")[1])

    def _models(self) -> list[LinearModel]:
        if self.mode == "hidden":
            raise LeakError("nobody has theta in the hidden mode; ask with predict.")
        kept = codec.parts(self._find_result(self._here), "classifiers")
        return [read_model(each, len(self.features_)) for each in kept]
