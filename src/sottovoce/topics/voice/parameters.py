"""Who speaks in background texts, and which words only hold sentences together."""

from dataclasses import asdict, dataclass
from typing import Any

from sottovoce.corpus.words.characters import fold_case
from sottovoce.corpus.words.rules import ENGLISH
from sottovoce.errors import ParameterError

FIRST_PERSON = ("i", "me", "mine", "my", "myself")
SECOND_PERSON = ("you", "your", "yours", "yourself", "yourselves")
# What is left of "isn't" or "I'd" when words end at the apostrophe, and as it is typed without.
_PIECES = """
    a ain aren cant couldn d didn didnt doesn doesnt don dont hadn hasn haven i im isn ive m o s
    shouldn t u wasn weren won wont wouldn
    """
FUNCTION_WORDS = ENGLISH | frozenset(_PIECES.split())


@dataclass(frozen=True)
class VoiceParameters:
    """Who speaks, how near a mention is, and which words are no evidence.

    >>> VoiceParameters(first_person=("ich", "mein")).span
    5
    """

    first_person: tuple[str, ...] = FIRST_PERSON
    span: int = 5
    """A word is near a first-person word when at most so many words apart."""
    second_person: tuple[str, ...] = SECOND_PERSON
    """Who speaks to others uses these; ``voice-s`` and ``voice-st`` weigh them."""
    function_words: frozenset[str] = FUNCTION_WORDS
    """Words that hold sentences together: no evidence for any topic, nor are the persons."""

    def __post_init__(self) -> None:
        if self.span < 1:
            raise ParameterError(f"span must be >= 1, got {self.span}.")
        if not self.first_person:
            raise ParameterError("first_person must name at least 1 word, got none.")
        for name in ("first_person", "second_person"):
            words = tuple(fold_case(word.strip()) for word in getattr(self, name))
            if not all(words):
                raise ParameterError(f"{name} must name words, got an empty one.")
            object.__setattr__(self, name, words)
        dropped = frozenset(map(fold_case, self.function_words))
        object.__setattr__(self, "function_words", dropped)

    @property
    def without_evidence(self) -> frozenset[str]:
        """The words that speak for no topic."""
        return self.function_words | {*self.first_person, *self.second_person}

    def record(self) -> dict[str, Any]:
        """As JSON can hold it."""
        lists = {name: list(getattr(self, name)) for name in ("first_person", "second_person")}
        return {**asdict(self), **lists, "function_words": sorted(self.function_words)}
