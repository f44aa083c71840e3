"""The first-person space: near means near, evidence is shrunk log-odds, a post is its words."""

import json
import math
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from scipy import sparse

from sottovoce.assess import merge_all
from sottovoce.assess.measures.catalogue import plan_scoring
from sottovoce.assess.setting import Setting
from sottovoce.corpus.read.corpus import open_posts
from sottovoce.corpus.vocabulary import Vocabulary
from sottovoce.corpus.words.rules import TokenRules
from sottovoce.errors import CorpusError, ModelFileError, ParameterError
from sottovoce.topics import Catalogue, Topic, VoiceParameters, load_model, train_voice
from sottovoce.topics.training import WordChoice
from sottovoce.topics.voice.mentions import find_mentions, mark_near
from sottovoce.topics.voice.model import SpeakerVoice, VoiceModel, evidence_of_words

EVERY_WORD = WordChoice(TokenRules(shortest=1), None, 1, None)
DEBT = Catalogue((Topic("debt", ("loan",), "money", sensitive=True),))


def background() -> list[str]:
    """Forty people owe, and worry; as many banks lend, and advertise; others talk of tea."""
    own = ["i fear my loan and worry"] * 40
    theirs = ["the bank offers every customer a cheap loan with rates"] * 40
    return own + theirs + ["the tea was warm"] * 200


def model() -> VoiceModel:
    return train_voice(background(), words=EVERY_WORD)


@pytest.mark.kernel
def test_near_is_counted_in_words_on_both_sides_and_never_across_texts() -> None:
    generator = np.random.default_rng(3)
    for span in (1, 3):
        texts = np.sort(generator.integers(0, 6, 40)).astype(np.int64)
        person = generator.random(40) < 0.15
        near = np.zeros(40, np.uint8)
        mark_near(texts, person, span, near)
        expected = [
            any(
                person[other] and texts[other] == texts[place] and abs(other - place) <= span
                for other in range(40)
            )
            for place in range(40)
        ]
        assert near.astype(bool).tolist() == expected


@pytest.mark.kernel
def test_a_word_is_near_if_any_of_its_occurrences_is() -> None:
    vocabulary = Vocabulary.public(["loan", "tea"])
    texts = pa.array(["loan a b c d e f i loan", "tea tea", "", "i loan"])
    found = find_mentions([texts], vocabulary, TokenRules(shortest=1), first_person=["i"], span=5)
    assert found.pointers.tolist() == [0, 1, 2, 2, 3]
    assert found.columns.tolist() == [0, 1, 0]
    assert found.near.tolist() == [1, 0, 1]


def test_words_outside_the_vocabulary_still_stand_between() -> None:
    vocabulary = Vocabulary.public(["loan"])
    rules = TokenRules(shortest=1)
    for between, near in ((4, 1), (5, 0)):
        texts = pa.array(["i " + "x " * between + "loan"])
        found = find_mentions([texts], vocabulary, rules, first_person=["i"], span=5)
        assert found.near.tolist() == [near]


def test_evidence_is_the_shrunk_log_odds_of_its_docstring() -> None:
    found = evidence_of_words(np.array([20.0]), 50, np.array([30.0]), 950)
    q = 50 / 1000
    a, b = 20 + 30 * q, 30 + 30 * q
    w = math.log(a / 80) - math.log(b / 980)
    z = w / math.sqrt(1 / a + 1 / b)
    assert found[0] == pytest.approx(w * (1 - (2 / z) ** 2), rel=1e-12)


@pytest.mark.parametrize(
    ("with_mention", "without"),
    [(0.0, 0.0), (1.0, 19.0), (0.0, 500.0), (2.0, 30.0)],
    ids=["never seen", "as frequent", "speaks against", "too few to tell"],
)
def test_what_is_no_clear_evidence_weighs_nothing(with_mention: float, without: float) -> None:
    found = evidence_of_words(np.array([with_mention]), 50, np.array([without]), 950)
    assert found.tolist() == [0.0]


def test_the_company_of_own_mentions_counts_and_that_of_others_does_not() -> None:
    scorer = model().scorer(DEBT)
    weight = dict(zip(scorer.vocabulary.terms, scorer.weights[:, 0].tolist(), strict=True))
    assert {"loan", "worry", "fear"} <= weight.keys()
    assert weight.keys().isdisjoint({"bank", "rates", "tea"})


def test_words_that_hold_sentences_together_are_no_evidence() -> None:
    """Who writes of themselves, but of nothing, scores nothing."""
    scorer = model().scorer(DEBT)
    assert scorer.vocabulary.column.keys().isdisjoint({"i", "my", "and"})
    everything = VoiceParameters(function_words=frozenset())
    made = train_voice(background(), everything, words=EVERY_WORD)
    assert "and" in made.scorer(DEBT).vocabulary.column
    assert "my" not in made.scorer(DEBT).vocabulary.column
    assert made.fingerprint != model().fingerprint


def test_a_strength_is_the_sum_of_the_evidence_of_distinct_words() -> None:
    scorer = model().scorer(DEBT)
    counts = np.zeros((3, len(scorer.vocabulary)))
    loan, worry = (scorer.vocabulary.column[word] for word in ("loan", "worry"))
    counts[0, [loan, worry]] = [3, 1]
    counts[1, worry] = 1
    posts = sparse.csr_array(counts)
    strengths = scorer.strengths(posts)[:, 0]
    weights = scorer.weights[:, 0]
    assert strengths.tolist() == pytest.approx([weights[loan] + weights[worry], weights[worry], 0])
    added = scorer.contributions(posts, "debt").toarray()
    np.testing.assert_allclose(added.sum(axis=1), strengths)


def test_a_post_scores_the_same_bits_in_any_batch() -> None:
    scorer = model().scorer(DEBT)
    words = len(scorer.vocabulary)
    counts = sparse.csr_array(np.random.default_rng(1).integers(0, 2, (200, words)))
    whole = scorer.strengths(counts, threads=2)
    alone = np.concatenate([scorer.strengths(counts[[row]]) for row in range(200)])
    np.testing.assert_array_equal(whole, alone)


def test_a_model_comes_back_as_it_was(tmp_path: Path) -> None:
    made = model()
    made.save(tmp_path / "m")
    read = load_model(tmp_path / "m")
    assert isinstance(read, VoiceModel)
    assert read.fingerprint == made.fingerprint
    np.testing.assert_array_equal(read.scorer(DEBT).weights, made.scorer(DEBT).weights)
    read.save(tmp_path / "again")
    assert load_model(tmp_path / "again").fingerprint == made.fingerprint


def test_mentions_that_do_not_fit_are_refused() -> None:
    made = model()
    pointers, columns, near = made.mentions
    for broken in (
        made.mentions._replace(pointers=pointers[:-1]),
        made.mentions._replace(near=near[:-1]),
    ):
        with pytest.raises(ParameterError, match="sparse rows"):
            VoiceModel(broken, made.vocabulary, made.rules)
    beyond = made.mentions._replace(columns=columns + len(made.vocabulary))
    with pytest.raises(ParameterError, match="vocabulary's words"):
        VoiceModel(beyond, made.vocabulary, made.rules)


def test_what_cannot_be_learnt_is_said() -> None:
    strangers = Catalogue((Topic("tea", ("tea",), "drinks"),))
    with pytest.raises(ParameterError, match="near a first-person word"):
        model().scorer(strangers)
    with pytest.raises(CorpusError, match="first-person"):
        train_voice(["the tea was warm"], words=EVERY_WORD)
    with pytest.raises(ParameterError, match="leave bigrams out"):
        train_voice(background(), words=WordChoice(TokenRules(shortest=1, bigrams=True)))
    with pytest.raises(ParameterError, match="too small"):
        train_voice(["i loan"], words=EVERY_WORD).scorer(DEBT)


@pytest.mark.parametrize("wrong", [{"span": 0}, {"first_person": ()}])
def test_parameters_have_bounds(wrong: dict[str, object]) -> None:
    with pytest.raises(ParameterError, match="must"):
        VoiceParameters(**wrong)  # type: ignore[arg-type] # wrong on purpose


def test_the_first_person_of_another_language_can_be_named() -> None:
    texts = ["ich habe schulden und sorgen"] * 30 + ["der tee war warm"] * 100
    topic = Catalogue((Topic("debt", ("schulden",), "money"),))
    with pytest.raises(CorpusError, match="--first-person"):
        train_voice(texts, words=EVERY_WORD)
    made = train_voice(texts, VoiceParameters(first_person=("Ich",)), words=EVERY_WORD)
    assert "sorgen" in made.scorer(topic).vocabulary.terms
    assert "ich" not in made.scorer(topic).vocabulary.terms


@pytest.mark.parametrize(
    "wrong",
    [
        {"cells": None},
        {"cells": -1},
        {"cells": 7},
        {"cells": "7"},
        {"function_words": 3},
        {"function_words": None},
        {"first_person": [1]},
        {"span": "x"},
        {"second_person": [""]},
    ],
)
def test_a_card_that_lies_about_its_cells_or_has_no_words_for_persons_is_refused(
    tmp_path: Path, wrong: dict[str, object]
) -> None:
    model().save(tmp_path / "m")
    card = json.loads((tmp_path / "m" / "card.json").read_text())
    card["parameters"] |= wrong
    (tmp_path / "m" / "card.json").write_text(json.dumps(card))
    with pytest.raises(ModelFileError):
        load_model(tmp_path / "m")


BILLS = Catalogue((Topic("debt", ("debt", "bills"), "money", sensitive=True),))
HELPER = "the federal debt and interest: you should pay your bills before you talk of the economy"
DEBTOR = "i cannot pay my debt and my bills"
ROWS = [("helper", "2024-01-01", HELPER), ("debtor", "2024-01-02", DEBTOR)]


def speaker_model() -> VoiceModel:
    own = ["i fear my debt and owe interest", "my bills and the economy: i pay"] * 30
    texts = [*own, *["you and your tea"] * 200]
    return train_voice(texts, words=WordChoice(TokenRules(shortest=1), None, 1, None))


def scores(measure: str) -> dict[str, float]:
    measures, scoring = plan_scoring(BILLS, (speaker_model(),), (measure,))
    state = scoring.state_of(open_posts(ROWS))
    found = measures[measure].score(state, "debt", Setting())
    return dict(zip(state.users.names().to_pylist(), found.tolist(), strict=True))


def test_a_debtor_stands_above_who_tells_others_to_pay() -> None:
    plain, weighed = scores("voice-t"), scores("voice-st")
    assert plain["helper"] > plain["debtor"]
    assert weighed["debtor"] > weighed["helper"] > 0


@pytest.mark.kernel
def test_the_factor_is_laplaces_share_of_the_first_person() -> None:
    scorer = SpeakerVoice(speaker_model()).scorer(BILLS)
    column = scorer.vocabulary.column
    counts = np.zeros((4, len(column)))
    counts[:, column["debt"]] = 1
    counts[1, column["my"]], counts[2, column["you"]] = 2, 3
    counts[3, [column["i"], column["your"]]] = 1
    posts = sparse.csr_array(counts)
    found = scorer.strengths(posts)[:, 0]
    evidence = speaker_model().weights(BILLS.topics[0])[speaker_model().vocabulary.column["debt"]]
    assert found.tolist() == pytest.approx(
        [evidence * share for share in (1 / 2, 3 / 4, 1 / 5, 2 / 4)]
    )
    added = scorer.contributions(posts, "debt").toarray()
    assert added[2, column["you"]] == pytest.approx(evidence * (1 / 5 - 1 / 2))
    assert added[1, column["my"]] == pytest.approx(evidence * (3 / 4 - 1 / 2))


def test_parts_of_a_community_merge_to_the_very_bits() -> None:
    measures, scoring = plan_scoring(BILLS, (speaker_model(),), ("voice-st",))
    words = [HELPER, DEBTOR, "my debt", "your debt, my bills", "you"]
    rows = [(f"u{i % 7}", f"2024-{1 + i % 3:02}-01", words[i % 5]) for i in range(60)]
    whole = scoring.state_of(open_posts(rows)).sort_users()
    parts = [scoring.state_of(open_posts(rows[start::3])) for start in range(3)]
    merged = merge_all(parts[::-1]).sort_users()
    score = measures["voice-st"].score
    np.testing.assert_array_equal(score(whole, "debt", Setting()), score(merged, "debt", Setting()))
