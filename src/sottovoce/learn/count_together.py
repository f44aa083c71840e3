"""One call that counts across holders in this process, for notebooks, studies and tests."""

import warnings
from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from sottovoce.corpus.vocabulary import Vocabulary
from sottovoce.errors import InputError, ParameterError
from sottovoce.files import FilePath
from sottovoce.learn._examples import list_values
from sottovoce.learn._holders import named_holders
from sottovoce.learn.count.opened import TogetherCounts
from sottovoce.learn.count.recipe import (
    CountRecipe,
    CountTrust,
    What,
    budget_in_ledger,
    public_labels,
    public_words,
)
from sottovoce.learn.count.spend import CountSpend, LedgerSpending, PaidBefore, joint_spends
from sottovoce.learn.documents import Documents, HolderColumns, Skipped, read_counted
from sottovoce.learn.features import TextRecipe
from sottovoce.learn.run.count import NoisedSum
from sottovoce.learn.run.party import Connection, InProcess
from sottovoce.learn.run.terms import RunTerms
from sottovoce.learn.training_terms import COORDINATOR
from sottovoce.learn.wire.exchange import Faults
from sottovoce.learn.wire.message import new_session
from sottovoce.privacy.exact import Exact, positive, text_up
from sottovoce.privacy.ledger.chosen_ledger import ledger_place

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from sottovoce.corpus.read.corpus import Source

_PAIR_SIZE = 2


def count_together(
    peers: "Sequence[Any] | Mapping[str, Any] | Connection",
    *,
    words: FilePath | Vocabulary | Iterable[str] | None = None,
    epsilon: Exact,
    votes: int = 10,
    what: What = "words",
    labels: Sequence[Any] | None = None,
    drop: int = 0,
    collude: int = 1,
    text: str = "text",
    label: str | None = None,
    user: str | None = None,
    id: str | None = None,  # noqa: A002 - what the column is called everywhere
    documents_per_user: int | None = None,
    shortest: int = 2,
    declare_data_dependent: bool = False,
    ledger: FilePath | None = None,
    budget: Exact | None = None,
    faults: Faults | None = None,
) -> TogetherCounts:
    """Count words, or pairs of words, over all holders' documents: whole documents stay hidden.

    Each document casts at most ``votes`` votes. Each holder adds up its documents' votes and its
    share of the noise, and only the sum over all holders is opened: pure differential privacy for
    adding or removing a whole document, without anybody who sees the documents. What it costs is in
    the ledger before noise is drawn; a second call pays again.

    Example:
        >>> import tempfile, sottovoce as sv
        >>> clinics = {
        ...     name: [
        ...         {"body": f"cheap pills, writes {name}", "kind": "spam"},
        ...         {"body": f"lunch with {name} at noon", "kind": "ham"},
        ...     ] * 50
        ...     for name in ("ada", "ben", "cy")
        ... }
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     counted = sv.count_together(
        ...         clinics, words=["lunch", "noon", "pills"], epsilon=1, votes=4,
        ...         text="body", label="kind", labels=["ham", "spam"], ledger=f"{folder}/ledger",
        ...     )
        >>> counted.word_totals.shape, counted.document_totals.shape
        ((2, 3), (2,))
        >>> print(counted.guarantee)
        epsilon=1 per whole document, of 3 peers 1 may collude and 0 drop out

    Args:
        peers: the holders, by name or in a list, at least three: a file's path, a data frame,
            texts, (texts, labels), or rows that are dictionaries; or a running federation
            (`sottovoce.federation.Connected`), whose peers bring and pay as their party.toml says.
        words: the public words to count: a file's path, a `Vocabulary`, or words.
        epsilon: of a whole document; text such as "0.1" is taken exactly.
        votes: S, the most votes of a document: one for itself and S - 1 for words, or S for pairs.
        what: "words" (by label, where ``labels`` are given) or "pairs" of words in one document.
        labels: all labels, which are public; None: words are counted without labels.
        drop: how many holders may be lost on the way.
        collude: how many holders may work against the others; with 0 the promise does not hold
            against the holders themselves, each of whom knows its own noise.
        text: the column of texts in files, frames and dictionaries.
        label: the column of labels; None: "label", where ``labels`` are given.
        user: the column of users, with ``documents_per_user``.
        id: the column of documents' ids, where two of the same text are two.
        documents_per_user: how many documents of a user vote at each holder; None: all of them.
        shortest: the shortest word, in characters.
        declare_data_dependent: say that the documents chose the words.
        ledger: the privacy ledger's file; None: the one for all that you release.
        budget: the epsilon of whole documents that they may ever spend; None: this one.
        faults: what goes wrong between the parties, for tests.
    """
    recipe = CountRecipe(
        what,
        votes,
        positive(epsilon, "epsilon"),
        drop,
        collude,
        documents_per_user,
        declared=declare_data_dependent,
    )
    text_recipe = TextRecipe(
        "given", public_words(words, shortest, declared=declare_data_dependent), shortest=shortest
    )
    if isinstance(peers, Connection):
        _check_connected(text, label=label, user=user, id=id, ledger=ledger, budget=budget)
        terms = _terms(peers.identities, text_recipe, labels, recipe)
        return TogetherCounts.from_record(peers.run(terms, {})[peers.here])
    given = named_holders(peers)
    recipe.check_parties(len(given))
    columns = _columns(text, label, user, id, labels, documents_per_user)
    documents = _read(given, columns)
    connection = InProcess(documents)
    terms = _terms(connection.identities, text_recipe, labels, recipe)
    return _count_in_process(terms, connection, documents, ledger, budget, faults)


def _check_connected(text: str, **given: object) -> None:
    """Refuse what peers of a federation say themselves: nobody else's word for it would count."""
    named = ["text"] * (text != "text")
    named += [name for name, value in given.items() if value is not None]
    if named:
        raise ParameterError(
            f"peers that run say in their own party.toml what they read and pay ([texts] and "
            f"[count_with]): leave out {', '.join(named)}."
        )


def _terms(
    identities: Mapping[str, bytes],
    text: TextRecipe,
    labels: Sequence[Any] | None,
    recipe: CountRecipe,
) -> RunTerms:
    return RunTerms(
        new_session(),
        "count",
        "open",
        identities,
        text=text,
        labels=public_labels(labels),
        count=recipe,
    )


def _count_in_process(
    terms: RunTerms,
    connection: InProcess,
    documents: Mapping[str, Documents],
    ledger: FilePath | None,
    budget: Exact | None,
    faults: Faults | None,
) -> TogetherCounts:
    count = NoisedSum(terms)
    for each in documents.values():
        count.plan.check(each)
    recipe = count.recipe
    connection.trust = CountTrust(terms.peers, recipe.drop, recipe.collude, labels=terms.labels)
    place = ledger_place(ledger, None)
    paying = LedgerSpending(place, budget_in_ledger(count.guarantee, budget))
    texts = {name: each.texts for name, each in documents.items()}
    spends = joint_spends(f"count {terms.session.hex()}", texts, count.guarantee)
    paying.pay(spends)
    _warn_of_copies(spends)
    connection.spending = PaidBefore()
    results = connection.run(terms, {}, faults=faults)
    return TogetherCounts.from_record(results[COORDINATOR])


def _warn_of_copies(spends: Sequence[CountSpend]) -> None:
    """Of texts that several holders have: each is promised less than the others."""
    copied = [spend for spend in spends if spend.times > 1]
    if copied:
        number = sum(len(spend.documents.hashes) for spend in copied)
        most = max(copied, key=lambda spend: spend.times)
        promise = text_up(most.guarantee.at_peers(most.times).epsilon)
        warnings.warn(
            f"{number} texts are held by several holders, up to {most.times} of them; each counts "
            f"and pays at every one, and is promised up to epsilon {promise}.",
            stacklevel=4,
        )


def _columns(
    text: str,
    label: str | None,
    user: str | None,
    name: str | None,
    labels: Sequence[Any] | None,
    bound: int | None,
) -> HolderColumns:
    if (user is None) != (bound is None):
        raise ParameterError(
            "user and documents_per_user belong together: one is given without the other."
        )
    if label is not None and labels is None:
        raise ParameterError(
            "labels must be named, all of them, where words are counted by label: they are public, "
            "and must not be what the documents happen to have."
        )
    return HolderColumns(text, None if labels is None else label or "label", user, name)


def _read(given: Mapping[str, Any], columns: HolderColumns) -> dict[str, Documents]:
    skipped = Skipped()
    found = {name: counted_documents(each, columns, skipped) for name, each in given.items()}
    if skipped.reasons:
        warnings.warn(str(skipped), stacklevel=3)
    return found


def counted_documents(given: object, columns: HolderColumns, skipped: Skipped) -> Documents:
    """What one holder has to be counted, in any of the forms that a holder comes in."""
    if isinstance(given, Documents):
        return given
    if _is_pair(given):
        texts, labels = cast("tuple[Iterable[str], ArrayLike]", given)
        return _counted_texts(list_values(texts), labels, columns)
    if isinstance(given, str | PathLike) or hasattr(given, "__arrow_c_stream__"):
        return read_counted(cast("Source", given), columns, skipped)
    rows = list(given) if isinstance(given, Iterable) else [given]
    if all(isinstance(each, str) for each in rows):
        return _counted_texts(cast("list[str]", rows), None, columns)
    if not all(isinstance(row, Mapping) for row in rows):
        raise InputError(
            "a holder must be a file's path, a data frame, texts, (texts, labels) or rows that are "
            "dictionaries."
        )
    return read_counted(cast("Source", rows), columns, skipped)


def _is_pair(given: object) -> bool:
    if not isinstance(given, tuple | list) or len(given) != _PAIR_SIZE:
        return False
    return isinstance(given[0], Iterable) and not isinstance(given[0], str | Mapping)


def _counted_texts(
    texts: Sequence[str], labels: "ArrayLike | None", columns: HolderColumns
) -> Documents:
    if not texts:
        return Documents((), () if columns.label is not None else None, np.zeros(0, np.int64))
    found = Documents.from_texts(texts, labels if columns.label is not None else None)
    if broken := sum(not _is_unicode(each) for each in found.texts):
        raise InputError(
            f"texts must be Unicode, got {broken} of {len(found)} with half a character (a lone "
            "surrogate); leave these out."
        )
    lacking = [name for name in ("user", "id") if getattr(columns, name) is not None]
    if columns.label is not None and found.labels is None:
        lacking.insert(0, "label")
    if lacking:
        raise InputError(
            f"a holder's texts must come with a column for each of {', '.join(lacking)}: give a "
            "file, a frame or dictionaries."
        )
    return found


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
