"""One call that trains across holders in this process, for notebooks, studies and benches.

It warns of features that are not used.
"""

import warnings
from collections.abc import Mapping, Sequence
from inspect import signature
from typing import Any, TypeAlias, overload

import numpy as np

from sottovoce.corpus.words.rules import TokenRules
from sottovoce.errors import DroppedFeaturesWarning, ParameterError
from sottovoce.learn._examples import label_names
from sottovoce.learn._holders import (
    RowHolders,
    RowsGiven,
    TextHolders,
    TextsGiven,
    holds_text,
    named_holders,
)
from sottovoce.learn._trained import TrainedClassifier
from sottovoce.learn.count.reading import CountedClassifier, counted_classifier
from sottovoce.learn.count_together import count_together
from sottovoce.learn.documents import HolderColumns
from sottovoce.learn.features import TextRecipe
from sottovoce.learn.run.party import Connection, InProcess
from sottovoce.learn.run.terms import MODES, RunTerms
from sottovoce.learn.training_terms import Mode, mode_recipe
from sottovoce.learn.wire.exchange import Faults
from sottovoce.learn.wire.message import new_session
from sottovoce.parsing import check_choice
from sottovoce.privacy.exact import Exact

Given: TypeAlias = "RowsGiven | TextsGiven"
Peers: TypeAlias = "Sequence[Given] | Mapping[str, Given] | Connection"
_TEXT_OPTIONS = frozenset(TextRecipe.__dataclass_fields__)
_MANY = ("words", "stop_words")
# What counting takes beside what training takes too.
_COUNT_OPTIONS = frozenset(signature(count_together).parameters) - {
    *("peers", "epsilon", "what", "text", "label", "labels", "faults")
}
DROPPED_WARNING = (
    "{} of {} features belong to one peer alone and were dropped, since their sums would be that "
    "peer's own: see kept_features_ for those that are left, or have peers agree on the features."
)


@overload
def train(
    peers: Peers,
    *,
    epsilon: None = None,
    **options: Any,  # noqa: ANN401 - as below
) -> TrainedClassifier: ...


@overload
def train(
    peers: Peers,
    *,
    epsilon: Exact,
    **options: Any,  # noqa: ANN401 - as below
) -> CountedClassifier: ...


def train(
    peers: Peers,
    *,
    epsilon: Exact | None = None,
    mode: Mode = "open",
    text: str | None = None,
    label: str | None = None,
    labels: Sequence[Any] | None = None,
    held_out: float = 0.0,
    features: Sequence[str] | Sequence[Sequence[str]] | None = None,
    keys: tuple[Any, Any] | None = None,
    faults: Faults | None = None,
    **options: Any,
) -> TrainedClassifier | CountedClassifier:
    """Train one classifier across holders who keep their texts or rows.

    Private Text Classification, Protocol 2.

    Args:
        peers: three or more holders, by name or in a list, or a running federation. A holder of
            texts is a file's path, a pandas, polars or Arrow frame, rows that are dictionaries, or
            ``(texts, labels)``; one of numbers is ``(rows, labels)``, with two labels in all.
        epsilon: of a whole document: a `CountedClassifier` is read from words counted together
            under noise (`count_together`, whose options are taken); None: no noise is added.
        mode: ``open`` (sums over all peers are opened, from which our own attacks read no long
            document, which is no proof; everybody gets theta) or ``hidden`` (nobody sees either).
        text: the column of texts in files, frames and dictionaries; None: ``text``.
        label: the column of labels; None: ``label``.
        labels: all labels of texts; None: the holders tell each other theirs.
        held_out: what fraction, about, each keeps to `evaluate`: whole blocks of five documents.
        features: the names of the columns of rows, for all peers or for each; one that a peer lacks
            is zero in its rows. None if all have the same columns.
        keys: the coordinator's and the key holder's Paillier keys; None makes fresh ones.
        faults: what goes wrong between the parties, for tests.
        options: fields of `Recipe` (``penalty`` None chooses the likeliest lambda in the open mode
            with exact statistics, and is 0.1 elsewhere), and of `TextRecipe` for texts.

    Example:
        >>> from sottovoce.learn import train
        >>> post = [{"body": "cheap pills now", "kind": "spam"}] * 12
        >>> post += [{"body": "lunch at noon", "kind": "ham"}] * 12
        >>> trained = train([post] * 3, text="body", label="kind", penalty=0.1)
        >>> trained.predict(["pills, cheap!"]).tolist()
        ['spam']
    """
    if epsilon is not None:
        given = {"features": features is not None, "keys": keys is not None}
        given |= {"mode": mode != "open", "held_out": held_out != 0}
        refused = [name for name, there in given.items() if there]
        columns = {"text": text or "text", "label": label, "labels": labels, "faults": faults}
        return _train_by_count(peers, epsilon, refused, columns, options)
    check_choice("mode", mode, MODES)
    named = HolderColumns(text, label)
    holders, connection = _reach_holders(peers, named, features, labels, keys)
    terms = _terms(mode, holders, connection, labels, held_out, options)
    return _train_holders(holders, connection, terms, faults)


def _reach_holders(
    peers: Peers,
    columns: HolderColumns,
    features: Sequence[str] | Sequence[Sequence[str]] | None,
    labels: Sequence[Any] | None,
    keys: tuple[Any, Any] | None,
) -> tuple[RowHolders | TextHolders, Connection]:
    if isinstance(peers, Connection):
        return TextHolders.from_peers({}, columns, labels or ()), peers
    given: dict[str, Any] = named_holders(peers)
    holders: RowHolders | TextHolders
    if columns == HolderColumns() and not any(map(holds_text, given.values())):
        holders = RowHolders.from_peers(given, features)
    elif features is not None:
        raise ParameterError("features are for rows of numbers; for texts give words=[...].")
    else:
        holders = TextHolders.from_peers(given, columns, labels or ())
    return holders, InProcess(holders.examples, keys)


def _terms(
    mode: Mode,
    holders: RowHolders | TextHolders,
    connection: Connection,
    labels: Sequence[Any] | None,
    held_out: float,
    options: dict[str, Any],
) -> RunTerms:
    recipe = _text_recipe(options) if isinstance(holders, TextHolders) else None
    return RunTerms(
        new_session(),
        "train",
        mode,
        connection.identities,
        mode_recipe(mode, options),
        recipe,
        features=holders.features,
        labels=_label_names(holders, labels),
        held_out=held_out,
    )


def _train_holders(
    holders: RowHolders | TextHolders,
    connection: Connection,
    terms: RunTerms,
    faults: Faults | None,
) -> TrainedClassifier:
    if isinstance(connection, InProcess):
        results = connection.run(terms, {}, faults=faults)
    else:
        results = connection.run(terms, {})
    trained = TrainedClassifier(holders, terms, connection, results)
    if isinstance(holders, RowHolders):
        _warn_of_dropped(holders, trained)
    return trained


def _train_by_count(
    peers: Peers,
    epsilon: Exact,
    refused: Sequence[str],
    columns: dict[str, Any],
    options: dict[str, Any],
) -> CountedClassifier:
    if refused := [*refused, *sorted(set(options) - _COUNT_OPTIONS)]:
        raise ParameterError(
            f"with epsilon a classifier is read from counted words: leave out {', '.join(refused)}."
            f" What counting takes: {', '.join(sorted(_COUNT_OPTIONS))}."
        )
    if columns["labels"] is None:
        raise ParameterError(
            "with epsilon all labels must be named, labels=[...]: those that documents happen to "
            "have would tell something about them."
        )
    counted = count_together(peers, epsilon=epsilon, **columns, **options)
    return counted_classifier(counted, rules=TokenRules(options.get("shortest", 2)))


def _text_recipe(options: dict[str, Any]) -> TextRecipe:
    """How texts become rows; takes its part out of the options."""
    chosen = {name: options.pop(name) for name in _TEXT_OPTIONS & set(options)}
    chosen |= {name: tuple(chosen[name]) for name in _MANY if name in chosen}
    if "words" in chosen:
        chosen.setdefault("dictionary", "given")
    return TextRecipe(**chosen)


def _label_names(
    holders: RowHolders | TextHolders, labels: Sequence[Any] | None
) -> tuple[str, ...]:
    if isinstance(holders, RowHolders):
        if labels is not None:
            raise ParameterError("labels are for holders of texts; rows have two labels in all.")
        return holders.label_names
    return () if labels is None else tuple(sorted(label_names(labels, len(labels)) or ()))


def _warn_of_dropped(holders: RowHolders, trained: TrainedClassifier) -> None:
    features = np.array(holders.features, object)
    owners = np.sum([np.isin(features, each.columns) for each in holders.examples.values()], axis=0)
    lost = int(np.sum((owners == 1) & ~np.isin(features, trained.kept_features_)))
    if lost:
        text = DROPPED_WARNING.format(lost, len(features))
        warnings.warn(text, DroppedFeaturesWarning, stacklevel=4)
