"""Several labels from one sum: each comes out as if it had been trained alone, at little cost."""

import numpy as np
import pytest
from support.text_runs import GIVEN, LABELS, made_peers, made_terms, trained

from sottovoce.errors import InputError
from sottovoce.learn.ridge import (
    label_vector_size,
    likeliest_penalties,
    local_label_sums,
    local_sums,
    ridge_from_sums,
    ridge_of_labels,
    sums_of_labels,
)
from sottovoce.learn.support import KeptFeatures

CHANCE = np.random.default_rng(5)
ROWS = CHANCE.poisson(0.8, (60, 7)).astype(float)
NAMES = CHANCE.integers(0, 4, 60)
SIGNS = np.where(NAMES[:, None] == np.arange(4), 1.0, -1.0)


def test_every_label_has_the_sums_that_it_would_have_alone() -> None:
    kept = KeptFeatures(np.arange(7) != 2)
    vector = local_label_sums(ROWS, SIGNS, kept)
    assert vector.size == label_vector_size(6, 4)
    for k, found in enumerate(sums_of_labels(vector, 6, 4)):
        alone = local_sums(ROWS, SIGNS[:, k], kept)
        np.testing.assert_array_equal(found.to_vector(), alone.to_vector())


def test_every_label_has_the_penalty_and_the_classifier_that_it_would_have_alone() -> None:
    kept = KeptFeatures(np.ones(7, bool))
    sums = sums_of_labels(local_label_sums(ROWS, SIGNS, kept), 7, 4)
    chosen, models = likeliest_penalties(sums), ridge_of_labels(sums, 0.1)
    for k in range(4):
        alone = local_sums(ROWS, SIGNS[:, k], kept)
        assert [chosen[k]] == likeliest_penalties([alone])
        wanted = ridge_from_sums(alone, 0.1)
        np.testing.assert_array_equal(models[k].coefficients, wanted.coefficients)
        assert models[k].intercept == wanted.intercept


def test_sums_of_another_number_of_labels_are_refused() -> None:
    with pytest.raises(InputError, match="agree on the features"):
        sums_of_labels(np.zeros(label_vector_size(3, 2)), 3, 3)


def test_five_labels_cost_little_more_than_two() -> None:
    """They used to cost five times as much: each label opened the same sums of products."""
    sent = {}
    for labels in (LABELS[:2], ("clam", *LABELS, "zest")):
        terms = made_terms(text=GIVEN, recipe={"penalty": 0.1}, labels=labels)
        ended = trained(terms, made_peers(labels=min(3, len(labels))))
        sent[len(labels)] = ended.traffic
    assert sent[5].bytes < 1.3 * sent[2].bytes
    assert sent[5].messages == sent[2].messages
