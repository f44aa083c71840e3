"""Reading background texts into the first-person space."""

from dataclasses import asdict, dataclass

from sottovoce.corpus.words._rules import TokenRules
from sottovoce.errors import CorpusError, ParameterError
from sottovoce.topics._background import MAX_TERMS, Texts, WordChoice, corpus_facts, text_arrays
from sottovoce.topics._model_file import Origin
from sottovoce.topics.voice._mentions import find_mentions
from sottovoce.topics.voice._model import VoiceModel

FIRST_PERSON = ("i", "me", "mine", "my", "myself")
MIN_TEXTS = 10


@dataclass(frozen=True)
class VoiceParameters:
    """Who speaks, and how near a mention is.

    >>> VoiceParameters(first_person=("ich", "mein")).span
    5
    """

    first_person: tuple[str, ...] = FIRST_PERSON
    span: int = 5
    """A word is near a first-person word when at most so many words apart."""

    def __post_init__(self) -> None:
        if self.span < 1:
            raise ParameterError(f"span must be >= 1, got {self.span}.")
        if not self.first_person:
            raise ParameterError("first_person must name at least 1 word, got none.")


def voice_words(stem: str | None = None) -> WordChoice:
    """All words count, function words too: they tell who speaks."""
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
            "no background text holds a first-person word of the parameters near another word; "
            "keep function words, or name the first person of the texts' language."
        )
    parameters_kept = {**asdict(parameters), "first_person": list(parameters.first_person)}
    origin = Origin(corpus_facts(texts), parameters_kept, {}, public)
    return VoiceModel(mentions, vocabulary, words.rules, origin)
