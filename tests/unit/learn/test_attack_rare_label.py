"""A coordinator that reads single documents off the sums of a label that few documents have.

Of a label, the sum of its documents is (sum of x + sum of xy) / 2, whatever support its words have.
So labels are counted as features are, before any sum by label is opened.
"""

from random import Random
from typing import Any

import numpy as np
import pytest

from sottovoce.errors import LeakError
from sottovoce.learn import train
from sottovoce.learn.support import check_label_support
from sottovoce.learn.training_terms import ALLOW_RARE

WORDS = [f"w{letter}" for letter in "abcdefgh"]
SHOWN = "wb we"


def peers_with(rare: int, label: str = "ill") -> dict[str, Any]:
    """Three peers, whose documents are well but for the first so many of ada's."""
    chance = Random(4)
    texts = {name: [" ".join(chance.choices(WORDS, k=4)) for _ in range(20)] for name in "abc"}
    labels = {name: ["well"] * 20 for name in "abc"}
    texts["a"][:rare], labels["a"][:rare] = [SHOWN] * rare, [label] * rare
    return {name: (texts[name], labels[name]) for name in "abc"}


@pytest.mark.parametrize("options", [{}, {"statistics": "rados", "rados": 20}])
def test_a_label_of_one_document_is_not_opened(options: dict[str, Any]) -> None:
    with pytest.raises(LeakError, match="a label has too few documents"):
        train(peers_with(1), words=WORDS, penalty=0.1, labels=["ill", "well"], **options)


def test_documents_of_one_peer_alone_do_not_make_a_label_common() -> None:
    with pytest.raises(LeakError, match="a label has too few documents"):
        train(peers_with(15), words=WORDS, penalty=0.1, labels=["ill", "well"])


def test_a_label_that_no_document_has_shows_nothing() -> None:
    peers = peers_with(0)
    for _, labels in peers.values():
        labels[:10] = ["ill"] * 10
    trained = train(peers, words=WORDS, penalty=0.1, labels=["ill", "never", "well"])
    assert trained.classes_.tolist() == ["ill", "never", "well"]


def test_whoever_accepts_rare_words_by_name_accepts_rare_labels() -> None:
    trained = train(
        peers_with(1),
        words=WORDS,
        penalty=0.1,
        labels=["ill", "well"],
        fewest_documents=1,
        fewest_peers=1,
        allow_rare=ALLOW_RARE,
    )
    assert trained.classes_.tolist() == ["ill", "well"]


@pytest.mark.parametrize(
    ("uses", "lacks", "sound"),
    [(0, 90, True), (90, 0, True), (10, 10, True), (9, 90, False), (90, 1, False)],
)
def test_few_with_a_label_and_few_without_it_are_refused_alike(
    uses: int, lacks: int, *, sound: bool
) -> None:
    # By the largest cap alone: five documents of each peer, and ten in all are enough.
    summed = np.array([0, 0, uses, 0, 0, lacks, 0], float)
    if sound:
        check_label_support(summed)
        return
    with pytest.raises(LeakError):
        check_label_support(summed)
