"""The sentences by which troubleshooting is sorted."""

import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "troubleshooting.md"
_ENTRY = re.compile(r"^(`[^`\n]+`(?:, `[^`\n]+`)*)\n: ", re.MULTILINE)
_STANDS_FOR_SOMETHING = re.compile(r"\b[A-Z]{4,}\b|(?<![A-Z-])\b[EN]\b")


def sentences() -> list[str]:
    """As the page has them, with FILE or N where each reader sees something else."""
    page = PAGE.read_text(encoding="utf-8")
    return [each for entry in _ENTRY.findall(page) for each in re.findall(r"`([^`]+)`", entry)]


def parts(sentence: str) -> list[str]:
    """What everybody sees of a sentence."""
    if sentence.startswith("WARNING"):
        return [sentence]
    return [each for each in map(str.strip, _STANDS_FOR_SOMETHING.split(sentence)) if len(each) > 1]
