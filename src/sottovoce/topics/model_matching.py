"""A trained model beside a catalogue: its numbers in the shape that matching takes."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from sottovoce.errors import InputError
from sottovoce.topics.catalogue import Catalogue
from sottovoce.topics.lda import LdaModel
from sottovoce.topics.load import load_model
from sottovoce.topics.match import LEAST_SHARE, Matching, match_catalogue, model_catalogue
from sottovoce.topics.salient import SALIENT_WORDS, Floats


def load_latent(path: Path) -> LdaModel:
    """The topic model in the folder ``path``; other kinds have no latent dimensions to match."""
    model = load_model(path)
    if not isinstance(model, LdaModel):
        raise InputError(f"only an lda model has latent topics to match, got {model.name}.")
    return model


def match_model(
    catalogue: Catalogue,
    model: LdaModel,
    *,
    chosen: Mapping[str, Sequence[int]] | None = None,
    least_share: float = LEAST_SHARE,
) -> Matching:
    """Match a catalogue's topics to the latent dimensions of ``model``.

    >>> from sottovoce.topics import Topic
    >>> import numpy as np
    >>> from sottovoce.corpus import TokenRules, Vocabulary
    >>> words = Vocabulary.public(["debt", "loan", "baby", "birth"])
    >>> phi = np.array([[0.5, 0], [0.5, 0], [0, 0.5], [0, 0.5]])
    >>> model = LdaModel(phi, np.ones(2), words, TokenRules())
    >>> catalogue = Catalogue((Topic("debts", ("debt", "loan"), "money"),))
    >>> match_model(catalogue, model, chosen={"debts": [0]}).catalogue.topics[0].dimensions
    (0,)
    """
    form, shortest = model.rules.former(), model.rules.shortest
    return match_catalogue(
        catalogue,
        _by_dimension(model),
        model.vocabulary.terms,
        fingerprint=model.fingerprint,
        sizes=model.alpha,
        chosen=chosen,
        least_share=least_share,
        form=lambda word: form(word) if len(word) >= shortest else None,
    )


def catalogue_of(
    model: LdaModel, *, count: int = SALIENT_WORDS, relevance: float = 1.0
) -> Catalogue:
    """A catalogue of the model's own latent topics, yet to be judged."""
    return model_catalogue(
        _by_dimension(model),
        model.vocabulary.terms,
        fingerprint=model.fingerprint,
        count=count,
        relevance=relevance,
        sizes=model.alpha,
    )


def _by_dimension(model: LdaModel) -> Floats:
    return model.phi.T.astype("float64")
