"""What waits for a person's approval at a party, and what has it: two small files in its store.

The party writes what it was asked and has refused; `learn approve` writes what somebody approves:
those very terms, by their whole SHA-256, in whatever run.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sottovoce.errors import InputError
from sottovoce.files import small_text, whole_file
from sottovoce.parsing import parse_json

ASKED_FILE, APPROVED_FILE = "asked.json", "approved.json"
_LARGEST_FILE = 1 << 22
_MOST_ASKED = 100


def note_asked(store: Path, name: str, differs: Sequence[str]) -> None:
    """Keep what was refused, so that somebody can look at it."""
    asked = _read_proposals(store / ASKED_FILE)
    asked.pop(name, None)
    asked[name] = list(differs)
    kept = dict(list(asked.items())[-_MOST_ASKED:])
    _write_proposals(store / ASKED_FILE, kept)


def waiting(store: Path) -> dict[str, list[str]]:
    """What was refused and is not approved: in which ways it differs from earlier trainings."""
    approved = _read_proposals(store / APPROVED_FILE)
    return {
        name: each
        for name, each in _read_proposals(store / ASKED_FILE).items()
        if name not in approved
    }


def is_approved(store: Path, name: str) -> bool:
    """Whether somebody has approved these terms."""
    return name in _read_proposals(store / APPROVED_FILE)


def approve(store: Path, name: str) -> str:
    """Approve what was refused, by its whole name: another proposal may begin the same."""
    asked = waiting(store)
    if name not in asked:
        raise InputError(
            f"a proposal is approved by its whole SHA-256, got {name[:32]!r} of {len(name)} "
            "characters, by which none waits: copy the whole line of 64 that sottovoce learn "
            "approve lists."
        )
    _write_proposals(
        store / APPROVED_FILE, {**_read_proposals(store / APPROVED_FILE), name: asked[name]}
    )
    return name


def _read_proposals(path: Path) -> dict[str, Any]:
    if not path.exists():
        return {}
    try:
        found = parse_json(small_text(path, _LARGEST_FILE, "a list of proposals"))
    except (ValueError, UnicodeDecodeError):
        raise InputError(f"{path} is damaged; delete it, and approve again.") from None
    return found if isinstance(found, dict) else {}


def _write_proposals(path: Path, content: dict[str, Any]) -> None:
    with whole_file(path, private=True) as part:
        part.write_text(json.dumps(content, indent=1), encoding="utf-8")
