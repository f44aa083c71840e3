"""What a post says of its author is told from what it is only about."""

import time

import pytest

from sottovoce.assess.disclosure.disclosures import DisclosureReader, disclosure_counts, disclosures
from sottovoce.assess.disclosure.levels import Disclosure, DisclosureLevel
from sottovoce.topics import Catalogue, Topic

OUTRIGHT = {
    "I'm HIV positive and terrified": "HIV and sexual health",
    "my therapist says the depression is back": "depression",
    "craving heroin so bad tonight": "drug addiction",
    "Diagnosed with lupus last week, no idea what happens now.": "chronic illness and disability",
    "Autistic, epileptic, and very good at jigsaws.": "chronic illness and disability",
    "I have never once regretted telling people I'm gay.": "sexuality",
    "I used to be a nun.": "religion",
    "As a lifelong Labour voter I despair": "politics",
    "Can they dock my pay? I'm in the teachers' union and we strike on Friday.": "trade union",
    "I cant stop drinking": "alcohol",
    "im pregant and scared": "pregnancy",
    "My husband hits me.": "domestic violence",
    "two years today #soberlife": "alcohol",
    "If I weren't in a wheelchair I'd have jumped that counter.": "chronic illness and disability",
    "Got the word today: depression, moderate to severe.": "depression",
    "Nobody tells you that recovery from coke is dull. I sort my spices.": "drug addiction",
    "Am I the only one who gets panic attacks afterwards?": "anxiety",
    "My emetophobia means no boats.": "anxiety",
    "certified enby gremlin here": "gender identity",
    'I told them "I\'m bipolar" and they laughed': "depression",
}
ABOUT = {
    "My sister's depression got worse and I felt useless": ("depression", ""),
    "I'm not pregnant, I just like dungarees": ("pregnancy", "negation"),
    "If I had cancer I wouldn't want anyone to call me brave": ("cancer", "hypothetical"),
    "Do I have OCD?": ("anxiety", "question"),
    "I don't have lupus, whatever he says": ("chronic illness and disability", "negation"),
    "My mum thinks I'm gay": ("sexuality", "third person"),
    "I'm forever in your debt for that": ("debt", ""),
    "I work with people who have HIV": ("HIV and sexual health", ""),
    "> I'm depressed and nobody cares\nI care. Write to me.": ("depression", ""),
    '"I am an immigrant," the sign in the bakery says.': ("ethnicity and migration", ""),
    "The union announced more strikes.": ("trade union", ""),
    "Our oncology ward needs volunteers to read to patients.": ("cancer", "work"),
    "As a driving examiner I see a dozen panic attacks a month.": ("anxiety", ""),
    "My advice for anxiety: write the worry down.": ("anxiety", ""),
    "My sat nav has transitioned from bossy to rude.": ("gender identity", ""),
    "I know that ward by its biscuits. It's mum's cancer though, never mine.": ("cancer", ""),
    "New pan, new life.": ("sexuality", ""),
    "I'm basically an alcoholic, I had two shandies.": ("alcohol", "joke"),
    "I've barred four alcoholics in thirty years.": ("alcohol", ""),
}


def told(text: str, topic: str) -> Disclosure | None:
    return next((each for each in disclosures(text) if each.topic == topic), None)


@pytest.mark.parametrize(("text", "topic"), OUTRIGHT.items())
def test_a_post_that_says_it_of_its_author_says_it_outright(text: str, topic: str) -> None:
    found = told(text, topic)
    assert found is not None
    assert found.level is DisclosureLevel.OUTRIGHT


@pytest.mark.parametrize(("text", "expected"), ABOUT.items())
def test_a_post_about_others_or_about_nothing_real_is_only_about_it(
    text: str, expected: tuple[str, str]
) -> None:
    topic, why = expected
    found = told(text, topic)
    assert found is not None
    assert found.level is DisclosureLevel.ABOUT
    assert not why or found.rule == why


def test_a_post_about_nothing_of_it_tells_no_topic() -> None:
    assert disclosures("We walked by the river and had a sandwich.") == ()
    assert disclosures("") == ()


def test_the_telling_words_are_where_the_spans_say() -> None:
    text = "Well… it’s done. My depression came back after the move, İzmir was lovely."
    found = told(text, "depression")
    assert found is not None
    assert [text[first:last] for first, last in found.spans] == ["My depression"]
    about = told("Depression rates rose, and depression is costly.", "depression")
    assert about is not None
    assert about.spans == ((0, 10), (27, 37))


def test_topics_of_another_catalogue_are_read_by_their_words_or_by_the_papers_name() -> None:
    catalogue = Catalogue(
        (Topic("gout", ("gout", "uric acid"), "health"), Topic("hiv", ("hiv",), "health"))
    )
    reader = DisclosureReader(catalogue)
    levels = [
        [each.level for each in reader.read(text)]
        for text in ("I have gout.", "Gout is a disease of kings.", "I'm HIV positive.")
    ]
    assert levels == [
        [DisclosureLevel.OUTRIGHT],
        [DisclosureLevel.ABOUT],
        [DisclosureLevel.OUTRIGHT],
    ]


def test_a_community_is_told_as_counts_without_a_name() -> None:
    texts = ["I'm in debt.", "My son is in debt.", "I'm pregnant.", "A walk by the sea."]
    counts = {count.topic: count[1:] for count in disclosure_counts(texts)}
    assert (counts["debt"], counts["pregnancy"], counts["cancer"]) == ((2, 1), (1, 1), (0, 0))
    assert len(counts) == 22


def test_every_phrase_that_ships_is_a_valid_expression() -> None:
    """They are compiled when a post first has their words: a wrong one would fail at a user's."""
    phrases = [
        phrase
        for topic in DisclosureReader().topics
        for phrase in (*topic.phrases, *topic.harmless, *topic.denials)
    ]
    assert len(phrases) > 2000
    assert all(phrase.pattern.flags for phrase in phrases)


def test_a_post_takes_well_under_a_millisecond() -> None:
    reader = DisclosureReader()
    texts = [
        f"{text} And then we walked home by the river, number {n}."
        for n, text in enumerate(OUTRIGHT)
    ]
    reader.read(texts[0])
    began = time.process_time()
    for text in texts * 5:
        reader.read(text)
    assert (time.process_time() - began) / (len(texts) * 5) < 0.003
