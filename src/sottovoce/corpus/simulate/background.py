"""Background text from the same world: what an adversary learns language from."""

import numpy as np
import pyarrow as pa

from sottovoce.corpus.simulate.lexicon import (
    AMBIGUOUS,
    DIRECT,
    DOMAIN,
    GENERAL,
    INDIRECT,
    KINDS,
    MENTION,
)
from sottovoce.corpus.simulate.parameters import SimulationParameters
from sottovoce.corpus.simulate.wording import Texts, draw_lengths, write_texts
from sottovoce.corpus.simulate.world import World

BACKGROUND = pa.schema([pa.field("text", pa.string(), nullable=False)])
# Articles and forum threads name their topic and tell how it feels, so both wordings meet.
WORDING = {
    DIRECT: 0.22,
    INDIRECT: 0.18,
    DOMAIN: 0.10,
    AMBIGUOUS: 0.04,
    GENERAL: 0.43,
    MENTION: 0.03,
}
LENGTH_SPREAD = 0.6
LONGEST_DOCUMENT = 2000


def draw_background(
    parameters: SimulationParameters, world: World, rng: np.random.Generator
) -> pa.Table:
    """Draw documents, each about one topic and touching on another; all topics alike."""
    count = parameters.background_documents
    length = draw_lengths(
        count, parameters.words_per_document, LENGTH_SPREAD, LONGEST_DOCUMENT, rng
    )
    subject = rng.permutation(np.arange(count) % len(world.topics))
    mix = np.zeros((1, KINDS))
    mix[0, list(WORDING)] = list(WORDING.values())
    always = np.ones(count, dtype=np.bool_)
    only_mix = np.zeros(count, dtype=np.int64)
    mention = rng.integers(0, len(world.topics), count)
    texts = Texts(length, only_mix, subject, mention, always, always)
    return pa.table([write_texts(texts, mix, rng)], schema=BACKGROUND)
