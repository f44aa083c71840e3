"""What every vector space promises of a post's strengths."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from support import spaces

from sottovoce.corpus.counts import count_batches
from sottovoce.corpus.words.rules import TokenRules
from sottovoce.errors import ParameterError
from sottovoce.topics import BagOfWords, Catalogue, Topic
from sottovoce.topics.lda.model import LdaModel
from sottovoce.topics.space import PostScorer

pytestmark = pytest.mark.kernel


def scorers() -> dict[str, PostScorer]:
    model, vectors = spaces.random_lda(1), spaces.random_skip_gram(2)
    plain = spaces.of_words([f"word{number}" for number in range(12)], ("word1", "word2"))
    return {
        "lda": model.scorer(spaces.matched(model, [(0,), (1, 2)])),
        "w2v": vectors.scorer(plain),
        "bow": BagOfWords().scorer(plain),
    }


@pytest.fixture(params=["lda", "w2v", "bow"])
def scorer(request: pytest.FixtureRequest) -> PostScorer:
    return scorers()[request.param]


def test_a_post_without_a_known_word_scores_zero(scorer: PostScorer) -> None:
    posts = sparse.csr_array(np.array([[0] * 12, [1] + [0] * 11]))
    found = scorer.strengths(posts)
    assert not found[0].any()
    assert found[1].any()


def test_no_posts_give_no_strengths(scorer: PostScorer) -> None:
    assert scorer.strengths(sparse.csr_array(np.zeros((0, 12), np.int32))).shape == (0, 2)


def test_contributions_are_what_the_strength_loses_without_the_word(scorer: PostScorer) -> None:
    posts = spaces.random_posts(3, rows=6)
    found = scorer.contributions(posts, "topic 1").toarray()
    for row, word in zip(*posts.nonzero(), strict=True):
        without = posts[[row]].toarray()
        without[0, word] = 0
        both = scorer.strengths(sparse.csr_array(np.vstack([posts[[row]].toarray(), without])))
        assert found[row, word] == both[0, 1] - both[1, 1]


def test_a_scorer_works_in_another_process(scorer: PostScorer) -> None:
    posts = spaces.random_posts(4)
    copied = pickle.loads(pickle.dumps(scorer))  # noqa: S301 - our own bytes, as processes send them
    np.testing.assert_array_equal(copied.strengths(posts), scorer.strengths(posts))


def test_counts_over_another_vocabulary_are_refused(scorer: PostScorer) -> None:
    with pytest.raises(ParameterError, match="one column for each of the 12 terms, got 11"):
        scorer.strengths(spaces.random_posts(1, vocabulary=11))


@pytest.mark.parametrize("bad", [-1.0, np.nan, np.inf])
def test_what_is_no_count_is_refused(scorer: PostScorer, bad: float) -> None:
    posts = sparse.csr_array(np.full((1, 12), bad))
    with pytest.raises(ParameterError, match="finite and >= 0"):
        scorer.strengths(posts)


def test_an_unknown_topic_and_no_threads_are_refused(scorer: PostScorer) -> None:
    posts = spaces.random_posts(1)
    with pytest.raises(ParameterError, match="topic must be one of the catalogue's 2"):
        scorer.contributions(posts, "nothing")
    with pytest.raises(ParameterError, match="threads must be >= 1"):
        scorer.strengths(posts, threads=0)


def test_a_word_that_no_dimension_has_says_nothing() -> None:
    model = spaces.random_lda(1)
    phi = model.phi.copy()
    phi[3] = 0
    blind = LdaModel(phi / phi.sum(axis=0), model.alpha, model.vocabulary, model.rules)
    scorer = blind.scorer(spaces.matched(blind, [(0,)]))
    both = np.zeros((3, 12), int)
    both[0, 3] = 2
    both[1, 5] = 1
    both[2, [3, 5]] = 1
    only, plain, mixed = scorer.strengths(sparse.csr_array(both))[:, 0]
    assert only == 0
    assert plain == mixed > 0


@pytest.mark.parametrize(
    ("dimensions", "message"),
    [((), "no latent dimension; run"), ((5,), "from 0 to 4"), ((-1,), "dimensions must be >= 0")],
)
def test_a_topics_dimensions_must_be_the_models(dimensions: tuple[int, ...], message: str) -> None:
    model = spaces.random_lda(1)
    with pytest.raises(ParameterError, match=message):
        model.scorer(spaces.matched(model, [dimensions]))


def test_bigrams_of_a_topic_are_counted_as_bigrams() -> None:
    catalogue = Catalogue((Topic("debt", ("credit card", "debt"), "money"),))
    scorer = BagOfWords().scorer(catalogue)
    assert scorer.rules.bigrams
    texts = ["my credit card debt", "card credit", "debt"]
    (counts,) = count_batches([_array(texts)], scorer.vocabulary, scorer.rules)
    found = scorer.strengths(counts)[:, 0]
    np.testing.assert_allclose(found, [1.0, 0.0, np.sqrt(0.5)])


def test_stems_that_fall_together_count_once() -> None:
    catalogue = Catalogue((Topic("debt", ("debts", "debt", "loan"), "money"),))
    scorer = BagOfWords(TokenRules(stem="english")).scorer(catalogue)
    assert scorer.vocabulary.terms == ("debt", "loan")
    assert scorer.terms == (("debt", "loan"),)


def test_a_topic_without_a_countable_word_is_refused() -> None:
    catalogue = Catalogue((Topic("nothing", ("the",), "none"),))
    with pytest.raises(ParameterError, match="topic 'nothing' needs a word that can occur"):
        BagOfWords(TokenRules(stop_words=frozenset({"the"}))).scorer(catalogue)


def test_fingerprints_tell_spaces_apart() -> None:
    assert BagOfWords().fingerprint != BagOfWords(TokenRules(stem="english")).fingerprint
    one, again, other = (spaces.random_lda(seed).fingerprint for seed in (1, 1, 2))
    assert one == again != other
    vectors = [spaces.random_skip_gram(seed).fingerprint for seed in (1, 1, 2)]
    assert vectors[0] == vectors[1] != vectors[2]


def test_a_bigram_without_a_vector_is_the_mean_of_its_words() -> None:
    model = spaces.random_skip_gram(1)
    found = model.topic_vector(Topic("pair", ("word1 word2",), "domain"))
    np.testing.assert_allclose(found, model.vectors[[1, 2]].mean(axis=0), rtol=1e-6)
    with pytest.raises(ParameterError, match="topic 'odd' needs words that the model has vectors"):
        model.topic_vector(Topic("odd", ("word1 unknown", "strange"), "domain"))


def test_a_word_against_the_topic_counts_for_it_in_paper_mode_only() -> None:
    model = spaces.random_skip_gram(1)
    vectors = model.vectors.copy()
    vectors[1] = -vectors[0]
    model = replace(model, vectors=vectors)
    against = np.zeros((1, 12), int)
    against[0, 1] = 1
    catalogue = spaces.of_words(("word0",))
    corrected = model.scorer(catalogue).strengths(sparse.csr_array(against))
    paper = model.scorer(catalogue, mode="paper").strengths(sparse.csr_array(against))
    assert corrected[0, 0] == 0
    np.testing.assert_allclose(paper[0, 0], 1.0)


def _array(texts: list[str]) -> object:
    import pyarrow as pa  # noqa: PLC0415 - here only

    return pa.array(texts)
