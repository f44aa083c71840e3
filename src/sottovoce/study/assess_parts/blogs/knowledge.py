"""What an adversary of the bloggers knows: four spaces, learnt from other people's texts."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow.parquet as pq

from sottovoce.data import data_file
from sottovoce.errors import InputError
from sottovoce.study.assess_parts.knowledge import Training
from sottovoce.topics import (
    Catalogue,
    LdaModel,
    LdaParameters,
    SkipGramParameters,
    Space,
    load_model,
    train_lda,
    train_skip_gram,
    train_voice,
)
from sottovoce.topics.model_matching import match_model

OWN_KIND = "blogs-background.parquet"
OTHER_KINDS = "background.parquet"
TOPICS_FILE = Path(__file__).with_name("topics.toml")
NEEDED = ("w2v", "lda", "voice")
FULL = Training(topics=200, iterations=200, dimensions=200, epochs=5)
QUICK = Training(topics=40, iterations=20, dimensions=30, epochs=1)
QUICK_TEXTS = 15_000
SEED = 1


@dataclass(frozen=True, eq=False)
class BlogKnowledge:
    """The catalogue and the models, with the topics that each model has."""

    catalogue: Catalogue
    spaces: Mapping[str, Space]
    catalogues: Mapping[str, Catalogue]
    """By space; the latent model's lacks the topics that it does not know."""
    notes: tuple[str, ...]


def blog_knowledge(
    topics: Path | None, models: Sequence[Path], *, quick: bool = False
) -> BlogKnowledge:
    """Load the given models, train those that are missing, and find the topics in them."""
    catalogue = Catalogue.load(topics or TOPICS_FILE)
    if not catalogue.sensitive:
        raise InputError("the catalogue must have at least 1 sensitive topic, got none.")
    spaces: dict[str, Space] = {}
    for model in map(load_model, models):
        spaces[model.name] = model
    for name in NEEDED:
        if name not in spaces:
            spaces[name] = _trained(name, quick=quick)
    latent, notes = _in_latent_model(catalogue, spaces["lda"])
    catalogues = {name: latent if name == "lda" else catalogue for name in NEEDED}
    return BlogKnowledge(catalogue, spaces, catalogues, notes)


def _trained(name: str, *, quick: bool) -> Space:
    size = QUICK if quick else FULL
    texts = list(_texts([OWN_KIND] if name == "voice" else [OWN_KIND, OTHER_KINDS], quick=quick))
    if name == "voice":
        return train_voice(texts)
    if name == "lda":
        return train_lda(texts, LdaParameters(size.topics, size.iterations, seed=SEED, workers=1))
    vectors = SkipGramParameters(
        dimensions=size.dimensions, epochs=size.epochs, seed=SEED, workers=1
    )
    return train_skip_gram(texts, vectors)


def _texts(files: Sequence[str], *, quick: bool) -> Iterator[str]:
    for name in files:
        column = pq.read_table(data_file(name), columns=["text"])["text"]
        yield from (column.slice(0, QUICK_TEXTS) if quick else column).to_pylist()


def _in_latent_model(catalogue: Catalogue, model: Space) -> tuple[Catalogue, tuple[str, ...]]:
    """The topics found in the latent model by their words.

    A sensitive topic that nothing fits well is given the nearest dimension all the same, so that
    every measure ranks every topic; other topics are left out.
    """
    if not isinstance(model, LdaModel):
        raise InputError("the latent model must be an lda model.")
    matching = match_model(catalogue, model)
    nearest = {
        each.topic: (each.nearest,)
        for each in matching.unmatched
        if each.nearest is not None and catalogue.by_name[each.topic].sensitive
    }
    if nearest:
        matching = match_model(catalogue, model, chosen=nearest)
    notes = tuple(
        f"Nothing in the latent model fits the topic {name!r} well; its nearest dimension is used."
        for name in nearest
    )
    return matching.without_unmatched(), notes
