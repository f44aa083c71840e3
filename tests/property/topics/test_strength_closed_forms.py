"""Kernels give what the definitions say, and the same bits however posts are cut up."""

import os

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from support import spaces

from sottovoce.topics import BagOfWords
from sottovoce.topics.space import PostScorer
from sottovoce.topics.w2v import model as cosines

pytestmark = pytest.mark.kernel
COMPILED = os.environ.get("NUMBA_DISABLE_JIT", "0") != "1"
seeds = st.integers(0, 2**32 - 1)
few = settings(max_examples=15, deadline=None)


@few
@given(seed=seeds, dimensions=st.integers(2, 19))
def test_latent_strengths_are_cosines_of_theta_with_the_topics_dimensions(
    seed: int, dimensions: int
) -> None:
    model = spaces.random_lda(seed, dimensions=dimensions)
    posts = spaces.random_posts(seed)
    sets: list[tuple[int, ...]] = [(0,), (1, 0), (dimensions - 1,)]
    found = model.scorer(spaces.matched(model, sets)).strengths(posts)
    wanted = [
        [spaces.lda_the_long_way(model, post, chosen) for chosen in sets]
        for post in posts.toarray()
    ]
    np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-12)


@few
@given(seed=seeds)
def test_theta_is_the_two_passes_over_the_words(seed: int) -> None:
    model, posts = spaces.random_lda(seed), spaces.random_posts(seed)
    wanted = [spaces.theta_the_long_way(model, post) for post in posts.toarray()]
    np.testing.assert_allclose(model.infer(posts), wanted, rtol=1e-9, atol=1e-12)


@few
@given(seed=seeds, dimensions=st.integers(1, 19), topics=st.integers(1, 4))
def test_word_vector_strengths_follow_the_definition_in_both_modes(
    seed: int, dimensions: int, topics: int
) -> None:
    model = spaces.random_skip_gram(seed, dimensions=dimensions)
    posts = spaces.random_posts(seed)
    chosen = [
        ("word0", "word1", "word2"),
        ("word3", "word4", "word0"),
        ("word5", "word1", "word6"),
        ("word6", "word2", "word3"),
    ]
    catalogue = spaces.of_words(*chosen[:topics], weights=(3.0, 1.0, 0.5))
    for mode, positive in (("corrected", True), ("paper", False)):
        found = model.scorer(catalogue, mode=mode).strengths(posts)  # type: ignore[arg-type] # a mode
        wanted = [
            [
                spaces.skip_gram_the_long_way(model, post, topic, positive=positive)
                for topic in catalogue
            ]
            for post in posts.toarray()
        ]
        np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-7)


@few
@given(seed=seeds)
def test_bag_of_words_strengths_are_cosines_over_the_topics_words(seed: int) -> None:
    catalogue = spaces.of_words(("word0", "word1", "word2"), ("word2", "word5"), ("word7",))
    scorer = BagOfWords().scorer(catalogue)
    posts = spaces.random_posts(seed, vocabulary=len(scorer.vocabulary))
    wanted = [
        [
            spaces.bow_the_long_way(post, [scorer.vocabulary.column[word] for word in topic.words])
            for topic in catalogue
        ]
        for post in posts.toarray()
    ]
    np.testing.assert_allclose(scorer.strengths(posts), wanted, rtol=1e-12)


def scorers() -> dict[str, PostScorer]:
    model = spaces.random_lda(3, vocabulary=60, dimensions=13)
    vectors = spaces.random_skip_gram(4, vocabulary=60, dimensions=11)
    plain = spaces.of_words([f"word{number}" for number in range(60)], ("word0", "word9"))
    return {
        "lda": model.scorer(spaces.matched(model, [(0,), (3, 4)])),
        "w2v": vectors.scorer(plain),
        "bow": BagOfWords().scorer(plain),
    }


@pytest.mark.parametrize("space", ["lda", "w2v", "bow"])
def test_a_post_has_the_same_bits_in_any_batch_and_on_any_number_of_threads(space: str) -> None:
    scorer = scorers()[space]
    posts = spaces.random_posts(5, rows=900 if COMPILED else 90, vocabulary=60)
    whole = scorer.strengths(posts, threads=1)
    assert posts.nnz > 2 * 4096 or not COMPILED, "enough for two threads"
    for threads in (2, 3):
        np.testing.assert_array_equal(scorer.strengths(posts, threads=threads), whole)
    pieces = [scorer.strengths(posts[begin : begin + 7]) for begin in range(0, posts.shape[0], 7)]
    np.testing.assert_array_equal(np.vstack(pieces), whole)


def test_columns_in_any_order_and_repeated_cells_are_the_same_post() -> None:
    scorer = scorers()["lda"]
    post = spaces.random_posts(6, rows=1, vocabulary=60)
    backwards = post.copy()
    backwards.indices, backwards.data = post.indices[::-1].copy(), post.data[::-1].copy()
    backwards.has_sorted_indices = backwards.has_canonical_format = False
    np.testing.assert_array_equal(scorer.strengths(backwards), scorer.strengths(post))


@pytest.mark.parametrize("words", [cosines.FEW_WORDS, cosines.FEW_WORDS + 1])
def test_both_ways_to_a_posts_length_follow_the_definition(words: int) -> None:
    """Few words take the words' dot products, many take the vector itself."""
    model = spaces.random_skip_gram(7, vocabulary=60, dimensions=8)
    catalogue = spaces.of_words(("word0", "word1"), ("word5", "word40"))
    post = np.zeros(60, int)
    post[:words] = 1 + np.arange(words) % 3
    found = model.scorer(catalogue).strengths(sparse.csr_array(post[None]))[0]
    wanted = [
        spaces.skip_gram_the_long_way(model, post, topic, positive=True) for topic in catalogue
    ]
    np.testing.assert_allclose(found, wanted, rtol=1e-9)


@pytest.mark.parametrize("words", [12, 90])
def test_a_topics_bits_do_not_depend_on_the_other_topics(words: int) -> None:
    """Neither for posts of a few words nor for posts of many."""
    model = spaces.random_skip_gram(7, vocabulary=words, dimensions=9)
    posts = spaces.random_posts(9, rows=40, vocabulary=words)
    alone = model.scorer(spaces.of_words(("word0", "word1"))).strengths(posts)[:, 0]
    among = model.scorer(spaces.of_words(*[[f"word{n}"] for n in range(9)], ("word0", "word1")))
    np.testing.assert_array_equal(among.strengths(posts)[:, -1], alone)
