"""The paper's fourteen methods give the very bits they gave before other measures came."""

import hashlib
from functools import cache

import numpy as np
import pytest

from sottovoce.assess import Ranking, score
from sottovoce.assess.measures.catalogue import PAPER_METHODS
from sottovoce.corpus.vocabulary import Vocabulary
from sottovoce.corpus.words.rules import TokenRules
from sottovoce.topics import Catalogue, Topic
from sottovoce.topics.lda.model import LdaModel
from sottovoce.topics.space import Mode, Space
from sottovoce.topics.w2v.model import SkipGramModel

# Of scores and ranks in the order of users, both modes one after the other, at commit 45ee8ee.
DIGESTS = {
    "ent": "4bd5b634b8257238",
    "diff-priv": "151c2544bc18895a",
    "bow": "49828538215c7e30",
    "bow-d": "0b2fc615eebcbd2f",
    "bow-t": "af93932d45e6cce4",
    "bow-dt": "777dccd0b7f9ef25",
    "w2v": "0c750587803449c6",
    "w2v-d": "da574840dcf0c7b5",
    "w2v-t": "2275e85bc0a3792c",
    "w2v-dt": "c3d1fa2c6f819d53",
    "lda": "103520566653511a",
    "lda-d": "30e021d6bcee396f",
    "lda-t": "ac3a85008b04f0fc",
    "lda-dt": "9f1bd73281fcba64",
}
WORDS = tuple(
    """debt loan bank owe pay sick pill ward scan fever union strike wage shift boss sea tea rain
    bread song walk cat lamp road tree stone boat cup door bird""".split()  # noqa: SIM905 - 30 words
)
TOPICS = Catalogue(
    (
        Topic("debts", ("debt", "loan", "owe"), "money", sensitive=True, dimensions=(0,)),
        Topic("work", ("wage", "shift", "boss"), "money", dimensions=(1,)),
        Topic("banks", ("bank", "pay", "loan"), "money", dimensions=(2,)),
        Topic("illness", ("sick", "pill", "fever"), "health", sensitive=True, dimensions=(3,)),
        Topic("hospital", ("ward", "scan"), "health", dimensions=(4,)),
    )
)


def _numbers(count: int, seed: int) -> list[int]:
    """Whole numbers below 2^16 by a rule that no library can change."""
    found, state = [], seed
    for _ in range(count):
        state = (1103515245 * state + 12345) % 2**31
        found.append(state >> 15)
    return found


def _posts() -> list[tuple[str, str, str]]:
    numbers = iter(_numbers(60 * 6 * 14, 7))
    rows = []
    for user in range(60):
        for post in range(2 + next(numbers) % 5):
            length = 3 + next(numbers) % 9
            # Everybody has words of their own that they come back to.
            chosen = [
                WORDS[(next(numbers) % 6 + 5 * (user % 6)) % len(WORDS)]
                if next(numbers) % 3
                else WORDS[next(numbers) % len(WORDS)]
                for _ in range(length)
            ]
            rows.append(
                (f"u{user:02}", f"2024-0{1 + post % 3}-{1 + user % 27:02}", " ".join(chosen))
            )
    return rows


@cache
def _ranking(mode: Mode) -> Ranking:
    words, rules = Vocabulary.public(WORDS), TokenRules()
    size = len(WORDS)
    phi = np.array(_numbers(size * 8, 3), np.float64).reshape(size, 8) ** 3
    vectors = np.array(_numbers(size * 10, 5), np.float64).reshape(size, 10) / 2**15 - 1
    lda = LdaModel(phi / phi.sum(axis=0), np.arange(1, 9) / 20, words, rules)
    spaces: list[Space] = [lda, SkipGramModel(vectors.astype(np.float32), words, rules)]
    matched = Catalogue(TOPICS.topics, lda.fingerprint)
    return score(_posts(), spaces, matched, measures=PAPER_METHODS, mode=mode, threads=1)


def _digest(measure: str) -> str:
    found = hashlib.sha256()
    for mode in ("corrected", "paper"):
        for topic in ("debts", "illness"):
            table = _ranking(mode).select(measure, topic).sort_by("user")
            found.update(table["score"].to_numpy().astype("<f8").tobytes())
            found.update(table["rank"].to_numpy().astype("<i8").tobytes())
    return found.hexdigest()[:16]


@pytest.mark.parametrize("measure", PAPER_METHODS)
def test_scores_and_ranks_are_the_same_bits_as_before(measure: str) -> None:
    assert _digest(measure) == DIGESTS[measure]


def test_the_community_tells_the_methods_apart() -> None:
    """Digests of a community in which everybody ties would prove nothing."""
    assert len(set(DIGESTS.values())) == len(PAPER_METHODS) == len(DIGESTS)
    for measure in PAPER_METHODS:
        assert len(set(_ranking("corrected").select(measure, "debts")["rank"].to_pylist())) > 3
