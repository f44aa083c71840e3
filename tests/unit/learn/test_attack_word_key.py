"""Words are hashed under another key in a second training, and other rare words share a column.

The peers' key for words used to be drawn afresh in every run. Under one key a rare word falls into
the bucket of a common one, under the next it does not: the common word's column is the same but for
the one document that uses the rare word, and the difference of its two rows was that document. Two
trainings on the same data, by the same terms and with nobody lying, were enough. Now the same peers
have the same key every time, and a peer that remembers takes no other from whoever makes it.
"""

from dataclasses import replace
from string import ascii_lowercase

import numpy as np
import pytest
from support.openings import MemoryInProcess, Opening, opened
from support.text_runs import AGREED, NAMES, made_holdings, made_peers, made_terms

from sottovoce.errors import DisagreementError
from sottovoce.learn.documents import Documents
from sottovoce.learn.features import TextRecipe
from sottovoce.learn.run.terms import Holdings

KEYED = TextRecipe(dictionary="hashed", width=300, keyed=True)


def with_rare_words(name: str, documents: Documents) -> Documents:
    """Ten words in each document that no other has."""
    texts = [
        f"{text} "
        + " ".join(f"rare{name}{ascii_lowercase[at]}{each}" for each in ascii_lowercase[:10])
        for at, text in enumerate(documents.texts)
    ]
    return Documents.from_texts(texts, documents.labels)


PEERS = {name: with_rare_words(name, each) for name, each in made_peers(documents=20).items()}


def a_training(text: TextRecipe, holdings: dict[str, Holdings]) -> Opening:
    terms = made_terms(text=text, recipe={"penalty": 0.1}, labels=("ham", "spam"))
    return opened(terms, holdings)


@pytest.mark.parametrize("text", [AGREED, KEYED], ids=["agreed", "keyed"])
def test_training_twice_on_the_same_data_opens_the_same(text: TextRecipe) -> None:
    """Before, rows of a few columns differed by a single document."""
    first, second = (a_training(text, made_holdings(PEERS)) for _ in range(2))
    np.testing.assert_array_equal(first.kept, second.kept)
    np.testing.assert_array_equal(first.sums.products, second.sums.products)


def remembering(holdings: dict[str, Holdings], memories: dict[str, MemoryInProcess]) -> None:
    for name, memory in memories.items():
        holdings[name] = replace(holdings[name], memory=memory)


def test_a_first_peer_that_makes_another_key_is_refused_by_those_who_remember() -> None:
    memories = {name: MemoryInProcess() for name in NAMES[1:]}
    honest = made_holdings(PEERS)
    remembering(honest, memories)
    a_training(KEYED, honest)
    insider = dict(honest)
    insider["ada"] = replace(honest["ada"], secret=b"another than before")
    with pytest.raises(DisagreementError, match="ada must bring the key for words of the earlier"):
        a_training(KEYED, insider)
    a_training(KEYED, honest)
