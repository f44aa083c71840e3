"""Other texts for an adversary to learn from."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache

import numpy as np

from sottovoce.corpus.reading import open_documents
from sottovoce.data import DataAbsentError, data_file
from sottovoce.study.assess_parts.communities import (
    DEFAULT,
    StudyCommunity,
    draw_community,
    simulated_catalogue,
)
from sottovoce.study.assess_parts.experiment import Sizes
from sottovoce.study.assess_parts.knowledge import Knowledge, train_knowledge

PUBLIC_FILE = "background.parquet"
PUBLIC_ABSENT = (
    f"{PUBLIC_FILE} is not among the data sets, so that no background of real texts was tried."
)
OTHER_DRAW, TENTH, PUBLIC = "another draw", "a tenth of it", "public texts"
# Seeds of communities are small numbers, so no community has this background.
_FAR = 1_000_000

Learner = Callable[[int], Knowledge]
"""What an adversary of a seed knows."""


def other_backgrounds(sizes: Sizes, *, public: bool) -> dict[str, Learner]:
    """Latent topics learnt from other texts than the seed's own background.

    Another draw of as many texts; a tenth of its own; real public texts (news, encyclopaedia,
    health questions), which share no more with the simulated world than the English words.
    """

    def learnt(texts: Sequence[str], seed: int) -> Knowledge:
        world = simulated_catalogue(draw_community(DEFAULT, 0, users=100, weeks=1, background=1))
        return train_knowledge(texts, world, sizes.training, seed + 1, ("lda",))

    @cache
    def from_public(_seed: int = 0) -> Knowledge:
        return learnt(public_texts(sizes.background), 0)

    found: dict[str, Learner] = {
        OTHER_DRAW: lambda seed: learnt(_drawn(sizes.background, seed + _FAR), seed),
        TENTH: lambda seed: learnt(_drawn(sizes.background, seed)[: sizes.background // 10], seed),
    }
    return found | ({PUBLIC: lambda _seed: from_public()} if public else {})


def has_public_texts() -> bool:
    """Whether the data sets are at hand."""
    try:
        data_file(PUBLIC_FILE)
    except DataAbsentError:
        return False
    return True


def public_texts(count: int) -> list[str]:
    """Texts of the public background, drawn at random but always the same."""
    texts = open_documents(data_file(PUBLIC_FILE)).read_all()["text"]
    places = np.random.default_rng(0).permutation(len(texts))[:count]
    drawn: list[str] = texts.take(np.sort(places)).to_pylist()
    return drawn


def captured(community: StudyCommunity, knowledge: Knowledge) -> StudyCommunity:
    """The community judged only on the topics that the adversary's model has."""
    known = set(knowledge.catalogue.names)
    kept = [place for place, topic in enumerate(community.judged) if topic.name in known]
    return replace(
        community,
        judged=tuple(community.judged[place] for place in kept),
        personas=tuple(community.personas[place] for place in kept),
    )


def _drawn(count: int, seed: int) -> list[str]:
    drawn = draw_community(DEFAULT, seed, users=100, weeks=1, background=count)
    texts: list[str] = drawn.background["text"].to_pylist()
    return texts
