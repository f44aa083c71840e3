"""The demo's learn part: four holders of texts train one classifier, and keep the texts.

Then they count together how many people are concerned and by which words, nobody shown.

Four peers and a coordinator run as processes of this machine, by the same commands that anybody
would use on five machines.
"""

import tempfile
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sottovoce.corpus.simulate.community import SimulatedCommunity
from sottovoce.errors import InputError
from sottovoce.federation.config import FeatureSettings, TrainingSettings
from sottovoce.federation.party.control import PartyProcesses, prepare, running_parties
from sottovoce.federation.setup import SetupPlan
from sottovoce.learn.count.opened import TogetherCounts
from sottovoce.learn.documents import Documents
from sottovoce.report.page import Section

PEERS = ("ada", "ben", "cy", "dee")
CONCERNED, NOT = "concerned", "not concerned"
TRAINING = TrainingSettings(penalty=0.1, held_out=0.25)
WORDS_FILE = "words.txt"
FEWEST_PEOPLE = 100
FEATURES = FeatureSettings(dictionary="given", words_file=WORDS_FILE)
_TRAIN_TOGETHER = (
    "Four platforms each know a quarter of these people, and want one classifier that says who "
    "writes about something sensitive at all, say to offer help. None of them may show its posts "
    "to the others. They train together: each adds up numbers of its own texts, hides the "
    "sums under masks and sends them to a coordinator, who adds what it cannot read: the masks "
    "cancel in the total, and only there. Out of such totals, of few words over many people, our "
    "own attacks read no long document; that was measured on other texts, and is no proof."
)
_PROCESSES = (
    "The five parties ran as processes of their own while this page was made, over mutual TLS, "
    "with certificates of an authority of their own. In the end every peer has the classifier and "
    "uses it by itself. What was right was counted on the quarter of its people that each peer "
    "had kept apart, and only the sum of the counts was opened. Which words make the features was "
    "settled while looking at such counts on these very people, so take the share that was right "
    "as an illustration, a little too good to be an estimate."
)
_TABLE = (
    "The table begins with what each party has learnt by following the protocol; the rows after "
    "that say what those would gain who do not: who join, who lie or who come back from a backup. "
    "The last row is about parties who put together what they know. No post was sent to anybody."
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
    sent: int
    """Bytes, by all parties."""
    count: "CountDemo | None" = None
    """What they counted together; None: nothing."""

    @property
    def commonest(self) -> float:
        """How often who always says the commoner label is right."""
        counts = np.array(self.evaluated["counts"])
        return float(counts.sum(axis=1).max() / counts.sum())


def make_sections(community: SimulatedCommunity, command: str) -> tuple[Section, ...]:
    """The whole part of the report."""
    demo = run_learn_demo(community)
    trained, evaluated = demo.trained, demo.evaluated
    called = ", ".join(f"{count:,} {label}" for label, count in demo.labels.items())
    leakage = trained["leakage"]
    told = [*leakage["learns"], *leakage["against"]]
    learns = [(row["who"], row["what"]) for row in told]
    section = Section(
        title="How four train one classifier and keep their texts",
        paragraphs=(_TRAIN_TOGETHER, _PROCESSES, _TABLE),
        facts={
            "Parties": f"{len(PEERS)} peers and a coordinator, as processes",
            "People": f"{demo.people:,}, a quarter at each peer",
            "Words": f"{demo.words}, the public catalogue's on sensitive topics",
            "Right on people kept apart": f"{evaluated['accuracy']:.1%} of {evaluated['rows']:,}",
            "Who always says the commoner label": f"{demo.commonest:.1%}",
            "ada's own copy calls her people": called,
            "The training took": f"{trained['seconds']:.1f} s, {trained['rounds']} rounds",
            "Sent by all parties": f"{demo.sent / 1000:,.1f} kB",
        },
        table=(("who", "learns"), *learns, ("together", leakage["together"])),
        command=command,
        parts=() if demo.count is None else (count_section(demo.count),),
    )
    return (section,)


def run_learn_demo(community: SimulatedCommunity) -> LearnDemo:
    """Deal the people out, train, evaluate and classify between real processes."""
    documents = people_as_documents(community)
    if len(documents) < FEWEST_PEOPLE:
        raise InputError(
            f"four platforms need at least {FEWEST_PEOPLE} people in all, got {len(documents)}: of "
            "fewer, too few use any one word for its sum to be opened. Run sottovoce demo --users "
            "with more."
        )
    places = np.arange(len(documents)) % len(PEERS)
    peers = {name: documents.part(places == at) for at, name in enumerate(PEERS)}
    with tempfile.TemporaryDirectory(prefix="sottovoce-") as folder:
        root = Path(folder) / "all"
        counted_by = {"labels": sorted(set(documents.labels or ()))}
        prepare(root, peers, SetupPlan(PEERS, TRAINING, FEATURES, count_with=counted_by))
        words = "\n".join(community_words(community))
        (root / "coordinator" / WORDS_FILE).write_text(words, encoding="utf-8")
        with running_parties(root) as parties:
            return _run(parties, documents, root)


def _run(parties: PartyProcesses, documents: Documents, root: Path) -> LearnDemo:
    words, texts = root / "coordinator" / WORDS_FILE, root / PEERS[0] / "texts.csv"
    trained = parties.ask("coordinator", do="train")
    parties.settle()
    sent = sum(
        line["bytes"]
        for name in parties.processes
        for line in parties.ask(name, do="transcript")
        if line["sender"] == name
    )
    evaluated = parties.ask("coordinator", do="evaluate")
    called = parties.ask(PEERS[0], do="classify", file=str(texts))["labels"]
    parties.settle()
    counted = run_count_demo(parties, words, Counter(documents.labels))
    sizes = len(documents), len(counted.counted.words)
    return LearnDemo(*sizes, trained, evaluated, Counter(called), sent, counted)


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
    return Documents.from_texts(
        [" ".join(each) for each in texts.values()],
        [CONCERNED if user in concerned else NOT for user in texts],
    )


EPSILON, VOTES = 1, 4
LEVEL = 0.95
_WORDS_SHOWN = 8
_INTRODUCTION = (
    "The classifier was learnt from exact sums over all people, which promise nothing: who knows "
    "all people but one can subtract. Here the same four platforms ask something simpler and hide "
    "everybody whole: how many people does something sensitive concern, and which words of the "
    "public list do they use? All that somebody wrote is one document; it has a vote for itself "
    "and for a few of its listed words. Each platform adds up its votes and its share of the "
    "noise, and only the sum of all four is opened."
)
_READING = (
    "A cell of the table is a sum with noise, and behind it stands where the votes lie, 95% of the "
    "time, by the known law of the noise. A word has fewer votes than people who use it, as nobody "
    "has more than a few; where the interval begins at 0, the noise could have made the number, "
    "and a number below 0 is noise. "
    "The words are those that the concerned vote for most beyond the others; of numbers that are "
    "picked for their size some owe it to the noise. How many people there are in truth only "
    "this page knows, which made them up: no platform told another."
)


@dataclass(frozen=True)
class CountDemo:
    """What the section says."""

    counted: TogetherCounts
    done: Mapping[str, Any]
    truth: Mapping[str, int]
    """How many people have each label; nobody is told."""


def run_count_demo(parties: PartyProcesses, words: Path, truth: Mapping[str, int]) -> CountDemo:
    """Count the words of a file by label, between parties that run."""
    done = parties.ask(
        "coordinator",
        do="count",
        words_file=str(words),
        epsilon=str(EPSILON),
        votes=VOTES,
        labels=sorted(truth),
    )
    return CountDemo(TogetherCounts.from_bytes(bytes.fromhex(done["counted"])), done, truth)


def count_section(demo: CountDemo) -> Section:
    """What the learn part of the report says of it."""
    counted, leakage = demo.counted, demo.done["leakage"]
    margin = counted.margin(LEVEL)
    learns = {f"{row['who']} learns".capitalize(): row["what"] for row in leakage["learns"]}
    truth = ", ".join(f"{number:,} {label}" for label, number in sorted(demo.truth.items()))
    return Section(
        title="What four count together, everybody hidden whole",
        paragraphs=(_INTRODUCTION, f"What is promised: {counted.guarantee.in_words()}", _READING),
        facts={
            "Epsilon of a whole document": f"{EPSILON}, for all of this table",
            "Votes of a document": f"at most {VOTES}, one of them for itself",
            "The noise of a number": f"within ±{margin}, {LEVEL:.0%} of the time",
            "People in truth": truth,
            "The count took": f"{demo.done['seconds']:.1f} s",
            **learns,
            "Together": leakage["together"],
        },
        table=(
            ("votes for", *counted.labels),
            ("people themselves", *_cells(counted.document_totals.tolist(), margin)),
            *(
                (counted.words[at], *_cells(counted.word_totals[:, at].tolist(), margin))
                for at in _telling(counted)
            ),
        ),
    )


def _telling(counted: TogetherCounts) -> list[int]:
    """The words that documents of the first label vote for oftener than the others, most first."""
    shares = np.maximum(counted.word_totals, 0) / np.maximum(counted.document_totals, 1)[:, None]
    order = (shares[1] - shares[0]).argsort(kind="stable")
    return [int(at) for at in order[:_WORDS_SHOWN]]


def _cells(totals: list[int], margin: int) -> list[str]:
    return [
        f"{total:,} ({max(0, total - margin):,} to {max(0, total + margin):,})" for total in totals
    ]
