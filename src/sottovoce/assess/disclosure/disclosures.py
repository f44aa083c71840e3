"""What posts say outright: one call for a text, a reader for many."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import starmap
from typing import NamedTuple, TypeAlias

from sottovoce.assess.disclosure._context import AUTHOR, SentenceReading
from sottovoce.assess.disclosure._inferred import fragments, infer_matches
from sottovoce.assess.disclosure._post import ROLE_LETTERS, Marked, ReadPost, RuleMatch, works_with
from sottovoce.assess.disclosure._said import (
    FEWEST_CLUES,
    Signals,
    Weights,
    ends_unsure,
    frames,
    harmless_spans,
    has_any,
    load_weights,
    phrases_in,
    signals_of,
    telling,
)
from sottovoce.assess.disclosure._terms import TERM, CompiledTopic, compile_topic, misspellings
from sottovoce.assess.disclosure._tokens import load_frames, lower_words, own_tags, words_of
from sottovoce.assess.disclosure.levels import Disclosure, DisclosureLevel
from sottovoce.corpus.words.rules import normal_form, normal_form_placed
from sottovoce.topics.catalogue import Catalogue
from sottovoce.topics.shipped.rules import rules_of, shipped_catalogue

TOGETHER = "together"
"""The rule of what no single rule finds."""

# Rules that a denial elsewhere in the post outweighs.
_WEAK = frozenset(
    ("near", "sign", "leads", "with me", "alone", "with a verb", "subjectless", "taken", "done")
)
# Reasons that nothing outweighs.
_VETOES = frozenset(("negation", "metaphor", "joke", "work", "fiction"))
# Rules that may use terms with an everyday meaning.
_NAMES_AUTHOR = frozenset(
    (
        *("is", "has been", "became", "used to be", "as", "speaks as", "here", "me, that is"),
        *("my own", "my", "has", "got", "diagnosed", "suffers", "fellow", "like us", "grew up"),
        *("fellows", "tag", "in", "a part of oneself", "glad to be", "numbered who"),
        *("as someone", "from one"),
    )
)
# Any fear has its Greek name; dislikes of others have one, too.
_A_PHOBIA = "agoraphobia"
_DISLIKES = (
    *("homo", "trans", "islamo", "xeno", "bi", "fat", "negro", "judeo", "queer", "franco"),
    "anglo",
)
Span: TypeAlias = tuple[int, int]
Found: TypeAlias = list[tuple[SentenceReading, RuleMatch]]
Index: TypeAlias = dict[str, set[tuple[int, int, tuple[frozenset[str], ...]]]]
"""By a word: a topic, which of its phrases (or ``TERM``), and what else a post must have for it."""
# Words that a post may hold within others: "I'm", "don't".
_WRITTEN_OUT = frozenset(
    """
    i am is are have had would will not and can do did does was were could should has us to want
    got going positive he she they you we it that who what there here 's must let
    """.split()  # noqa: SIM905 - a list of fifty lines otherwise
)


class ReaderKnowledge(NamedTuple):
    """What a reader knows: topics, where to look for them, how words are misspelt, weights."""

    topics: Sequence[CompiledTopic]
    where: Index
    misspelt: Mapping[str, str]
    weights: Weights


def read_post(text: str, known: ReaderKnowledge) -> Iterator[Disclosure]:
    """What ``text`` says about each topic that it is about."""
    post, met = _prepare_post(text, known)
    for number, parts in sorted(met.items()):
        told = _of_topic(post, known.topics[number], parts, known.weights)
        if told is not None:
            yield told


def signals_in(text: str, number: int, known: ReaderKnowledge) -> Signals:
    """What speaks for or against a topic in a post, by which the weights are learned."""
    post, _ = _prepare_post(text, known)
    topic = known.topics[number]
    post.has_terms = True
    said, refused = _by_rules(post, topic, ())
    return signals_of(post, topic, (each for _, each in (*said, *refused)))


def _prepare_post(text: str, known: ReaderKnowledge) -> tuple[ReadPost, dict[int, set[int]]]:
    """The post made ready, and of which topics it may have what."""
    low = lower_words(text)
    words = set(words_of(low))
    mended = {wrong: known.misspelt[wrong] for wrong in known.misspelt.keys() & words}
    if "#" in low:
        mended |= own_tags(low)
    mended |= {word: _A_PHOBIA for word in words if word.endswith("phobia") and _is_fear(word)}
    words.update(word for meant in mended.values() for word in meant.split(" "))
    found = known.where.keys() & words
    return ReadPost(low, text, mended), _met_topics(found, words, known.where)


def _is_fear(word: str) -> bool:
    """Whether a word that ends like "agoraphobia" names a fear, and no dislike of others."""
    return not word.startswith(_DISLIKES)


def _met_topics(found: set[str], words: set[str], index: Index) -> dict[int, set[int]]:
    """The topics of which a post may have a term or phrase, by its words alone; which phrases."""
    words |= _WRITTEN_OUT
    met: dict[int, set[int]] = {}
    for word in found:
        for number, phrase, others in index[word]:
            for need in others:
                if need.isdisjoint(words):
                    break
            else:
                met.setdefault(number, set()).add(phrase)
    return met


def _of_topic(
    post: ReadPost, topic: CompiledTopic, met: set[int], weights: Weights
) -> Disclosure | None:
    """What the post says of a topic, of which it may have ``met``: terms, phrases, clues."""
    post.has_terms = TERM in met
    phrases = [each for each in sorted(met) if each >= 0 and post.has(topic.phrases[each])]
    clues = sum(each < TERM for each in met)
    if not (phrases or clues >= FEWEST_CLUES or _has_terms(post, topic)):
        return None
    said, refused = _by_rules(post, topic, phrases)
    told = _outright(post, topic, said, refused)
    if told is None:
        told = _weigh_post(post, topic, (*said, *refused), weights)
    return told or _about(post, topic, refused)


def _has_terms(post: ReadPost, topic: CompiledTopic) -> bool:
    """Whether it has a term of the topic, if only in what it quotes."""
    return post.has_terms and any(post.mark(each, topic).terms for each in post.all_readings)


def _by_rules(post: ReadPost, topic: CompiledTopic, phrases: Sequence[int]) -> tuple[Found, Found]:
    """What rules find in a post, which has some of the topic's ``phrases``; what they refuse."""
    post.professional = post.has_profession or any(
        works_with(reading, post.mark(reading, topic).terms) for reading in post.readings
    )
    said: Found = []
    refused: Found = []
    for place, reading in enumerate(post.readings):
        found = list(_findings(post, topic, phrases, place, reading))
        if any(not each.refused for each in found):
            spans = harmless_spans(topic.harmless, reading)
            found = [_told_apart(reading, spans, each) for each in found]
        said += [(reading, each) for each in found if not each.refused]
        refused += [(reading, each) for each in found if each.refused]
    return said, refused


def _weigh_post(
    post: ReadPost,
    topic: CompiledTopic,
    found: Sequence[tuple[SentenceReading, RuleMatch]],
    weights: Weights,
) -> Disclosure | None:
    """That it is outright by everything together, where no rule says so and nothing denies it."""
    if not topic.hints or post.anothers or any(each.refused in _VETOES for _, each in found):
        return None
    if any(has_any(topic.denials, reading) for reading in post.readings):
        return None
    if not (post.own or post.casual):
        return None
    signals = signals_of(post, topic, (each for _, each in found))
    if not weights.enough(signals, named=bool(found)):
        return None
    spans = [
        _span(reading, words)
        for reading in post.readings
        for words in telling(reading, post.mark(reading, topic), topic)
    ]
    spans += [_span(reading, (each.first, each.last)) for reading, each in found]
    return Disclosure(topic.name, DisclosureLevel.OUTRIGHT, _merge_spans(spans), TOGETHER)


def _told_apart(
    reading: SentenceReading, spans: list[tuple[int, int]], match: RuleMatch
) -> RuleMatch:
    """The match, refused if harmless words stand in its clause."""
    words = reading.sentence.words
    for first, last in spans:
        between = words[min(last, match.last) : max(first, match.first)]
        if not match.refused and "," not in between:
            return match._replace(refused="metaphor")
    return match


def _outright(
    post: ReadPost, topic: CompiledTopic, said: Found, refused: Found
) -> Disclosure | None:
    """What is said, unless the post denies it."""
    if any(finding.refused == "negation" for _, finding in refused):
        said = [each for each in said if each[1].rule not in _WEAK]
    if not said:
        return None
    if post.anothers:
        refused[:0] = [(reading, each._replace(refused="third person")) for reading, each in said]
        return None
    denied = [reading for reading in post.readings if has_any(topic.denials, reading)]
    if denied and not any(_stands(reading, each, denied) for reading, each in said):
        refused.insert(0, (denied[0], said[0][1]._replace(refused="negation")))
        return None
    return Disclosure(topic.name, DisclosureLevel.OUTRIGHT, _collect_spans(said), said[0][1].rule)


def _stands(reading: SentenceReading, match: RuleMatch, denied: list[SentenceReading]) -> bool:
    """Whether a match is the author's own word in a sentence of its own, beside a denial."""
    return reading not in denied and reading.letters[match.first] == AUTHOR


def _about(post: ReadPost, topic: CompiledTopic, refused: Found) -> Disclosure | None:
    spans = [
        _span(reading, words)
        for reading in post.all_readings
        for words in post.mark(reading, topic).terms
    ]
    told = _merge_spans(spans) or _collect_spans(refused)
    why = refused[0][1].refused if refused else ""
    return Disclosure(topic.name, DisclosureLevel.ABOUT, told, why) if told else None


def _collect_spans(findings: Iterable[tuple[SentenceReading, RuleMatch]]) -> tuple[Span, ...]:
    return _merge_spans(_span(reading, (each.first, each.last)) for reading, each in findings)


def _merge_spans(spans: Iterable[Span]) -> tuple[Span, ...]:
    """Spans in order, those that overlap as one."""
    merged: list[Span] = []
    for first, last in sorted(set(spans)):
        if merged and first < merged[-1][1]:
            merged[-1] = merged[-1][0], max(last, merged[-1][1])
        else:
            merged.append((first, last))
    return tuple(merged)


def _span(reading: SentenceReading, words: tuple[int, int]) -> Span:
    """Where words of a sentence stand in the text."""
    spans = reading.sentence.spans
    last = min(words[1], len(spans))
    return spans[min(words[0], last - 1)][0], spans[last - 1][1]


def _findings(
    post: ReadPost,
    topic: CompiledTopic,
    phrases: Sequence[int],
    place: int,
    reading: SentenceReading,
) -> Iterator[RuleMatch]:
    for number in phrases:
        yield from phrases_in(post, topic.phrases[number], reading)
    marked = post.mark(reading, topic)
    if not ROLE_LETTERS.isdisjoint(marked.letters):
        for each in _by_terms(post, topic, marked, place, reading):
            unsure = each.rule not in _NAMES_AUTHOR and ends_unsure(topic, marked, each, reading)
            yield each._replace(refused=each.refused or "unsure") if unsure else each


def _by_terms(
    post: ReadPost, topic: CompiledTopic, marked: Marked, place: int, reading: SentenceReading
) -> Iterator[RuleMatch]:
    yield from frames(post, marked, reading)
    yield from fragments(post, marked, place, reading)
    yield from infer_matches(post, topic, marked, place, reading)


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
    return compile_topic(name, words, rules_of(name))


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
