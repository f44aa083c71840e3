"""Documents cut into sentences, by a rule that fits in one line."""

import re

# After a mark that ends a sentence and the space behind it, or at a line's end.
_ENDS = re.compile(r"(?<=[.!?\u2026\u3002\uff01\uff1f])\s+|[\r\n]+")


def sentences(text: str) -> list[str]:
    """The sentences of a text: they end with . ! ? or the like before a space, or with a line.

    Abbreviations end a sentence too: the rule knows no language. Parts without a character but
    space are left out.
    """
    return [part.strip() for part in _ENDS.split(text) if part.strip()]
