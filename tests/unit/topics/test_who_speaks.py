"""Who speaks: helpers say you, and those whom a topic concerns say I."""

import numpy as np
import pytest
from scipy import sparse

from sottovoce.assess import Scoring, merge_all
from sottovoce.assess.measures.catalogue import plan_scoring
from sottovoce.assess.setting import Setting
from sottovoce.corpus.read.corpus import open_posts
from sottovoce.corpus.words.rules import TokenRules
from sottovoce.topics import Catalogue, Topic, train_voice
from sottovoce.topics.training import WordChoice
from sottovoce.topics.voice.model import SpeakerVoice, VoiceModel

DEBT = Catalogue((Topic("debt", ("debt", "bills"), "money", sensitive=True),))
HELPER = "the federal debt and interest: you should pay your bills before you talk of the economy"
DEBTOR = "i cannot pay my debt and my bills"
ROWS = [("helper", "2024-01-01", HELPER), ("debtor", "2024-01-02", DEBTOR)]


def model() -> VoiceModel:
    own = ["i fear my debt and owe interest", "my bills and the economy: i pay"] * 30
    texts = [*own, *["you and your tea"] * 200]
    return train_voice(texts, words=WordChoice(TokenRules(shortest=1), None, 1, None))


def scores(measure: str) -> dict[str, float]:
    measures, scoring = plan_scoring(DEBT, (model(),), (measure,))
    state = scoring.state_of(open_posts(ROWS))
    found = measures[measure].score(state, "debt", Setting())
    return dict(zip(state.users.names().to_pylist(), found.tolist(), strict=True))


def test_a_debtor_stands_above_who_tells_others_to_pay() -> None:
    plain, weighed = scores("voice-t"), scores("voice-st")
    assert plain["helper"] > plain["debtor"]
    assert weighed["debtor"] > weighed["helper"] > 0


@pytest.mark.kernel
def test_the_factor_is_laplaces_share_of_the_first_person() -> None:
    scorer = SpeakerVoice(model()).scorer(DEBT)
    column = scorer.vocabulary.column
    counts = np.zeros((4, len(column)))
    counts[:, column["debt"]] = 1
    counts[1, column["my"]], counts[2, column["you"]] = 2, 3
    counts[3, [column["i"], column["your"]]] = 1
    posts = sparse.csr_array(counts)
    found = scorer.strengths(posts)[:, 0]
    evidence = model().weights(DEBT.topics[0])[model().vocabulary.column["debt"]]
    assert found.tolist() == pytest.approx(
        [evidence * share for share in (1 / 2, 3 / 4, 1 / 5, 2 / 4)]
    )
    added = scorer.contributions(posts, "debt").toarray()
    assert added[2, column["you"]] == pytest.approx(evidence * (1 / 5 - 1 / 2))
    assert added[1, column["my"]] == pytest.approx(evidence * (3 / 4 - 1 / 2))


def test_parts_of_a_community_merge_to_the_very_bits() -> None:
    measures, scoring = plan_scoring(DEBT, (model(),), ("voice-st",))
    words = [HELPER, DEBTOR, "my debt", "your debt, my bills", "you"]
    rows = [(f"u{i % 7}", f"2024-{1 + i % 3:02}-01", words[i % 5]) for i in range(60)]
    whole = scoring.state_of(open_posts(rows)).sort_users()
    parts = [scoring.state_of(open_posts(rows[start::3])) for start in range(3)]
    merged = merge_all(parts[::-1]).sort_users()
    score = measures["voice-st"].score
    np.testing.assert_array_equal(score(whole, "debt", Setting()), score(merged, "debt", Setting()))


def test_the_speaker_is_offered_wherever_the_model_is_given() -> None:
    scoring: Scoring = plan_scoring(DEBT, (model(),), ("voice-s", "voice-st"))[1]
    assert list(scoring.header.spaces) == ["voice-s"]
