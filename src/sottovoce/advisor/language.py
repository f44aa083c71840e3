"""Whether one person's posts are in English, as the built-in topics and the reading of posts are.

What is written in another language is not found, and that nothing was found must not comfort.
"""

import re
from collections.abc import Sequence

from sottovoce.corpus.everyday import SHARE
from sottovoce.corpus.words.rules import ENGLISH

FEWEST_WORDS = 15
"""Fewer do not tell. Of 1,667 posts of ours in English with so many, none seems foreign."""
_FUNCTION_WORDS = ENGLISH | {"a", "i"}
# A letter that is not Latin counts as a word: not all scripts leave gaps between words.
_WORD = re.compile(r"[^\W\u0000-\u024f]|\w+")
_BUILT_IN = (
    "The built-in topics are, and so is the reading of what a post says outright: what is written "
    "in another language is not found. That no word was found here says nothing."
)
_GIVEN = (
    "What a post says outright is read in English only. That nothing was found to say it outright "
    "says nothing."
)


def seems_foreign(texts: Sequence[str]) -> bool:
    """Whether so few are function words of English that it is another language.

    Fewer than ``FEWEST_WORDS`` words do not tell.

    >>> seems_foreign(["Ich habe Depressionen und nehme Tabletten."] * 3)
    True
    >>> seems_foreign(["Relapse, heroin, detox."]), seems_foreign(["I went to the sea again."] * 9)
    (False, False)
    """
    words = [word for text in texts for word in _WORD.findall(text.casefold())]
    known = sum(word in _FUNCTION_WORDS for word in words)
    return len(words) >= FEWEST_WORDS and known < SHARE * len(words)


def posts_warning(texts: Sequence[str], *, built_in: bool) -> str | None:
    """What to say above a verdict; ``built_in``: by the built-in topics. None for English."""
    if seems_foreign(texts):
        return _warning("These posts do not seem", built_in=built_in)
    foreign = sum(seems_foreign([text]) for text in texts)
    if not foreign:
        return None
    seem = "post does not seem" if foreign == 1 else "posts do not seem"
    return _warning(f"Of your {len(texts):,} posts, {foreign:,} {seem}", built_in=built_in)


def draft_warning(text: str, *, built_in: bool) -> str | None:
    """The same of a draft."""
    return _warning("The draft does not seem", built_in=built_in) if seems_foreign([text]) else None


def _warning(which: str, *, built_in: bool) -> str:
    return f"{which} to be in English. {_BUILT_IN if built_in else _GIVEN}"
