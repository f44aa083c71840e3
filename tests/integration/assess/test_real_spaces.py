"""All fourteen methods in the real spaces: the bits do not depend on how the posts are cut."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from support.communities import CATALOGUE, WORDS, random_posts

from sottovoce.assess import Scoring, Setting, merge_all, rank
from sottovoce.assess.measures.catalogue import PAPER_METHODS, chosen_measures, plan_scoring
from sottovoce.assess.state.parts import to_table
from sottovoce.corpus.vocabulary import Vocabulary
from sottovoce.corpus.words.rules import TokenRules
from sottovoce.topics import Catalogue
from sottovoce.topics.lda.model import LdaModel
from sottovoce.topics.space import Mode
from sottovoce.topics.w2v.model import SkipGramModel


def scoring(mode: Mode) -> Scoring:
    """Random background knowledge of the eight words there are."""
    generator = np.random.default_rng(4)
    vocabulary, rules = Vocabulary.public(WORDS), TokenRules()
    phi = generator.dirichlet(np.full(len(WORDS), 0.3), 20).T.astype(np.float32)
    lda = LdaModel(phi, generator.random(20) + 0.05, vocabulary, rules)
    vectors = generator.normal(size=(len(WORDS), 12)).astype(np.float32)
    w2v = SkipGramModel(vectors, vocabulary, rules)
    topics = (replace(topic, dimensions=(3 * n, 3 * n + 1)) for n, topic in enumerate(CATALOGUE))
    catalogue = Catalogue(tuple(topics), lda.fingerprint)
    return plan_scoring(catalogue, [lda, w2v], ["all"], mode=mode)[1]


@pytest.mark.parametrize("mode", ["corrected", "paper"])
def test_fourteen_methods_rank_alike_however_the_posts_are_cut(mode: Mode) -> None:
    made, posts = scoring(mode), random_posts(11, users=40, posts=3000, weeks=20)
    whole = made.state_of(posts.to_batches())
    order = np.random.default_rng(0).permutation(len(posts))
    parts = [
        made.state_of(
            posts.take(pa.array(part)).to_batches(max_chunksize=size), threads=1 + size % 2
        )
        for size, part in enumerate(np.array_split(order, 8), 40)
    ]
    merged = merge_all(parts)
    assert to_table(merged).equals(to_table(whole))
    chosen = chosen_measures(PAPER_METHODS, ("bow", "lda", "w2v"))
    ranks = [rank(state, chosen, setting=Setting(mode=mode)) for state in (whole, merged)]
    assert ranks[0].table.equals(ranks[1].table)
    assert len(ranks[0].summary) == 14 * 3


def test_the_modes_differ_where_the_paper_slips() -> None:
    posts = random_posts(11, users=40, posts=150)
    scores = {}
    modes: tuple[Mode, ...] = ("corrected", "paper")
    for mode in modes:
        made = scoring(mode)
        state = made.state_of(posts.to_batches())
        for name, measure in chosen_measures(PAPER_METHODS, ("bow", "lda", "w2v")).items():
            scores[mode, name] = measure.score(state, "depression", Setting(mode=mode))
    same = {
        name
        for name in PAPER_METHODS
        if np.array_equal(scores["corrected", name], scores["paper", name])
    }
    assert same == {"ent", "diff-priv", "bow", "bow-t", "bow-dt", "lda", "lda-t", "lda-dt"}
