"""The notebook's door: fit across peers, predict, score, evaluate."""

from collections.abc import Mapping
from typing import Any

import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from support.hidden_systems import BITS, small_keys_allowed, two_keys
from support.text_runs import NAMES, made_peers, made_texts

from sottovoce import learn
from sottovoce.errors import InputError, LeakError, ParameterError
from sottovoce.learn._text_classifier import FederatedTextClassifier
from sottovoce.learn.documents import Examples
from sottovoce.learn.run.party import Connection, InProcess
from sottovoce.learn.run.terms import RunTerms

PEERS: dict[str, Any] = {name: made_texts(40, at) for at, name in enumerate(NAMES)}
SMALL: dict[str, Any] = {"text_options": {"buckets": 4096}, "width": 80}


def test_five_lines_train_across_peers() -> None:
    classifier = learn.FederatedTextClassifier(held_out=0.25, **SMALL).fit(PEERS)
    texts, labels = made_texts(200, 80)
    assert classifier.classes_.tolist() == ["ham", "spam"]
    assert classifier.score(texts, labels) > 0.75
    assert classifier.evaluate().count == 40
    assert set(classifier.predict(texts[:3])) <= {"ham", "spam"}
    assert classifier.decision_function(texts).shape == (200,)
    assert "| coordinator |" in classifier.leakage_.table()
    assert isinstance(classifier.trained_.connection, InProcess)
    assert classifier.trained_.connection.leakage is not None
    assert classifier.trained_.connection.traffic.bytes > 0


def test_parameters_are_scikit_learns() -> None:
    classifier = FederatedTextClassifier(width=7, dictionary="hashed")
    again = clone(classifier)
    assert again.get_params()["width"] == 7
    assert again.set_params(width=9).width == 9
    with pytest.raises(NotFittedError):
        again.predict(["text"])


def test_a_hidden_classifier_answers_queries_only() -> None:
    recipe = {
        "key_bits": BITS,
        "solver": "chebyshev",
        "fraction_bits": 16,
        "queries": 20,
        "queries_together": 80,
    }
    with small_keys_allowed():
        classifier = FederatedTextClassifier(
            mode="hidden", dictionary="hashed", width=8, options=recipe, keys=two_keys(),
            held_out=0.2,
        ).fit(PEERS)  # fmt: skip
        texts, _ = made_texts(3, 83)
        open_one = FederatedTextClassifier(
            dictionary="hashed", width=8, penalty=0.1, held_out=0.2
        ).fit(PEERS)
        assert classifier.predict(texts, peer="cy").tolist() == open_one.predict(texts).tolist()
        assert classifier.evaluate(rows=2).count == 8
    with pytest.raises(LeakError, match="nobody has theta"):
        classifier.decision_function(texts)


class Elsewhere:
    """A federation that is reached through a machine of cy's."""

    here = "cy"

    def __init__(self) -> None:
        self._inner = InProcess(made_peers())
        self.ran: list[str] = []

    @property
    def identities(self) -> Mapping[str, bytes]:
        return self._inner.identities

    def run(self, terms: RunTerms, examples: Mapping[str, Examples]) -> Any:  # noqa: ANN401 - results
        self.ran.append(terms.kind)
        return {"cy": self._inner.run(RunTerms.from_bytes(terms.to_bytes()), examples)["cy"]}


def test_a_connection_stands_for_the_peers() -> None:
    far = Elsewhere()
    assert isinstance(far, Connection)
    classifier = FederatedTextClassifier(held_out=0.1, **SMALL).fit(far)
    assert classifier.evaluate().count == 20  # whole blocks of five at each of four peers
    assert far.ran == ["train", "evaluate"]
    assert len(classifier.predict(["some text"])) == 1


def test_mistakes_are_said_plainly() -> None:
    whole = FederatedTextClassifier(dictionary="hashed", width=8, penalty=0.1).fit(PEERS)
    with pytest.raises(ParameterError, match="give no estimate"):
        whole.evaluate()
    assert whole.evaluate(training_data=True).count == 160
    with pytest.raises(InputError, match="pass no y"):
        FederatedTextClassifier().fit(PEERS, [1])  # type: ignore[arg-type] # a user's mistake
    with pytest.raises(InputError, match="mapping of peers' names"):
        FederatedTextClassifier().fit([("a", "b")])  # type: ignore[arg-type] # a user's mistake
    with pytest.raises(InputError, match="fields of TextRecipe, got"):
        FederatedTextClassifier(text_options={"colour": 1}).fit(PEERS)
    with pytest.raises(InputError, match="at least 1 document"):
        FederatedTextClassifier().fit({**PEERS, "eve": ([], [])})
