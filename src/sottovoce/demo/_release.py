"""The demo's release part: what a setting promises, and what it costs."""

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from sottovoce.arrays import Floats
from sottovoce.corpus.counts import count_batches
from sottovoce.corpus.simulate.community import SimulatedCommunity
from sottovoce.corpus.vocabulary import Vocabulary
from sottovoce.loop.subject import public_words, simulated_catalogue
from sottovoce.privacy.noise_law import NoiseLaw
from sottovoce.release.analysis.moments import SignalMeter, released_moments, signal_meter
from sottovoce.release.counts import Counts, checked_counts
from sottovoce.release.estimator import PrivateBagOfWords
from sottovoce.release.topics.estimator import PrivateTopics
from sottovoce.release.topics.evaluation import (
    TopicMatch,
    chance_jaccard,
    fit_topics,
    match_topics,
    top_words,
)
from sottovoce.report.page import COLOURS, Plot, Section, legend_below, new_panels

DOCUMENTS = 3000
PRECISION = 2
EPSILONS = ("10", "6", "4", "2")
SHOWN_EPSILON = "6"
COLUMNS = 100
ITERATIONS = 60
SWEEPS = 20
MOST_TOKENS = 300_000
STRONG_EPSILON = "4"
CLIPPED, SUMMED, READ = "every word", f"{COLUMNS} columns", "every word, read by its noise"
METHODS = (CLIPPED, SUMMED)
READINGS = (*METHODS, READ)

_INTRODUCTION = (
    "Suppose the holder of these documents publishes how often each word of a public list occurs "
    "in each of them, with noise on every count. These are documents of the same simulated world, "
    "by nobody in particular."
)
_READING = (
    f"Either every word keeps a count of its own, or words are first summed into {COLUMNS} columns "
    "and the noisy sums shared out again; a naive reader clips what is below zero and looks for "
    "topics in the rest. The law of the noise is public, and a reader who uses it takes the same "
    "release of every word as it is: its sums over documents are unbiased. That costs no privacy; "
    "sottovoce analyse does it. A topic is a list of words that go together; the Jaccard "
    "of two topics is the share of their most frequent words that both have, 1 if all. Noise is "
    "never drawn twice alike, so the same command gives slightly other figures here."
)


@dataclass(frozen=True, eq=False)
class ReleaseDemo:
    """The true counts and topics, and those of every release."""

    vocabulary: tuple[str, ...]
    counts: Counts
    topics: Floats
    again: TopicMatch
    released: Mapping[tuple[str, str], Counts]
    meters: Mapping[str, SignalMeter]
    matches: Mapping[tuple[str, str], TopicMatch]
    private_topics: Mapping[tuple[str, str], Floats]


def make_sections(community: SimulatedCommunity, command: str) -> tuple[Section, ...]:
    """The whole part of the report."""
    demo = run_release_demo(community)
    promise = PrivateBagOfWords(PRECISION, SHOWN_EPSILON).fit(demo.counts).guarantee_
    section = Section(
        title="What a release promises and costs",
        paragraphs=(_INTRODUCTION, f"At epsilon {SHOWN_EPSILON}: {promise.in_words()}", _READING),
        facts={
            "Documents": f"{demo.counts.shape[0]:,}",
            "Words on the public list": f"{len(demo.vocabulary):,}",
            "Guarantee per document": str(promise),
            **{f"Of the release at epsilon {e}": _supports(demo, e) for e in EPSILONS},
        },
        plots=(_heatmaps(demo), _costs(demo)),
        table=_topic_table(demo),
        command=command,
    )
    return (section,)


def run_release_demo(community: SimulatedCommunity) -> ReleaseDemo:
    """Release the background documents at every setting and train topics on each."""
    words = public_words(simulated_catalogue(community))
    vocabulary = Vocabulary.public(words, origin="the catalogue of topics")
    counts = _count_documents(community, vocabulary)
    topics = len(community.topics)
    true = _topics(counts, topics, seed=1)
    noisy = {epsilon: _noisy(counts, epsilon) for epsilon in EPSILONS}
    released = {(CLIPPED, e): checked_counts(raw.maximum(0)) for e, raw in noisy.items()}
    released |= {(SUMMED, epsilon): _share_out_counts(counts, epsilon) for epsilon in EPSILONS}
    private = {setting: _topics(clipped, topics, seed=2) for setting, clipped in released.items()}
    private |= {(READ, e): _read_topics(raw, topics, e) for e, raw in noisy.items()}
    return ReleaseDemo(
        vocabulary=vocabulary.terms,
        counts=counts,
        topics=true,
        again=match_topics(_topics(counts, topics, seed=2), true),
        released=released,
        meters={e: signal_meter(released_moments(raw, _law(e))) for e, raw in noisy.items()},
        matches={setting: match_topics(phi, true) for setting, phi in private.items()},
        private_topics=private,
    )


def _count_documents(community: SimulatedCommunity, vocabulary: Vocabulary) -> Counts:
    texts = community.background["text"].slice(0, DOCUMENTS)
    return checked_counts(sparse.vstack(list(count_batches(texts.chunks, vocabulary))))


def _noisy(counts: Counts, epsilon: str) -> Counts:
    """What is published: noise on every word."""
    with _weak_promises():
        return checked_counts(
            PrivateBagOfWords(PRECISION, epsilon).fit_transform(counts), signed=True
        )


def _share_out_counts(counts: Counts, epsilon: str) -> Counts:
    """Noisy columns as a reader would use them: shared out to words, negative ones dropped."""
    options: dict[str, Any] = {"compression": "frequency", "columns": COLUMNS, "prior": "central"}
    bag = PrivateBagOfWords(PRECISION, epsilon, random_state=1, decompress=True, **options)
    with _weak_promises():
        return checked_counts(bag.fit_transform(counts))


@contextmanager
def _weak_promises() -> Iterator[None]:
    """The people are made up, and the weak end is part of the figure."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "epsilon .* is next to no promise")
        yield


def _law(epsilon: str) -> NoiseLaw:
    return NoiseLaw(float(epsilon) / PRECISION)


def _read_topics(noisy: Counts, topics: int, epsilon: str) -> Floats:
    reader = PrivateTopics(topics, rate=_law(epsilon).rate, max_iter=SWEEPS, random_state=2)
    return np.asarray(reader.fit(noisy).components_)


def _supports(demo: ReleaseDemo, epsilon: str) -> str:
    return f"{demo.meters[epsilon].dimensions} dimensions above the noise"


def _topics(counts: Counts, topics: int, seed: int) -> Floats:
    return fit_topics(counts, topics, seed, iterations=ITERATIONS, most_tokens=MOST_TOKENS)


def _heatmaps(demo: ReleaseDemo) -> Plot:
    rows = slice(0, 40)
    frequent = np.argsort(-demo.counts.sum(axis=0))[:80]
    shown = {"true counts": demo.counts}
    shown |= {f"released: {method}": demo.released[method, SHOWN_EPSILON] for method in METHODS}
    figure, panels = new_panels(len(shown), width=9.0, height=2.6)
    for axes, (title, counts) in zip(panels, shown.items(), strict=True):
        part = counts[rows].toarray()[:, frequent]
        axes.imshow(np.minimum(part, 5), cmap="Greys", aspect="auto", vmin=0, vmax=5)
        axes.set(title=title, xlabel="words", ylabel="documents", xticks=[], yticks=[])
    true, *noisy = (counts.sum() / counts.shape[0] for counts in shown.values())
    each = [f"{n:,.0f} with {method}" for method, n in zip(METHODS, noisy, strict=True)]
    finding = (
        f"A document has {true:,.0f} words; released at epsilon {SHOWN_EPSILON} it seems to have "
        f"{', '.join(each)}."
    )
    return Plot(figure, finding, f"Heatmaps of counts, darker is more. {finding}")


def _costs(demo: ReleaseDemo) -> Plot:
    figure, (axes,) = new_panels(1, width=7.0, height=3.4)
    for method, colour in zip(READINGS, COLOURS, strict=False):
        scores = [demo.matches[method, epsilon].mean for epsilon in EPSILONS]
        axes.plot([float(e) for e in EPSILONS], scores, marker="o", color=colour, label=method)
    levels = {"true text, trained again": demo.again.mean, "chance": _chance(demo)}
    for (name, level), style in zip(levels.items(), ("--", ":"), strict=True):
        axes.axhline(level, color="grey", linestyle=style, label=name)
    axes.set(xlabel=f"epsilon (N = {PRECISION} words)", ylabel="topic Jaccard", ylim=(0, None))
    legend_below(figure, columns=3)
    weak, strong = (
        " and ".join(f"{demo.matches[method, e].mean:.2f} ({method})" for method in READINGS)
        for e in (SHOWN_EPSILON, STRONG_EPSILON)
    )
    finding = (
        f"At epsilon {SHOWN_EPSILON} the topics keep a Jaccard of {weak}; at epsilon "
        f"{STRONG_EPSILON}, {strong}. Training again on the true text gives "
        f"{demo.again.mean:.2f}, chance {_chance(demo):.2f}."
    )
    return Plot(figure, finding, f"Topic Jaccard against epsilon, a line a method. {finding}")


def _chance(demo: ReleaseDemo) -> float:
    return chance_jaccard(len(demo.vocabulary), len(demo.topics), draws=20)


def _topic_table(demo: ReleaseDemo) -> tuple[tuple[str, ...], ...]:
    """Five topics at the strong setting, from the best kept to the worst: both readings of it."""
    read, clipped = (demo.matches[method, STRONG_EPSILON] for method in (READ, CLIPPED))
    places = np.linspace(0, read.jaccards.size - 1, 5).round().astype(int)
    head = ("topic of the true text", f"read by its noise at epsilon {STRONG_EPSILON}", "clipped")
    rows: list[tuple[str, ...]] = [head]
    for topic in read.true[places].tolist():
        found = (
            _words(demo, demo.private_topics[method, STRONG_EPSILON][_match_topic(match, topic)])
            for method, match in ((READ, read), (CLIPPED, clipped))
        )
        rows.append((_words(demo, demo.topics[topic]), *found))
    return tuple(rows)


def _match_topic(match: TopicMatch, topic: int) -> int:
    """Which topic of a reader stands for one of the true text."""
    return int(match.private[match.true.tolist().index(topic)])


def _words(demo: ReleaseDemo, topic: Floats) -> str:
    top: Sequence[int] = top_words(topic[None, :], 4)[0].tolist()
    return ", ".join(demo.vocabulary[word] for word in top)
