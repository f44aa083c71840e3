"""From a configuration to the terms of a run, and whether a peer agrees to them.

With ``dictionary = "mapped"`` the columns of the classifier are the words and the compression map
of a published release, which is read here too.
"""

from collections.abc import Collection, Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, Literal

import msgspec
import numpy as np

from sottovoce.corpus.read.tally import Format, ReadOptions
from sottovoce.corpus.vocabulary import Vocabulary
from sottovoce.corpus.words.rules import TokenRules
from sottovoce.errors import ConfigError, ParameterError, SottovoceError, TooFewPartiesError
from sottovoce.federation.config import (
    HELPER_ACCEPTS,
    Accepts,
    CountSettings,
    FeatureSettings,
    PartyConfig,
    TextsFile,
    TrainingSettings,
    read_table,
)
from sottovoce.federation.party._policy import check_policy
from sottovoce.federation.party.history import TRAININGS
from sottovoce.federation.roster import Roster
from sottovoce.files import small_text
from sottovoce.learn.count.reading import FEWEST_LABELS
from sottovoce.learn.count.recipe import (
    CountRecipe,
    CountTrust,
    budget_in_ledger,
    public_labels,
    public_words,
    state_promise,
)
from sottovoce.learn.count.spend import LedgerSpending, spend_name
from sottovoce.learn.documents import Documents, HolderColumns, Skipped, read_counted
from sottovoce.learn.features import FeatureMap, TextRecipe
from sottovoce.learn.run.terms import RunTerms
from sottovoce.learn.support import OpenedLimit
from sottovoce.learn.training_terms import Recipe, mode_recipe
from sottovoce.learn.wire.message import new_session
from sottovoce.privacy.exact import positive
from sottovoce.privacy.ledger.chosen_ledger import own_ledger_place
from sottovoce.privacy.whole_document import WholeDocument

NOT_YET = "has not finished that training yet"
_LARGEST_LIST = 1 << 26


def training_terms(config: PartyConfig, roster: Roster) -> RunTerms:
    """The training that the coordinator's configuration describes."""
    training = config.party.training or TrainingSettings()
    features = config.party.features or FeatureSettings()
    return RunTerms(
        new_session(),
        "rados" if training.intermediary else "train",
        training.mode,
        roster.identities,
        # Rados under encryption need a penalty, as sums that nobody sees do.
        mode_recipe(
            "hidden" if training.intermediary else training.mode, _recipe_fields(training, Recipe)
        ),
        text=None if features.columns else _text_recipe(features, config.folder),
        features=tuple(features.columns),
        labels=tuple(sorted(training.labels)),
        held_out=training.held_out,
    )


def check_accepted(terms: RunTerms, config: PartyConfig, roster: Roster) -> None:
    """Refuse a run that this party has not agreed to, or among other peers than it knows."""
    known = roster.identities
    strangers = [name for name, public in terms.identities.items() if known.get(name) != public]
    if strangers:
        raise ParameterError(
            f"{config.party.name} knows {', '.join(sorted(strangers))} by another identity, or "
            "not at all; compare the rosters."
        )
    if config.party.role != "coordinator":
        check_policy(terms, accepted_by(config), config.party.name)
    if config.party.role == "peer" and terms.count is not None:
        trust = wanted_trust(config)
        trust.check(config.party.name, terms.identities, terms.count)
        trust.check_labels(config.party.name, terms.labels)


def wanted_trust(config: PartyConfig) -> CountTrust:
    """Whom a peer counts on; one that names nobody takes part in no count."""
    named = config.party.count_with
    if named is None:
        raise ParameterError(
            f"{config.party.name} has named no peers to count with; set [count_with] in its "
            "party.toml: peers, drop and collude."
        )
    return CountTrust(
        tuple(named.peers),
        named.drop,
        named.collude,
        positive(named.most_epsilon, "most_epsilon"),
        tuple(named.labels),
        named.most_votes,
        named.most_of_a_user,
        tuple(named.what),
        declared=named.declared,
    )


def opened_limit(config: PartyConfig) -> OpenedLimit:
    """How much of documents opened sums may hold; of peers that a peer has named itself only."""
    share, named = accepted_by(config).most_opened_share, config.party.count_with
    if config.party.role != "peer":
        return OpenedLimit(share)
    if named is None:
        return OpenedLimit(share, named=())
    return OpenedLimit(share, max(named.collude, 1), tuple(named.peers))


def accepted_by(config: PartyConfig) -> Accepts:
    """What a party's configuration accepts; a peer that says nothing takes part in no run."""
    nothing = Accepts([]) if config.party.role == "peer" else HELPER_ACCEPTS
    return config.party.accepts or nothing


def _recipe_fields(configured: msgspec.Struct, recipe: type[Recipe | TextRecipe]) -> dict[str, Any]:
    """What a table of a configuration says of the recipe's fields."""
    named = {each.name for each in fields(recipe)}
    return {k: v for k, v in msgspec.structs.asdict(configured).items() if k in named}


def _text_recipe(features: FeatureSettings, folder: Path) -> TextRecipe:
    options = _recipe_fields(features, TextRecipe)
    options["stop_words"] = _read_words(features.stop_words_file, folder)
    if (features.dictionary == "mapped") != (features.release is not None):
        raise ConfigError(
            'in [features], dictionary = "mapped" and release = "FOLDER of a release" belong '
            "together: one is there without the other."
        )
    if features.release is not None:
        words, mapping = released_map(folder / features.release)
        return TextRecipe(**options, words=words, mapping=mapping)
    words = _read_words(features.words_file, folder)
    if words:
        rules = TokenRules(
            features.shortest, frozenset(options["stop_words"]), features.stem, features.bigrams
        )
        words = Vocabulary.public(words).apply_rules(rules).terms
    return TextRecipe(**options, words=words)


def _read_words(name: str | None, folder: Path) -> tuple[str, ...]:
    if name is None:
        return ()
    path = folder / name
    try:
        lines = small_text(path, _LARGEST_LIST, "a list of words", ConfigError).splitlines()
    except UnicodeDecodeError:
        raise ConfigError(f"{path} must be a list of words in UTF-8.") from None
    return tuple(dict.fromkeys(line.strip() for line in lines if line.strip()))


def released_map(folder: Path) -> tuple[tuple[str, ...], FeatureMap]:
    """The words of the release in ``folder``, and from each of them to its one column.

    Every file of the release is held against its card first.
    """
    # Scikit-learn comes with these, and would double the time in which any party starts.
    from sottovoce.release.compression.word_map import load_maps  # noqa: PLC0415 - slow
    from sottovoce.release.folder import MAP_STEM, VOCABULARY_FILE, verified_card  # noqa: PLC0415 - slow

    try:
        verified_card(folder)
        words = Vocabulary.load(folder / VOCABULARY_FILE).terms
        maps, _ = load_maps(folder / MAP_STEM)
    except SottovoceError as error:
        raise ConfigError(f"the release {folder} cannot be used: {error}") from None
    if len(maps) != 1:
        raise ConfigError(
            f"the release {folder} must have one map for all documents, got {len(maps)}: a column "
            "must mean the same everywhere."
        )
    column = maps[0].column.astype(np.int64)
    entries = np.column_stack([np.arange(len(column)), column])
    return words, FeatureMap(entries, np.ones(len(column)), maps[0].columns)


def terms_without(terms: RunTerms, lost: frozenset[str]) -> RunTerms | None:
    """The same training without peers that were lost; None if it cannot be had without them."""
    if terms.kind not in TRAININGS or not lost <= set(terms.identities):
        return None
    left = {name: public for name, public in terms.identities.items() if name not in lost}
    try:
        return replace(terms, session=new_session(), identities=left)
    except (ParameterError, TooFewPartiesError):
        return None


def use_terms(
    kind: Literal["classify", "evaluate"],
    training: RunTerms,
    *,
    session: bytes | None = None,
    asker: str = "",
    rows: int = 0,
    peers: Collection[str] | None = None,
) -> RunTerms:
    """A run that uses the classifier of a training, by ``peers`` who have it: all, if None."""
    identities = {
        name: public
        for name, public in training.identities.items()
        if peers is None or name in peers
    }
    return replace(
        training,
        identities=identities,
        session=new_session() if session is None else session,
        kind=kind,
        training=training.session,
        asker=asker,
        rows=rows,
    )


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
    columns = HolderColumns(
        texts.text,
        texts.label if terms.labels else None,
        texts.user if recipe.documents_per_user is not None else None,
        texts.id,
    )
    return read_counted(config.path(texts.file), columns, Skipped(), read_options(texts, {}))


def read_options(texts: TextsFile, columns: Mapping[str, str]) -> ReadOptions:
    """How a peer's file is written, and which of its columns are read as what."""
    return ReadOptions(
        format=None if texts.format is None else Format(texts.format),
        columns=columns,
        header=True if texts.header is None else tuple(texts.header),
    )


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
    return state_promise(terms.count or CountRecipe(), len(terms.identities))
