"""Reading background texts into the first-person space."""

from sottovoce.corpus.words.rules import TokenRules
from sottovoce.errors import CorpusError, ParameterError
from sottovoce.topics.background import MAX_TERMS, Texts, WordChoice, corpus_facts, text_arrays
from sottovoce.topics.model_file import Origin
from sottovoce.topics.voice._mentions import find_mentions
from sottovoce.topics.voice.model import VoiceModel
from sottovoce.topics.voice.parameters import VoiceParameters

MIN_TEXTS = 10


def voice_words(stem: str | None = None) -> WordChoice:
    """All words are read, function words too: they tell who speaks."""
    return WordChoice(TokenRules(shortest=1, stem=stem), None, MIN_TEXTS, MAX_TERMS)


def train_voice(
    texts: Texts,
    parameters: VoiceParameters | None = None,
    *,
    words: WordChoice | None = None,
    public: bool = True,
) -> VoiceModel:
    """The first-person space of background texts: two passes over them, no random choice.

    The model holds which words each text has; that is no more private than the texts, which are
    public unless ``public`` is False.

    >>> texts = ["i paid my debt", "the bank lends money"] * 10
    >>> train_voice(texts).name
    'voice'
    """
    parameters, words = parameters or VoiceParameters(), words or voice_words()
    if words.rules.bigrams:
        raise ParameterError("the first-person space knows words only: leave bigrams out.")
    vocabulary = words.chosen(texts, public=public)
    form = words.rules.former()
    mentions = find_mentions(
        text_arrays(texts),
        vocabulary,
        words.rules,
        first_person=[formed for word in parameters.first_person if (formed := form(word))],
        span=parameters.span,
    )
    if not mentions.near.any():
        raise CorpusError(
            "no background text holds a first-person word near another word, of these: "
            f"{', '.join(parameters.first_person)}; name those of the texts' language "
            "(--first-person ich,mich,mein; in Python VoiceParameters(first_person=...)), and "
            "keep them among the words that count."
        )
    origin = Origin(corpus_facts(texts), parameters.record(), {}, public)
    return VoiceModel(mentions, vocabulary, words.rules, origin, parameters)
