"""Commands that pages show in blocks ``console``, or in blocks without a language."""

import re
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"
PAGES = sorted(path for path in DOCS.rglob("*.md") if "_build" not in path.parts)
_BLOCK = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_TYPED = re.compile(r"^(?:\S*\$ )?sottovoce (.+)$", re.MULTILINE)


def blocks(page: Path) -> list[tuple[str, str]]:
    """All blocks of a page, each with its language."""
    return _BLOCK.findall(page.read_text(encoding="utf-8"))


def blocks_in(page: Path, language: str) -> list[str]:
    """The blocks of one language."""
    return [text for kind, text in blocks(page) if kind == language]


def shown(page: str, kinds: frozenset[str] = frozenset({"console", ""})) -> list[str]:
    """Lines of our commands that a page of ``docs`` shows, those that go on in the next as one."""
    texts = [text for kind, text in blocks(DOCS / page) if kind in kinds]
    return [line for text in texts for line in _TYPED.findall(text.replace("\\\n", " "))]
