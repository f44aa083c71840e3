"""Counting together between machines: what a coordinator proposes, and what a peer brings."""

from collections.abc import Mapping
from typing import Any

import msgspec

from sottovoce.corpus.read.tally import Format, ReadOptions
from sottovoce.errors import ConfigError, SottovoceError
from sottovoce.federation.config import CountSettings, PartyConfig, TextsFile, read_table
from sottovoce.federation.roster import Roster
from sottovoce.learn.count.documents import CountedColumns, read_counted
from sottovoce.learn.count.reading import FEWEST_LABELS
from sottovoce.learn.count.recipe import CountRecipe, budget_in_ledger, promised
from sottovoce.learn.count.spend import LedgerSpending, spend_name
from sottovoce.learn.count_together import public_labels, public_words
from sottovoce.learn.documents import Documents, Skipped
from sottovoce.learn.features import TextRecipe
from sottovoce.learn.run.terms import RunTerms
from sottovoce.learn.wire.message import new_session
from sottovoce.privacy.exact import positive
from sottovoce.privacy.ledger.chosen_ledger import own_ledger_place
from sottovoce.privacy.whole_document import WholeDocument


def count_terms(config: PartyConfig, roster: Roster, request: Mapping[str, Any]) -> RunTerms:
    """The count that the coordinator's configuration describes, but for what a request says."""
    said = {
        name: value
        for name, value in request.items()
        if name not in ("do", "classifier") and value is not None
    }
    known = msgspec.structs.asdict(config.party.count or CountSettings())
    if said.get("what") == "pairs":
        known["labels"] = []  # those of words by label, which is what stands there
    settings = read_table({**_present(known), **said}, CountSettings, "the count")
    if settings.words_file is None:
        raise ConfigError(
            "a count needs a public list of words: sottovoce learn count --words FILE, or "
            "words_file in [count] of the coordinator's party.toml."
        )
    if request.get("classifier") and len(set(settings.labels)) < FEWEST_LABELS:
        raise ConfigError(
            f"a classifier needs words counted by at least {FEWEST_LABELS} labels: name all labels "
            "in [count] of the coordinator's party.toml; nothing was spent."
        )
    declared = settings.declare_data_dependent
    words = public_words(config.folder / settings.words_file, settings.shortest, declared=declared)
    recipe = CountRecipe(
        settings.what,
        settings.votes,
        positive(settings.epsilon, "epsilon"),
        settings.drop,
        settings.collude,
        settings.documents_per_user,
        declared=declared,
    )
    return RunTerms(
        new_session(),
        "count",
        "open",
        roster.identities,
        text=TextRecipe("given", words, shortest=settings.shortest),
        labels=public_labels(settings.labels) if settings.labels else (),
        count=recipe,
    )


def _present(known: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in known.items() if value is not None}


def counted_examples(config: PartyConfig, terms: RunTerms) -> Documents:
    """A peer's documents, with the columns that a count needs."""
    texts = wanted_texts(config)
    recipe = terms.count or CountRecipe()
    if recipe.documents_per_user is not None and texts.user is None:
        raise ConfigError(
            f"{config.party.name} must name the column of users, user in [texts] of its "
            "party.toml: each user's documents are bounded in this count."
        )
    columns = CountedColumns(
        texts.text,
        texts.label if terms.labels else None,
        texts.user if recipe.documents_per_user is not None else None,
        texts.id,
    )
    options = ReadOptions(
        format=None if texts.format is None else Format(texts.format),
        header=True if texts.header is None else tuple(texts.header),
    )
    return read_counted(config.path(texts.file), columns, Skipped(), options)


def wanted_texts(config: PartyConfig) -> TextsFile:
    """Where a peer's documents are."""
    if config.party.texts is None:
        raise ConfigError(
            f"{config.party.name} has no documents to count; set [texts] in its party.toml."
        )
    return config.party.texts


def paid_before(config: PartyConfig, terms: RunTerms) -> bool:
    """Whether this peer has paid for a count of that session already.

    What it drew would be said again. Were its journal lost meanwhile, the same numbers among others
    who are left would open a second sum, and the difference of the two is a single peer's own.
    """
    if terms.count is None or config.party.role != "peer":
        return False
    name, promise = spend_name(terms.session, config.party.name), promised_by(terms)
    try:
        return spending(config, terms).knows(name, promise)
    except SottovoceError:
        return False  # a ledger that cannot be read, or no documents: refused when the run begins


def spending(config: PartyConfig, terms: RunTerms) -> LedgerSpending:
    """Where a peer's documents pay."""
    with_whom = config.party.count_with
    given = None if with_whom is None else with_whom.ledger
    budget = None if with_whom is None else with_whom.budget
    corpus = config.path(wanted_texts(config).file)
    place = own_ledger_place(None if given is None else config.path(given), corpus)
    return LedgerSpending(place, budget_in_ledger(promised_by(terms), budget))


def promised_by(terms: RunTerms) -> WholeDocument:
    """What a run of these terms promises."""
    return promised(terms.count or CountRecipe(), len(terms.identities))
