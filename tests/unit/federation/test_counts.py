"""What a coordinator proposes to count, and what a peer makes of it, by their configurations."""

from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace

import msgspec
import numpy as np
import pytest

from sottovoce.errors import ConfigError, InputError, ParameterError
from sottovoce.federation.config import (
    NEW_BUDGET,
    Accepts,
    CountSettings,
    CountWith,
    FeatureSettings,
    PartyConfig,
    PartyFile,
    TextsFile,
    TrainingSettings,
    load_config,
)
from sottovoce.federation.party._policy import RULES
from sottovoce.federation.party.history import RunHistory, count_by_label
from sottovoce.federation.party.service import Service
from sottovoce.federation.party.terms import (
    check_accepted,
    count_terms,
    counted_examples,
    promised_by,
    spending,
    wanted_trust,
)
from sottovoce.federation.roster import Member, Roster
from sottovoce.federation.setup import WrittenParty
from sottovoce.learn.count.recipe import CountRecipe
from sottovoce.learn.count.spend import CountSpend, spend_name
from sottovoce.learn.documents import Documents
from sottovoce.learn.features import TextRecipe
from sottovoce.learn.run.terms import RunTerms
from sottovoce.learn.training_terms import Recipe
from sottovoce.learn.wire.message import new_session
from sottovoce.privacy.ledger.elsewhere import user_ledger

NAMES = ("ada", "ben", "cy", "dee")


@pytest.fixture
def roster() -> Roster:
    members = [
        Member(name, "peer", f"127.0.0.1:{9000 + at}", f"{at:064x}", f"{at:064x}")
        for at, name in enumerate(NAMES)
    ]
    return Roster((Member("coordinator", "coordinator", "127.0.0.1:8999", "f" * 64), *members))


def configured(folder: Path, **tables: object) -> PartyConfig:
    party = PartyFile(name="ada", role="peer", listen="127.0.0.1:0")
    return PartyConfig(msgspec.structs.replace(party, **tables), folder)


def proposed(folder: Path, roster: Roster, **request: object) -> RunTerms:
    (folder / "words.txt").write_text("debt\nLoan\nnot a word!\n", encoding="utf-8")
    settings = CountSettings(words_file="words.txt", votes=4, drop=1)
    return count_terms(configured(folder, count=settings), roster, {"do": "count", **request})


def test_a_request_says_otherwise_than_the_configuration(tmp_path: Path, roster: Roster) -> None:
    terms = proposed(tmp_path, roster)
    assert terms.count == CountRecipe("words", 4, Fraction(1), drop=1)
    assert terms.text is not None
    assert terms.text.words == ("debt", "loan")
    other = proposed(tmp_path, roster, epsilon="1/2", what="pairs", votes=9, labels=None)
    assert other.count == CountRecipe("pairs", 9, Fraction(1, 2), drop=1)
    assert proposed(tmp_path, roster, labels=["spam", "ham"]).labels == ("ham", "spam")
    assert RunTerms.from_bytes(other.to_bytes()) == other


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        ({"epsilon": "much"}, "epsilon must be"),
        ({"votes": "many"}, "votes is wrong"),
        ({"what": "letters"}, "what must be one of words, pairs"),
        ({"vots": 3}, "the key 'vots' is unknown"),
        ({"what": "pairs", "labels": ["a", "b"]}, "pairs are counted without labels"),
        ({"labels": ["a"]}, "labels must be at least two"),
        ({"drop": 2}, "drop must leave at least 3 of 4"),
        ({"classifier": True}, "at least 2 labels"),
    ],
)
def test_what_cannot_be_counted_is_refused(
    tmp_path: Path, roster: Roster, request_: dict[str, object], words: str
) -> None:
    with pytest.raises(InputError, match=words):
        proposed(tmp_path, roster, **request_)


def test_a_count_without_words_is_refused(tmp_path: Path, roster: Roster) -> None:
    with pytest.raises(InputError, match="a count needs a public list of words"):
        count_terms(configured(tmp_path), roster, {"do": "count"})


def test_pairs_leave_the_configured_labels_to_words(tmp_path: Path, roster: Roster) -> None:
    (tmp_path / "words.txt").write_text("debt\nloan\n", encoding="utf-8")
    settings = CountSettings(words_file="words.txt", labels=["a", "b"])
    config = configured(tmp_path, count=settings)
    assert count_terms(config, roster, {"do": "count"}).labels == ("a", "b")
    assert count_terms(config, roster, {"do": "count", "what": "pairs"}).labels == ()


def test_the_latest_classifier_is_a_count_until_there_is_a_later_training(
    tmp_path: Path, roster: Roster
) -> None:
    by_label = run_of(proposed(tmp_path, roster, labels=["a", "b"]))
    plain, unfinished = run_of(proposed(tmp_path, roster)), by_label._replace(status="running")
    text = TextRecipe("given", ("debt", "loan"))
    training = run_of(RunTerms(new_session(), "train", "open", roster.identities, Recipe(), text))
    assert count_by_label([training, by_label, plain]) is by_label
    assert count_by_label([by_label, training]) is None
    assert count_by_label([plain, unfinished]) is None


def run_of(terms: RunTerms) -> RunHistory:
    return RunHistory(terms.session, terms, "finished", {}, 0.0)


# What a peer says, what is beyond it, the words of the refusal, and the field that it limits.
TWICE = "for a whole document"
BEYOND: list[tuple[dict[str, object], dict[str, object], str, str]] = [
    ({"what": ["pairs"]}, {"what": "words"}, "pairs, got words", "what"),
    ({"most_votes": 9}, {"votes": 10}, "up to 9 votes of a document, got 10", "votes"),
    ({}, {"epsilon": "100"}, f"at epsilon up to 1, got 100 {TWICE}", "epsilon"),
    ({"most_epsilon": "0.5"}, {}, r"up to 0\.5, got 1 .*\[count_with\] in its party", "epsilon"),
    # Another document of the user's may take a removed one's place: 2 epsilon for a single one.
    ({"most_epsilon": 1}, {"documents_per_user": 3}, f"up to 1, got 2 {TWICE}", "epsilon"),
    ({"drop": 0}, {"drop": 1}, "drop 0, collude 1.* got .*drop 1, collude 1", "drop"),
    ({}, {"collude": 0}, "drop 1, collude 1.* got .*drop 1, collude 0", "collude"),
    ({"most_of_a_user": 3, "most_epsilon": 2}, {"documents_per_user": 4},
     "up to 3 documents of a user, got 4", "documents_per_user"),
    ({"most_of_a_user": 3, "most_epsilon": 2}, {},
     "up to 3 documents of a user, got all of them", "documents_per_user"),
    ({}, {"declare_data_dependent": True}, "words that documents chose", "declared"),
    ({"peers": ["ada", "ben", "cy"]}, {}, "on peers .* has not named dee", "drop"),
    ({"peers": None}, {}, r"has named no peers to count with; set \[count_with\]", "drop"),
]  # fmt: skip


def test_every_field_of_a_count_has_a_limit_at_the_peer() -> None:
    fields = {f"count.{field}" for *_, field in BEYOND}
    assert fields == {field for field in RULES if field.startswith("count.")}


@pytest.mark.parametrize(("said", "asked", "words", "_field"), BEYOND)
def test_a_count_beyond_a_peers_limit_is_refused_by_that_peer(
    tmp_path: Path,
    roster: Roster,
    said: dict[str, object],
    asked: dict[str, object],
    words: str,
    _field: str,
) -> None:
    with pytest.raises(ParameterError, match=words):
        check_accepted(proposed(tmp_path, roster, **asked), counting(tmp_path, **said), roster)


@pytest.mark.parametrize(
    ("said", "asked"),
    [
        ({}, {}),
        ({"most_epsilon": 1}, {"epsilon": "0.5", "documents_per_user": 3}),
        ({"most_of_a_user": 3, "most_epsilon": 2}, {"documents_per_user": 3}),
        ({"labels": ["spam", "ham"]}, {}),
        ({"labels": ["spam", "ham"]}, {"labels": ["ham", "spam"]}),
    ],
)
def test_a_peer_takes_part_within_its_limits(
    tmp_path: Path, roster: Roster, said: dict[str, object], asked: dict[str, object]
) -> None:
    check_accepted(proposed(tmp_path, roster, **asked), counting(tmp_path, **said), roster)


@pytest.mark.parametrize(
    ("said", "asked", "number"),
    [
        (["spam", "ham"], ["ham", "other"], 2),
        (["spam", "ham"], ["ham", "other", "spam"], 2),
        ([], ["ham", "spam"], 0),
    ],
)
def test_a_peer_is_counted_by_its_own_labels_before_its_documents_are_read(
    tmp_path: Path, roster: Roster, said: list[str], asked: list[str], number: int
) -> None:
    # Else one list after another would tell by refusals, at no cost, which labels a peer has.
    own, terms = counting(tmp_path, labels=said), proposed(tmp_path, roster, labels=asked)
    words = rf"has named itself \({number} of them"
    with pytest.raises(ParameterError, match=words):
        check_accepted(terms, own, roster)
    with pytest.raises(ParameterError, match=words):
        wanted_trust(own).check_labels("ada", terms.labels)


def counting(folder: Path, **said: object) -> PartyConfig:
    """With what `learn init` lets a peer accept, in the hidden mode only: a count is not of it."""
    given = {"peers": list(NAMES), "drop": 1, **said}
    named = msgspec.convert(given, CountWith) if given["peers"] else None
    return configured(folder, count_with=named, accepts=Accepts(["hidden"]))


def test_init_writes_whom_a_peer_may_count_with(tmp_path: Path) -> None:
    path = tmp_path / "party.toml"

    def written(**count_with: object) -> str:
        settings = (TrainingSettings(), FeatureSettings())
        return WrittenParty("ada", "peer", "127.0.0.1:1", *settings, count_with=count_with).toml

    path.write_text(written(peers=["ada", "ben", "cy"]), encoding="utf-8")
    assert wanted_trust(load_config(path)).peers == ("ada", "ben", "cy")
    # Who joins, where peers are not known yet, names them later; the limits are there.
    path.write_text(written(), encoding="utf-8")
    named = load_config(path).party.count_with
    assert named == CountWith([], budget=NEW_BUDGET)
    for line in ("most_epsilon = 1", "budget = 2", "most_votes = 1000", "declared = false"):
        assert f"\n{line}\n" in path.read_text(encoding="utf-8")


def test_a_peer_reads_the_columns_that_a_count_needs(tmp_path: Path, roster: Roster) -> None:
    (tmp_path / "notes.csv").write_text(
        "no,who,kind,note\n1,mia,ham,a debt\n2,mia,,a loan\n", encoding="utf-8"
    )
    texts = TextsFile("notes.csv", text="note", label="kind", user="who", id="no")
    config = configured(tmp_path, texts=texts)
    plain = counted_examples(config, proposed(tmp_path, roster))
    assert (plain.texts, plain.labels, plain.groups) == (("a debt", "a loan"), None, None)
    assert plain.ids == ("1", "2")
    by_label = counted_examples(config, proposed(tmp_path, roster, labels=["ham", "spam"]))
    assert (by_label.texts, by_label.labels) == (("a debt",), ("ham",))
    (tmp_path / "none.csv").write_text("no,who,kind,note\n", encoding="utf-8")
    empty = configured(tmp_path, texts=msgspec.structs.replace(texts, file="none.csv"))
    assert len(counted_examples(empty, proposed(tmp_path, roster, labels=["ham", "spam"]))) == 0
    bounded = proposed(tmp_path, roster, documents_per_user=1)
    found = counted_examples(config, bounded)
    assert found.groups is not None
    assert found.groups.tolist() == [0, 0]
    unnamed = configured(tmp_path, texts=msgspec.structs.replace(texts, user=None))
    with pytest.raises(ConfigError, match="must name the column of users"):
        counted_examples(unnamed, bounded)
    with pytest.raises(ConfigError, match="has no documents to count"):
        counted_examples(configured(tmp_path), bounded)


def test_a_peer_pays_from_its_owner_s_ledger_or_one_that_it_names(
    tmp_path: Path, roster: Roster
) -> None:
    terms, texts = proposed(tmp_path, roster), TextsFile("notes.csv")
    owner = spending(configured(tmp_path, texts=texts), terms)
    assert (owner.place.path, owner.place.shared, owner.budget) == (user_ledger(), True, None)
    named = CountWith(list(NAMES), ledger="own.ledger", budget="1.5")
    own = spending(configured(tmp_path, texts=texts, count_with=named), terms)
    assert (own.place.path, own.place.named) == (tmp_path / "own.ledger", True)
    assert own.budget is not None
    assert own.budget.epsilon == 3


def test_a_session_that_was_paid_for_is_refused_though_the_journal_has_forgotten_it(
    tmp_path: Path, roster: Roster
) -> None:
    # The same noise again, among others who are left, would open a second sum.
    terms, other = proposed(tmp_path, roster), proposed(tmp_path, roster)
    named = CountWith(list(NAMES), drop=1, ledger="own.ledger", budget=9)
    config = configured(tmp_path, texts=TextsFile("notes.csv"), count_with=named)
    party = SimpleNamespace(config=config, find_refusal=lambda *_: None)
    forgetful = SimpleNamespace(
        party=party,
        node=SimpleNamespace(history=list),
        _unready=lambda *_: None,
        _too_close=lambda *_: None,
    )

    def refused(run: RunTerms) -> str | None:
        return Service._find_refusal(forgetful, run.to_bytes(), "coordinator")  # type: ignore[arg-type] # what a proposal meets

    assert refused(terms) is None
    spend = CountSpend.for_documents(
        spend_name(terms.session, "ada"), Documents(("a debt",)), promised_by(terms)
    )
    spending(config, terms).draw_once(spend, lambda: np.zeros(1, np.int64))
    assert "a session of its own" in str(refused(terms))
    assert refused(other) is None
