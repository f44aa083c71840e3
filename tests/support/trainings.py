"""Small trainings: peers with a few features, and keys that are far too small."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.learn import TrainedClassifier, train
from sottovoce.learn.paillier.wire import decrypt_integers
from sottovoce.learn.run.records import read_hidden
from support.hidden_systems import BITS, small_keys_allowed, two_keys

Floats = NDArray[np.float64]
Peers = list[tuple[Floats, Floats]]


def small_peers(*, peers: int = 4, rows: int = 30, width: int = 4, seed: int = 0) -> Peers:
    """Rows whose label follows from two features, with noise."""
    chance = np.random.default_rng(seed)
    theta = np.array([1.5, -1.0, *([0.2] * (width - 2))])
    given = []
    for _ in range(peers):
        x = chance.normal(1.0, 2.0, (rows, width)).round(3)
        noise = chance.normal(0, 1.0, rows)
        given.append((x, np.where(x @ theta + noise > 2.5, 1.0, -1.0)))
    return given


def pooled(peers: Peers) -> tuple[Floats, Floats]:
    """All peers' rows together."""
    return np.vstack([x for x, _ in peers]), np.concatenate([y for _, y in peers])


def hidden_integers(trained: TrainedClassifier, peer: str) -> list[int]:
    """Theta as integers: the two shares that a peer keeps, opened with both of `two_keys`."""
    kept: Any = trained._find_result(peer)["classifiers"]
    with small_keys_allowed():
        classifier = read_hidden(kept[0]).classifier()
        shares = zip((classifier.coordinator, classifier.key_holder), two_keys(), strict=True)
        first, second = (decrypt_integers(array, key).ravel() for array, key in shares)
    half = classifier.modulus // 2
    totals = (int(one + two) for one, two in zip(first, second, strict=True))
    return [(total + half) % classifier.modulus - half for total in totals]


@contextmanager
def quick_training(peers: Any, **options: Any) -> Iterator[TrainedClassifier]:  # noqa: ANN401 - as `train` takes them
    """A training under keys that anyone can break."""
    with small_keys_allowed():
        yield train(peers, key_bits=BITS, keys=two_keys(), **options)
