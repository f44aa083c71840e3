"""Privacy statements: every question is answered, from the card, with no figure of their own."""

import json
import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from sottovoce.advisor.rank.description import Buckets, Description, HttpTransport, RankedTopic
from sottovoce.cli._app import app
from sottovoce.corpus.vocabulary import Vocabulary
from sottovoce.errors import InputError
from sottovoce.learn.count.opened import TogetherCounts, counted_record
from sottovoce.learn.count.recipe import CountRecipe, promise_record
from sottovoce.privacy.guarantee import LimitedPrecision
from sottovoce.release.card import ReleaseCard, make_card
from sottovoce.release.plan import ReleasePlan, ReleaseSettings
from sottovoce.statement import (
    QUESTIONS,
    PrivacyStatement,
    count_statement,
    rank_statement,
    release_statement,
)

WORDS = ("bank", "debt", "loan")
EPSILONS = (Fraction(1, 3), Fraction(7, 2))


def a_card(epsilon: Fraction = EPSILONS[1], **said: object) -> ReleaseCard:
    vocabulary = Vocabulary.public(WORDS)
    settings = ReleaseSettings(LimitedPrecision(5, epsilon))
    card = make_card(
        ReleasePlan(settings, WORDS), vocabulary, documents=41, documents_per_user=6, spend=17
    )
    return replace(card, **said)  # type: ignore[arg-type] # fields of a card


def a_count(epsilon: Fraction = EPSILONS[1], bound: int | None = 6) -> TogetherCounts:
    recipe = CountRecipe("words", 9, epsilon, drop=0, collude=1, documents_per_user=bound)
    totals = np.arange(8_001, 8_001 + len(WORDS) + 1, dtype=np.int64)
    peers = ("ada", "ben", "cy", "dee")
    return TogetherCounts(WORDS, (), totals, recipe, peers, peers)


def rules(mode: str, epsilon: Fraction = EPSILONS[1]) -> Description:
    topics = (RankedTopic("debt", "bow-t", Buckets.even(0, 1)),)
    return Description(mode, epsilon, topics, period_s=86_399, minimum=123)  # type: ignore[arg-type] # either


def figures(text: str) -> set[str]:
    """All numbers in a text, but for the name of the guideline."""
    return set(re.findall(r"\d+(?:[./]\d+)*", text.replace("NIST SP 800-226", "")))


def card_of_count(counted: TogetherCounts) -> str:
    """What a file of counts says of itself beside the sums."""
    record = {**counted_record(counted), "totals": None, "session": None}
    sizes = [len(counted.words), len(counted.labels), counted.parties, len(counted.survivors)]
    return json.dumps([record, sizes, promise_record(counted.guarantee)])


def made(kind: str, epsilon: Fraction) -> tuple[PrivacyStatement, str]:
    """A statement and the card that it was made from, as text."""
    if kind == "release":
        card = a_card(epsilon)
        return release_statement(card), card.as_json()
    if kind == "count":
        counted = a_count(epsilon)
        return count_statement(counted), card_of_count(counted)
    described = rules(kind, epsilon)
    rounded = described.noise("debt").local_guarantee.in_words()
    return rank_statement(described), json.dumps(described.record()) + rounded


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("kind", ["release", "count", "noise", "shares"])
def test_a_statement_has_no_figure_that_its_card_does_not_hold(
    kind: str, epsilon: Fraction
) -> None:
    statement, card = made(kind, epsilon)
    assert figures(statement.markdown()) - figures(card) == set()


@pytest.mark.parametrize("kind", ["release", "count", "noise", "shares"])
def test_a_statement_answers_every_question_and_tells_epsilon(kind: str) -> None:
    statement, _ = made(kind, EPSILONS[1])
    page = statement.markdown()
    assert re.findall(r"^## (.+)$", page, re.MULTILINE) == list(QUESTIONS.values())
    assert all(len(answer.split()) > 5 for answer in statement.answers.values())
    told = "epsilon = 7" if kind == "count" else "epsilon = 3.5"
    assert told in statement.answers["epsilon"]
    assert "fill in" in statement.answers["collection"]


def test_a_release_tells_what_its_card_makes_different() -> None:
    told = release_statement(a_card()).answers
    assert "at most 6 documents" in told["unit"]
    assert "spend 17" in told["composition"]
    assert "41 documents" in told["not_protected"]
    alone = a_card(per_user=None, documents_per_user=None, ledger=None, threshold=8)
    other = release_statement(alone).answers
    assert "Nothing is promised about all that one person wrote" in other["unit"]
    assert "No ledger counted" in other["composition"]
    assert "below 8 were dropped" in other["accuracy"]


def test_a_curator_is_named_where_there_was_one() -> None:
    central = a_card(prior={"kind": "central", "rate": "1/20"})
    assert "trusted curator" in release_statement(central).answers["model"]
    assert "1/20" in release_statement(central).answers["model"]
    assert "The local model" in release_statement(a_card()).answers["model"]


def test_rows_of_several_documents_are_nobody_s_own() -> None:
    told = release_statement(a_card(groups={"by": "thread", "ids": False})).answers
    assert "words of one row (all documents of a group)" in told["unit"]
    assert "trusted curator: whoever put the documents of a row together" in told["model"]
    assert "41 rows" in told["not_protected"]
    assert "whose" not in told["not_protected"]
    assert "nobody has to be trusted" not in told["threats"]


def test_accounting_that_does_not_hold_is_said_to() -> None:
    weaker = a_card(stated=LimitedPrecision(5, 1), accounting="paper")
    assert "does not hold" in release_statement(weaker).answers["epsilon"]
    assert "does not hold" not in release_statement(a_card()).answers["epsilon"]


def test_what_documents_chose_and_public_labels_are_not_protected() -> None:
    chosen = {**a_card().vocabulary, "data_dependent": True, "declared": ["the words"]}
    told = release_statement(a_card(vocabulary=chosen, labels={"different": 2}))
    assert "and was declared: the words" in told.answers["not_protected"]
    assert "label of each document" in told.answers["not_protected"]
    counted = replace(a_count(bound=None), recipe=CountRecipe(declared=True))
    assert "documents chose them" in count_statement(counted).answers["not_protected"]
    assert "Nothing is" in count_statement(counted).answers["unit"]


def test_no_sum_and_no_name_of_a_peer_is_in_a_count_s_statement() -> None:
    page = count_statement(a_count()).markdown()
    assert not figures(page) & {"8001", "8002", "8003", "8004"}
    assert not re.search(r"\b(ada|ben|cy|dee|bank|loan)\b", page)


def test_only_two_servers_must_not_collude() -> None:
    assert "do not collude" in rank_statement(rules("shares")).answers["model"]
    assert "need not be trusted" in rank_statement(rules("noise")).answers["model"]


def test_the_command_reads_folders_counts_and_rules(tmp_path: Path) -> None:
    released, counts, described = (tmp_path / name for name in ("made", "a.counts", "rules.json"))
    released.mkdir()
    (released / "card.json").write_text(a_card().as_json())
    counts.write_bytes(a_count().to_bytes())
    described.write_text(json.dumps({**rules("noise").record(), "version": "x", "url": None}))
    wanted = (
        release_statement(a_card()),
        count_statement(a_count()),
        rank_statement(rules("noise")),
    )
    for source, statement in zip((released, counts, described), wanted, strict=True):
        shown = CliRunner().invoke(app, ["statement", str(source)])
        assert (shown.exit_code, shown.output) == (0, statement.markdown())
    out = tmp_path / "statement.md"
    shown = CliRunner().invoke(app, ["statement", str(counts), "--out", str(out), "--json"])
    assert json.loads(shown.output) == {**wanted[1].facts(), "file": str(out)}
    assert out.read_text() == wanted[1].markdown()


def test_the_command_asks_a_rank_server_for_its_rules_and_for_nothing_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = []

    def call(self: HttpTransport, *request: str) -> object:
        asked.append((self.address, *request))
        return rules("shares").record()

    monkeypatch.setattr(HttpTransport, "call", call)
    shown = CliRunner().invoke(app, ["statement", "https://ranks.example"])
    assert shown.output == rank_statement(rules("shares")).markdown()
    assert asked == [("https://ranks.example", "GET", "/description")]


def test_lines_are_short_enough_for_a_terminal() -> None:
    pages = [made(kind, EPSILONS[1])[0].markdown() for kind in ("release", "count", "shares")]
    assert max(len(line) for page in pages for line in page.splitlines()) <= 80


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[]", "not a released folder"),
        ("no json", "not a released folder"),
        ("\udcff", "not a released folder"),
        ('{"mode": "noise"}', "a description of the wrong form"),
    ],
)
def test_another_file_is_refused_in_a_sentence(tmp_path: Path, text: str, said: str) -> None:
    other = tmp_path / "other.json"
    other.write_text(text, errors="surrogateescape")
    shown = CliRunner().invoke(app, ["statement", str(other)])
    assert isinstance(shown.exception, InputError)
    assert said in str(shown.exception)
