"""The demo's release and learn parts.

Release: what a setting promises, and what it costs. Learn: four holders of texts train one
classifier, and show nobody a text. Four peers, a coordinator and a key holder run as processes of
this machine, by the same commands that anybody would use on six machines.
"""

import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from sottovoce._arrays import Floats
from sottovoce.corpus._count import count_batches
from sottovoce.corpus._vocabulary import Vocabulary
from sottovoce.corpus.simulate import SimulatedCommunity
from sottovoce.federation._config import FeatureSettings, TrainingSettings
from sottovoce.federation._setup import SetupPlan
from sottovoce.federation.party._processes import PartyProcesses, prepare, running_parties
from sottovoce.lab.learn._network import Flow, flows, size_in_words, total
from sottovoce.lab.learn.figures import architecture
from sottovoce.learn.documents import Documents
from sottovoce.loop._communities import simulated_catalogue
from sottovoce.loop._subject import public_words
from sottovoce.release._counts import Counts, checked_counts
from sottovoce.release._estimator import PrivateBagOfWords
from sottovoce.release.evaluation import (
    TopicMatch,
    chance_jaccard,
    fit_topics,
    match_topics,
    top_words,
)
from sottovoce.report._figures import COLOURS, new_panels
from sottovoce.report._page import Plot, Section

DOCUMENTS = 3000
PRECISION = 2
EPSILONS = ("10", "6", "4", "2")
SHOWN_EPSILON = "6"
COLUMNS = 100
ITERATIONS = 60
MOST_TOKENS = 300_000
METHODS = {"every word": None, f"{COLUMNS} columns": "frequency"}

_RELEASE_INTRODUCTION = (
    "Suppose the holder of these documents publishes how often each word of a public list occurs "
    "in each of them, with noise on every count. These are documents of the same simulated world, "
    "by nobody in particular."
)
_READING = (
    f"Either every word keeps a count of its own, or words are first summed into {COLUMNS} columns "
    "and the noisy sums shared out again. A topic is a list of words that go together; the Jaccard "
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
    matches: Mapping[tuple[str, str], TopicMatch]
    private_topics: Mapping[tuple[str, str], Floats]


def release_section(community: SimulatedCommunity, *, command: str) -> Section:
    """The whole part of the report."""
    demo = run_release_demo(community)
    promise = PrivateBagOfWords(PRECISION, SHOWN_EPSILON).fit(demo.counts).guarantee_
    return Section(
        title="What a release promises and costs",
        paragraphs=(
            _RELEASE_INTRODUCTION,
            f"At epsilon {SHOWN_EPSILON}: {promise.in_words()}",
            _READING,
        ),
        facts={
            "Documents": f"{demo.counts.shape[0]:,}",
            "Words on the public list": f"{len(demo.vocabulary):,}",
            "Guarantee per document": str(promise),
        },
        plots=(_heatmaps(demo), _costs(demo)),
        table=_topic_table(demo),
        command=command,
    )


def run_release_demo(community: SimulatedCommunity) -> ReleaseDemo:
    """Release the background documents at every setting and train topics on each."""
    words = public_words(simulated_catalogue(community))
    vocabulary = Vocabulary.public(words, origin="the catalogue of topics")
    counts = _counted(community, vocabulary)
    topics = len(community.topics)
    true = _topics(counts, topics, seed=1)
    released = {
        (method, epsilon): _released(counts, compression, epsilon)
        for method, compression in METHODS.items()
        for epsilon in EPSILONS
    }
    private = {setting: _topics(noisy, topics, seed=2) for setting, noisy in released.items()}
    return ReleaseDemo(
        vocabulary=vocabulary.terms,
        counts=counts,
        topics=true,
        again=match_topics(_topics(counts, topics, seed=2), true),
        released=released,
        matches={setting: match_topics(phi, true) for setting, phi in private.items()},
        private_topics=private,
    )


def _counted(community: SimulatedCommunity, vocabulary: Vocabulary) -> Counts:
    texts = community.background["text"].slice(0, DOCUMENTS)
    return checked_counts(sparse.vstack(list(count_batches(texts.chunks, vocabulary))))


def _released(counts: Counts, compression: str | None, epsilon: str) -> Counts:
    """Noisy counts as a reader would use them: shared out to words, negative ones dropped."""
    options: dict[str, Any] = {
        "compression": compression,
        "columns": COLUMNS,
        "prior": "central",
    }
    bag = PrivateBagOfWords(
        PRECISION, epsilon, random_state=1, decompress=True, **(options if compression else {})
    )
    return checked_counts(bag.fit_transform(counts))


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
    figure, (axes,) = new_panels(1, width=7.0, height=3.0)
    for method, colour in zip(METHODS, COLOURS, strict=False):
        scores = [demo.matches[method, epsilon].mean for epsilon in EPSILONS]
        axes.plot([float(e) for e in EPSILONS], scores, marker="o", color=colour, label=method)
    levels = {"true text, trained again": demo.again.mean, "chance": _chance(demo)}
    for (name, level), style in zip(levels.items(), ("--", ":"), strict=True):
        axes.axhline(level, color="grey", linestyle=style, label=name)
    axes.set(xlabel=f"epsilon (N = {PRECISION} words)", ylabel="topic Jaccard", ylim=(0, None))
    axes.legend(frameon=False)
    best = {
        method: f"{demo.matches[method, SHOWN_EPSILON].mean:.2f} with {method}"
        for method in METHODS
    }
    finding = (
        f"At epsilon {SHOWN_EPSILON} the topics keep a Jaccard of {' and '.join(best.values())}; "
        f"training again on the true text gives {demo.again.mean:.2f}, chance {_chance(demo):.2f}."
    )
    return Plot(figure, finding, f"Topic Jaccard against epsilon, a line a method. {finding}")


def _chance(demo: ReleaseDemo) -> float:
    return chance_jaccard(len(demo.vocabulary), len(demo.topics), draws=20)


def _topic_table(demo: ReleaseDemo) -> tuple[tuple[str, ...], ...]:
    """The best, middle and worst kept topics at the shown setting, before and after."""
    setting = (next(iter(METHODS)), SHOWN_EPSILON)
    match, private = demo.matches[setting], demo.private_topics[setting]
    places = np.linspace(0, match.jaccards.size - 1, 5).round().astype(int)
    rows = [("Jaccard", "topic of the true text", f"its match at epsilon {SHOWN_EPSILON}")]
    for place in places:
        before = _words(demo, demo.topics[match.true[place]])
        rows.append(
            (f"{match.jaccards[place]:.2f}", before, _words(demo, private[match.private[place]]))
        )
    return tuple(rows)


def _words(demo: ReleaseDemo, topic: Floats) -> str:
    top: Sequence[int] = top_words(topic[None, :], 6)[0].tolist()
    return ", ".join(demo.vocabulary[word] for word in top)


PEERS = ("ada", "ben", "cy", "dee")
CONCERNED, NOT = "concerned", "not concerned"
TRAINING = TrainingSettings(way="packed", key_bits=2048, penalty=0.1, held_out=0.25)
WORDS_FILE = "words.txt"
FEATURES = FeatureSettings(dictionary="given", words_file=WORDS_FILE)
_LEARN_INTRODUCTION = (
    "Four platforms each know a quarter of these people, and want one classifier that says who "
    "writes about something sensitive at all, say to offer help. None of them may show its posts "
    "to the others. They train together: each adds up numbers of its own texts, encrypts the "
    "sums and sends them to a coordinator, who adds what it cannot open; a key holder opens the "
    "total, and nothing but the total."
)
_PROCESSES = (
    "The six parties ran as processes of their own while this page was made, over mutual TLS, with "
    "certificates of an authority of their own. In the end every peer has the classifier and uses "
    "it by itself. What was right was counted on the quarter of its people that each peer had kept "
    "apart, and only the sum of the counts was opened. Which words make the features was settled "
    "while looking at such counts on these very people, so take the share that was right as an "
    "illustration, a little too good to be an estimate."
)
_TABLE = (
    "The table says who has learnt what, if everybody follows the protocol. Nobody has seen a post "
    "of somebody else's."
)


@dataclass(frozen=True)
class LearnDemo:
    """What the section says."""

    people: int
    words: int
    trained: Mapping[str, Any]
    evaluated: Mapping[str, Any]
    labels: Mapping[str, int]
    """How many of ada's people her own copy of the classifier calls what."""
    sent: list[Flow]

    @property
    def commonest(self) -> float:
        """How often who always says the commoner label is right."""
        counts = np.array(self.evaluated["counts"])
        return float(counts.sum(axis=1).max() / counts.sum())


def learn_section(community: SimulatedCommunity, *, command: str) -> Section:
    """The whole part of the report."""
    demo = run_learn_demo(community)
    trained, evaluated = demo.trained, demo.evaluated
    called = ", ".join(f"{count:,} {label}" for label, count in demo.labels.items())
    leakage = trained["leakage"]
    learns = [(row["who"], row["what"]) for row in leakage["learns"]]
    return Section(
        title="How four train one classifier and show nobody a text",
        paragraphs=(_LEARN_INTRODUCTION, _PROCESSES, _TABLE),
        facts={
            "Parties": f"{len(PEERS)} peers, a coordinator and a key holder, as processes",
            "People": f"{demo.people:,}, a quarter at each peer",
            "Words": f"{demo.words}, the public catalogue's on sensitive topics",
            "Right on people kept apart": f"{evaluated['accuracy']:.1%} of {evaluated['rows']:,}",
            "Who always says the commoner label": f"{demo.commonest:.1%}",
            "ada's own copy calls her people": called,
            "The training took": f"{trained['seconds']:.1f} s, {trained['rounds']} rounds",
            "Sent by all parties": size_in_words(total(demo.sent)),
        },
        plots=(architecture(demo.sent, PEERS),),
        table=(("who", "learns"), *learns, ("together", leakage["together"])),
        command=command,
    )


def run_learn_demo(community: SimulatedCommunity) -> LearnDemo:
    """Deal the people out, train, evaluate and classify between real processes."""
    documents = people_as_documents(community)
    places = np.arange(len(documents)) % len(PEERS)
    peers = {name: documents.part(places == at) for at, name in enumerate(PEERS)}
    with tempfile.TemporaryDirectory(prefix="sottovoce-") as folder:
        root = Path(folder) / "all"
        prepare(root, peers, SetupPlan(PEERS, TRAINING, features=FEATURES))
        words = "\n".join(community_words(community))
        (root / "coordinator" / WORDS_FILE).write_text(words, encoding="utf-8")
        with running_parties(root) as parties:
            sizes = len(documents), len(community_words(community))
            return _run(parties, sizes, root / PEERS[0] / "texts.csv")


def _run(parties: PartyProcesses, sizes: tuple[int, int], texts: Path) -> LearnDemo:
    trained = parties.asked("coordinator", do="train")
    parties.settle()
    sent = flows(parties)
    evaluated = parties.asked("coordinator", do="evaluate")
    called = parties.asked(PEERS[0], do="classify", file=str(texts))["labels"]
    return LearnDemo(*sizes, trained, evaluated, Counter(called), sent)


def community_words(community: SimulatedCommunity) -> list[str]:
    """The catalogue's single words on sensitive topics: public, since the catalogue is."""
    sensitive = set(community.parameters.sensitive_topics)
    words = (word for topic in community.topics if topic.name in sensitive for word in topic.words)
    return list(dict.fromkeys(word for word in words if " " not in word))


def people_as_documents(community: SimulatedCommunity) -> Documents:
    """Everybody's posts as one text, and whether some sensitive topic concerns her."""
    texts: dict[str, list[str]] = {}
    posts = community.posts
    for user, text in zip(posts["user"].to_pylist(), posts["text"].to_pylist(), strict=True):
        texts.setdefault(user, []).append(text)
    truth = community.truth
    concerned = {
        user
        for user, persona in zip(
            truth["user"].to_pylist(), truth["persona"].to_pylist(), strict=True
        )
        if persona not in (None, "bystander")
    }
    return Documents.of(
        [" ".join(each) for each in texts.values()],
        [CONCERNED if user in concerned else NOT for user in texts],
    )
