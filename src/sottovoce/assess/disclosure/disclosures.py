"""What posts say outright: one call for a text, a reader for many."""

from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache
from itertools import starmap
from typing import NamedTuple

from sottovoce.assess.disclosure._read import Index, ReaderKnowledge, read_post
from sottovoce.assess.disclosure._terms import CompiledTopic, compiled_topic, misspellings
from sottovoce.assess.disclosure._tokens import load_frames
from sottovoce.assess.disclosure._weighing import load_weights
from sottovoce.assess.disclosure.levels import Disclosure, DisclosureLevel
from sottovoce.corpus.words.rules import normal_form, normal_form_placed
from sottovoce.topics.catalogue import Catalogue
from sottovoce.topics.shipped.rules import rules_of, shipped_catalogue


class DisclosureReader:
    """Reads posts by the rules of a catalogue's topics; made once, used for many posts.

    A topic that ships with the package (by its name, or the paper's name for it) is read by its own
    rules; another one by its words, as things that one has: "my ...", "I have ...".

    >>> reader = DisclosureReader()
    >>> [each.topic for each in reader.read("I'm pregnant and I've told the dog.")]
    ['pregnancy']
    """

    def __init__(self, catalogue: Catalogue | None = None) -> None:
        chosen = shipped_catalogue() if catalogue is None else catalogue
        self._known = _knowledge(tuple((topic.name, topic.words) for topic in chosen))
        self.topics = self._known.topics

    def read(self, text: str) -> tuple[Disclosure, ...]:
        """What ``text`` says about each topic that it is about, in the catalogue's order."""
        if normal_form(text) == text:
            return tuple(read_post(text, self._known))
        composed, places = normal_form_placed(text)
        return tuple(_place_spans(each, places) for each in read_post(composed, self._known))

    def read_all(self, texts: Iterable[str]) -> Iterator[tuple[Disclosure, ...]]:
        """What each of ``texts`` says, in order."""
        return map(self.read, texts)


def _place_spans(found: Disclosure, places: Sequence[int]) -> Disclosure:
    """What was found in the composed text, by its places in the text as it was written."""
    spans = tuple((places[first], places[last]) for first, last in found.spans)
    return found._replace(spans=spans)


@lru_cache(maxsize=8)
def _knowledge(named: tuple[tuple[str, tuple[str, ...]], ...]) -> ReaderKnowledge:
    topics = tuple(starmap(_compile_topic, named))
    index: Index = {}
    for number, topic in enumerate(topics):
        for anchor, phrase, others in topic.anchors:
            index.setdefault(anchor, set()).add((number, phrase, others))
    known = {word for topic in topics for word in topic.words}
    single = {word for topic in topics for word in topic.single}
    misspelt = misspellings(single, known | load_frames().letter_of.keys())
    return ReaderKnowledge(topics, index, misspelt, load_weights())


@cache
def _compile_topic(name: str, words: tuple[str, ...]) -> CompiledTopic:
    return compiled_topic(name, words, rules_of(name))


@cache
def _load_shipped_reader() -> DisclosureReader:
    return DisclosureReader()


def disclosures(text: str, catalogue: Catalogue | None = None) -> tuple[Disclosure, ...]:
    """What a post says outright of its author, and what it is only about, topic by topic.

    It is for the author's own posts and drafts: see ``disclosure_counts`` for a community.

    >>> from sottovoce.assess.disclosure.disclosures import disclosures
    >>> [told] = disclosures("My depression came back after the move.")
    >>> told.topic, told.level.words
    ('depression', 'says it outright')
    >>> [told] = disclosures("My girlfriend gets panic attacks.")
    >>> told.topic, told.level.words
    ('anxiety', 'is about it')

    Args:
        text: the post.
        catalogue: the topics to look for; None takes the shipped ones.
    """
    reader = _load_shipped_reader() if catalogue is None else DisclosureReader(catalogue)
    return reader.read(text)


class TopicCounts(NamedTuple):
    """Of a community's posts, how many are about a topic, and how many say it outright.

    >>> TopicCounts("debt", about=3, outright=1).outright
    1
    """

    topic: str
    about: int
    """Posts that are about the topic, those that say it outright among them."""
    outright: int


def disclosure_counts(
    posts: Iterable[str], catalogue: Catalogue | None = None
) -> tuple[TopicCounts, ...]:
    """How many of a community's posts are about each topic, and how many say it outright.

    This is all there is of disclosure over a community: texts go in without their authors, counts
    come out. What a post says of its author is for that author, see ``disclosures``.

    >>> counts = disclosure_counts(["I'm in debt.", "Debt is rising.", "A walk by the sea."])
    >>> [count for count in counts if count.about]
    [TopicCounts(topic='debt', about=2, outright=1)]
    """
    reader = DisclosureReader(catalogue)
    about = dict.fromkeys((topic.name for topic in reader.topics), 0)
    outright = dict(about)
    for found in reader.read_all(posts):
        for told in found:
            about[told.topic] += 1
            outright[told.topic] += told.level is DisclosureLevel.OUTRIGHT
    return tuple(TopicCounts(name, about[name], outright[name]) for name in about)
