"""From plans to texts: draw the words, give them capitals and full stops, join them.

Words are numbers in a vocabulary of about 20,000. A *source* is a distribution over it: the direct
or indirect words of a topic, the shared words of a domain, the ambiguous words, or general speech.
General speech follows Zipf-Mandelbrot, p(rank) ~ (rank + 2.7) ** -1.15: function words first, then
everyday words, then a long tail of made-up names, places and slang.
"""

from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import cache
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sottovoce.corpus.simulate.parameters import DOMAINS, World, the_world

VOCABULARY_SIZE = 20_000
# The tail belongs to the world, not to one community: it must not depend on a user's seed.
TAIL_SEED = 20_160_717
ZIPF_EXPONENT = 1.15
MANDELBROT_SHIFT = 2.7
# Within a short list the first words are favoured, but mildly.
LIST_EXPONENT = 0.5
# Of which made-up words are put together; what is listed twice is drawn twice as often.
ONSETS = ("b", "br", "c", "d", "dr", "f", "fl", "g", "h", "j", "k", "l", "m", "n", "p", "r", "s")
VOWELS = ("a", "e", "i", "o", "u", "ai", "ea", "oo")
CODAS = ("", "", "", "", "", "l", "m", "n", "r", "s", "t", "ck")
LONG_WORD_SHARE = 0.4

DIRECT, INDIRECT, DOMAIN, AMBIGUOUS, GENERAL, MENTION = range(6)
KINDS = 6

CHUNK_WORDS = 512 * 1024
MARKS = ("", ",", ".", "!", "?", "...")
NO_MARK, COMMA, FULL_STOP = range(3)
# How sentences end: full stop, exclamation mark, question mark, dots.
ENDINGS = (0.72, 0.11, 0.12, 0.05)
SENTENCE_END_SHARE = 0.09
COMMA_SHARE = 0.05
LAST_MARK_SHARE = 0.8


@dataclass(frozen=True)
class TextPlan:
    """What to write, one entry per text; ``mix`` is a row of the table of word kinds."""

    length: NDArray[np.int64]
    mix: NDArray[np.int64]
    subject: NDArray[np.int64]
    mention: NDArray[np.int64]
    capitalises: NDArray[np.bool_]
    punctuates: NDArray[np.bool_]

    def chunks(self) -> Iterator["TextPlan"]:
        """Cut into pieces of about equally many words, which bounds what memory holds."""
        piece = np.cumsum(self.length) // CHUNK_WORDS
        cuts = [0, *(np.flatnonzero(np.diff(piece)) + 1).tolist(), len(self.length)]
        for start, end in pairwise(cuts):
            yield TextPlan(*(getattr(self, each.name)[start:end] for each in fields(self)))


@dataclass(frozen=True)
class SimulatedLexicon:
    """``source_of[kind, topic]`` is a source; ``cumulative`` holds source + CDF, end to end."""

    words: tuple[str, ...]
    source_of: NDArray[np.int64]
    cumulative: NDArray[np.float64]
    word_at: NDArray[np.int32]

    def draw(self, sources: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int32]:
        """Draw one word number from each of ``sources``."""
        return self.word_at[draw_stacked(self.cumulative, sources, rng)]


def draw_lengths(
    count: int, median: float, spread: float, longest: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Draw numbers of words: log-normal, rounded, between 1 and ``longest``."""
    drawn = np.rint(median * np.exp(spread * rng.standard_normal(count)))
    return np.clip(drawn, 1, longest).astype(np.int64)


def write_texts(
    texts: TextPlan, mixes: NDArray[np.float64], rng: np.random.Generator
) -> pa.ChunkedArray:
    """Write all ``texts``; ``mixes[i, kind]`` is the share of each kind of word in mix ``i``."""
    lexicon = the_lexicon()
    cumulative = stacked_cumulative(list(mixes))
    written = [_write(chunk, lexicon, cumulative, rng) for chunk in texts.chunks()]
    return pa.chunked_array(written, type=pa.string())


def _write(
    texts: TextPlan,
    lexicon: SimulatedLexicon,
    cumulative: NDArray[np.float64],
    rng: np.random.Generator,
) -> pa.Array:
    text = np.repeat(np.arange(len(texts.length)), texts.length)
    kind = draw_stacked(cumulative, texts.mix[text], rng) % KINDS
    topic = np.where(kind == MENTION, texts.mention[text], texts.subject[text])
    words = lexicon.draw(lexicon.source_of[kind, topic], rng)
    ends = np.concatenate([[0], np.cumsum(texts.length)])
    forms = words + len(lexicon.words) * _form_numbers(texts, text, ends, rng)
    spelled = written_forms().take(pa.array(forms))
    lists = pa.ListArray.from_arrays(pa.array(ends, type=pa.int32()), spelled)
    return pc.binary_join(lists, " ")


def _form_numbers(
    texts: TextPlan, text: NDArray[np.int64], ends: NDArray[np.int64], rng: np.random.Generator
) -> NDArray[np.int64]:
    """Return, for each word, which of its ``written_forms`` to write."""
    last = np.zeros(len(text), dtype=np.bool_)
    last[ends[1:] - 1] = True
    draw = rng.random(len(text))
    ends_sentence = np.where(last, draw < LAST_MARK_SHARE, draw < SENTENCE_END_SHARE)
    comma = ~last & ~ends_sentence & (draw < SENTENCE_END_SHARE + COMMA_SHARE)
    ending = FULL_STOP + rng.choice(len(ENDINGS), len(text), p=ENDINGS)
    mark = np.where(ends_sentence, ending, np.where(comma, COMMA, NO_MARK))
    starts_sentence = np.roll(last | ends_sentence, 1)
    capital = starts_sentence & texts.capitalises[text]
    form: NDArray[np.int64] = capital * len(MARKS) + mark * texts.punctuates[text]
    return form


@cache
def written_forms() -> pa.Array:
    """Return every word with each mark, first plain and then capitalised."""
    words = pa.array(the_lexicon().words, type=pa.string())
    forms = [
        pc.binary_join_element_wise(word, mark, "")
        for word in (words, pc.utf8_capitalize(words))
        for mark in MARKS
    ]
    return pa.concat_arrays(forms)


def draw_stacked(
    cumulative: NDArray[np.float64], rows: NDArray[np.int64], rng: np.random.Generator
) -> NDArray[np.int64]:
    """Draw from distribution number ``rows[i]``: the place in ``cumulative`` of each draw.

    ``cumulative`` holds, end to end, each distribution's number plus its CDF, so that one
    look-up in one sorted array serves all of them.
    """
    # The factor keeps row + draw from rounding up into the next row.
    draws = rng.random(len(rows)) * (1 - 1e-12)
    return np.searchsorted(cumulative, rows + draws, "right")


@cache
def the_lexicon() -> SimulatedLexicon:
    """Number the words of the world and weigh them, once."""
    world = the_world()
    general = _general_words(world)
    lists = _sources(world, general)
    number = {word: place for place, word in enumerate(_vocabulary(lists, general))}
    weights = [_list_weights(len(words)) for words in lists[:-1]] + [_zipf_weights(len(general))]
    return SimulatedLexicon(
        words=tuple(number),
        source_of=_source_numbers(world),
        cumulative=stacked_cumulative(weights),
        word_at=np.array([number[word] for words in lists for word in words], dtype=np.int32),
    )


def _general_words(world: World) -> list[str]:
    written = list(dict.fromkeys(world.function_words + world.everyday_words))
    topical = {word for words in _topical_lists(world) for word in words}
    tail_size = VOCABULARY_SIZE - len(topical.union(written))
    return written + _made_up_words(tail_size, avoid=topical.union(written))


def _topical_lists(world: World) -> list[tuple[str, ...]]:
    return [
        *(topic.direct for topic in world.topics),
        *(topic.indirect for topic in world.topics),
        *world.domain_words,
        world.ambiguous_words,
    ]


def _sources(world: World, general: list[str]) -> list[tuple[str, ...]]:
    return [*_topical_lists(world), tuple(general)]


def _vocabulary(lists: list[tuple[str, ...]], general: list[str]) -> list[str]:
    return list(dict.fromkeys([*general, *(word for words in lists for word in words)]))


def _source_numbers(world: World) -> NDArray[np.int64]:
    topics = len(world.topics)
    place = np.arange(topics)
    domain = np.array([DOMAINS.index(topic.domain) for topic in world.topics])
    ambiguous = 2 * topics + len(DOMAINS)
    rows = [place, topics + place, 2 * topics + domain]
    rows += [np.full(topics, ambiguous), np.full(topics, ambiguous + 1), place]
    return np.stack(rows)


def _list_weights(size: int) -> NDArray[np.float64]:
    weights: NDArray[np.float64] = np.arange(1, size + 1, dtype=np.float64) ** -LIST_EXPONENT
    return weights


def _zipf_weights(size: int) -> NDArray[np.float64]:
    ranks = np.arange(1, size + 1, dtype=np.float64)
    weights: NDArray[np.float64] = (ranks + MANDELBROT_SHIFT) ** -ZIPF_EXPONENT
    return weights


def stacked_cumulative(weights: list[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Stack distributions, given as weights, for ``draw_stacked``."""
    stacked = []
    for source, weight in enumerate(weights):
        cumulative = np.cumsum(weight) / weight.sum()
        # Rounding must not let a draw fall past its own source.
        cumulative[-1] = 1.0
        stacked.append(source + cumulative)
    return np.concatenate(stacked)


def _made_up_words(count: int, *, avoid: set[str]) -> list[str]:
    """Return ``count`` distinct pronounceable words that are none of ``avoid``."""
    rng = np.random.default_rng(TAIL_SEED)
    words: dict[str, None] = {}
    while len(words) < count:
        words.update(dict.fromkeys(_syllable_words(count, rng)))
        words = {word: None for word in words if word not in avoid}
    # Frequent words are short.
    return sorted(list(words)[:count], key=len)


def _syllable_words(count: int, rng: np.random.Generator) -> list[str]:
    first, second, third = (_syllables(count, rng) for _ in range(3))
    third = np.where(rng.random(count) < LONG_WORD_SHARE, third, "")
    words: list[str] = np.strings.add(np.strings.add(first, second), third).tolist()
    return words


def _syllables(count: int, rng: np.random.Generator) -> NDArray[np.str_]:
    onset, vowel, coda = (rng.choice(parts, count) for parts in (ONSETS, VOWELS, CODAS))
    return np.strings.add(np.strings.add(onset, vowel), coda)
