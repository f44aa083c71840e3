"""How much an embedding file may ask of us."""

from sottovoce.errors import InputError

LONGEST_WORD = 1_000
LONGEST_LINE = 200_000
MOST_DIMENSIONS = 4_096
MOST_WORDS = 20_000_000
MOST_NUMBERS_KEPT = 2**29  # 2 GiB of 32-bit numbers


class EmbeddingError(InputError):
    """A file of word vectors is unusable."""


def checked_header(words: int, dimensions: int) -> None:
    """Refuse a header that promises more than we read."""
    if not 1 <= dimensions <= MOST_DIMENSIONS:
        raise EmbeddingError(
            f"an embedding must have 1 to {MOST_DIMENSIONS} dimensions, got {dimensions}."
        )
    if not 1 <= words <= MOST_WORDS:
        raise EmbeddingError(f"an embedding must hold 1 to {MOST_WORDS} words, got {words}.")


def checked_size(kept: int, dimensions: int) -> None:
    """Refuse to keep more vectors than memory should hold."""
    if kept * dimensions > MOST_NUMBERS_KEPT:
        raise EmbeddingError(
            f"an embedding must keep at most {MOST_NUMBERS_KEPT} numbers, got more; "
            "pass the vocabulary, so that only its words are kept."
        )
