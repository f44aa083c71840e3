"""The bytes of a run's terms are the same today as when parties last agreed on them."""

import hashlib

import numpy as np
import pytest

from sottovoce.learn.features import FeatureMap, TextRecipe
from sottovoce.learn.run.terms import RunTerms
from sottovoce.learn.training_terms import ALLOW_RARE, Recipe

PEERS = {"ada": bytes(32), "ben": bytes(range(32)), "cy": b"\x07" * 32}
MAP = FeatureMap(np.array([[0, 1], [1, 0]]), np.array([0.5, -2.0]), 3)
FULL_RECIPE = Recipe(
    statistics="rados", penalty=0.25, penalties=(0.5, 2.0),
    fraction_bits=20, moment_bits=21, rados=77, fewest_documents=2, fewest_peers=1,
    allow_rare=ALLOW_RARE, allow_two="each learns the other's summand", key_bits=2048,
    solver="chebyshev", queries=4, queries_together=9,
)  # fmt: skip
FULL_TEXT = TextRecipe(
    dictionary="mapped", words=("aa", "bb"), values="counts", width=9, buckets=1 << 12,
    candidates=33, padded=True, candidate_documents=4, unit="sentence", declared="used",
    shortest=1, bigrams=True, stop_words=("the", "é"), mapping=MAP,
)  # fmt: skip
HASHED = TextRecipe(
    dictionary="hashed", values="counts", signed=True, keyed=True, stem="english", shortest=3
)
TRAIN = RunTerms(bytes(16), "train", "open", PEERS, Recipe(), TextRecipe())
FULL = RunTerms(
    bytes(range(16)), "train", "hidden", PEERS, FULL_RECIPE, FULL_TEXT, labels=("no", "yes"),
    most_classes=8, held_out=0.25,
)  # fmt: skip
QUERY = RunTerms(
    bytes(16), "classify", "hidden", PEERS, Recipe(), HASHED, features=("x", "y"),
    training=b"\x01" * 16, asker="ada", rows=3, contributors=("ben", "cy"), offset="mean",
)  # fmt: skip


@pytest.mark.parametrize(
    ("terms", "digest"),
    [
        (TRAIN, "97bfe65cd8fe8ac3a62e785fc301342d48ce04dfe2693c61590de763ef9684a4"),
        (FULL, "1a19c38bd585d66e893565bd16b145030ad1904884749094ba57771ac1acee97"),
        (QUERY, "36c8f38764fbb53e214807d82300c1fd7257eca48e82d8342b411b7c66591d99"),
    ],
    ids=["defaults", "every field set", "a query"],
)
def test_terms_have_the_bytes_that_they_always_had(terms: RunTerms, digest: str) -> None:
    """Parties of two releases would otherwise refuse each other under one version number."""
    assert hashlib.sha256(terms.to_bytes()).hexdigest() == digest
    assert RunTerms.from_bytes(terms.to_bytes()).to_bytes() == terms.to_bytes()
