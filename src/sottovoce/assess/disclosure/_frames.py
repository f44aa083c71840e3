"""The tables of words and rules, made ready: a class is a letter, a rule an expression."""

import re
import tomllib
from functools import cache
from importlib.resources import files
from typing import NamedTuple

# No letter of a role, and none that regular expressions read otherwise.
_LETTERS = "abcdefghijklmnopqrstuvwxyzBDEFGHIJKLNOPRUWXYZ0123456789"
ROLES = {"states": "S", "members": "M", "conditions": "C", "signs": "T", "acts": "A"}
_ROLE_NAMES = {"STATE": "S", "MEMBER": "M", "CONDITION": "C", "SIGN": "T", "ACT": "A"}
_FIXED = {"stop": ",", "other": "_", "doing": "V", "quote": "Q", "^": "^", "$": "$"}
_NAME = re.compile(r"[a-zA-Z^$]+")


class Frames(NamedTuple):
    """Rules by name, over letters of classes."""

    frames: dict[str, re.Pattern[str]]
    fragments: dict[str, re.Pattern[str]]
    illness: dict[str, re.Pattern[str]]
    letter_of: dict[str, str]
    """The letter of each everyday word; other words have none."""
    letters: dict[str, str]
    """The letter of each class."""


def table(name: str) -> dict[str, object]:
    """A table of this room, by its file's name."""
    return tomllib.loads((files(__package__) / "tables" / name).read_text(encoding="utf-8"))


@cache
def load_frames() -> Frames:
    """The shipped frames and classes."""
    classes = {name: str(words).split() for name, words in table("words.toml").items()}
    letters = dict(zip(classes, _LETTERS, strict=False))
    letter_of = {word: letters[name] for name, words in classes.items() for word in words}
    letter_of[","] = ","
    written = table("frames.toml")
    known = letters | _ROLE_NAMES
    sets: dict[str, str] = {}
    for name, text in _texts(written["sets"]):
        sets[name] = (
            "[" + "".join((known | sets)[each].strip("[]") for each in text.split("|")) + "]"
        )
    frames, fragments, illness = (
        {name: re.compile(_compiled(text, letters, sets)) for name, text in _texts(written[kind])}
        for kind in ("frames", "fragments", "illness")
    )
    return Frames(frames, fragments, illness, letter_of, letters)


def _texts(entries: object) -> list[tuple[str, str]]:
    return [(name, str(text)) for name, text in dict(entries).items()]  # type: ignore[call-overload] # a table of TOML


def _compiled(text: str, letters: dict[str, str], sets: dict[str, str]) -> str:
    known = letters | _ROLE_NAMES | _FIXED | sets
    return _NAME.sub(lambda match: f"(?:{known[match.group()]})", text).replace(" ", "")
