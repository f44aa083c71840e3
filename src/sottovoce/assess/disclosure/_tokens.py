"""A post as sentences of plain words: contractions written out, quotations taken out."""

import re
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import NamedTuple

QUOTE = "<quote>"
_GONE = "\x00"
_LIKE = str.maketrans(
    {
        "\u2019": "'",
        "\u2018": "'",
        "`": "'",
        "\u201c": '"',
        "\u201d": '"',
        "\u2026": ".",
        _GONE: " ",
    }
)
_TOKEN = re.compile(
    r"[^\W\d_]+(?:'[^\W\d_]+)*|\d+(?:[.,:]\d+)*|[.!?]+|\n+|\x00+|[,;:()\u2013\u2014+&]|(?<=\s)-+(?=\s)"
)
_WORD = re.compile(r"[^\W\d_]+|\d+")
_QUOTED_LINE = re.compile(r"^[ \t]*>.*$", re.MULTILINE)
_QUOTED = re.compile(r'"[^"\n]{2,}?"|(?<![\w\'])\'(?=\w)[^\'\n]*?(?:\w\'\w[^\'\n]*?)*\'(?!\w)')
_OWN_WORDS = re.compile(
    r"\bi(?:'ve| have|'d)? ?(?:just|finally|once|also|only)? ?"
    r"(?:say|said|told|tell|typed|wrote|admitted|replied|answered|shouted|whispered|blurted|went)"
    r"\b[^.!?\n]{0,30}$"
)
_SAID_I = re.compile(r"^[,.]? *(?:i (?:said|told|replied|admitted|whispered)|said i)\b")
_SHORT = 2
# "#soberlife": a tag that makes of a topic's word the author's own life.
_OWN_TAG = re.compile(
    r"#([a-z]{3,}?)(?:life|problems|warrior|survivor|recovery|journey|gang|club|struggles|fam|"
    r"mama|mum|mom|girl|dad|probs|and\w*)\b"
)
HASHTAG = "hashtagged"

_NOT = {
    "dont": "do", "don't": "do", "doesnt": "does", "doesn't": "does", "didnt": "did",
    "didn't": "did", "isnt": "is", "isn't": "is", "wasnt": "was", "wasn't": "was",
    "arent": "are", "aren't": "are", "werent": "were", "weren't": "were", "cant": "can",
    "can't": "can", "wont": "will", "won't": "will", "havent": "have", "haven't": "have",
    "hasnt": "has", "hasn't": "has", "hadnt": "had", "hadn't": "had", "couldnt": "could",
    "couldn't": "could", "wouldnt": "would", "wouldn't": "would", "shouldnt": "should",
    "shouldn't": "should", "ain't": "am", "aint": "am", "mustn't": "must", "needn't": "need",
}  # fmt: skip
_WRITTEN_OUT = {
    "im": "i am", "i'm": "i am", "ima": "i am", "ive": "i have", "i've": "i have",
    "i'd": "i would", "i'll": "i will", "we're": "we are", "we've": "we have", "weve": "we have",
    "we'd": "we would", "we'll": "we will", "you're": "you are", "youre": "you are",
    "you've": "you have", "youve": "you have", "you'll": "you will", "you'd": "you would",
    "they're": "they are", "theyre": "they are", "they've": "they have", "he's": "he is",
    "hes": "he is", "she's": "she is", "shes": "she is", "it's": "it is", "that's": "that is",
    "who's": "who is", "what's": "what is", "there's": "there is", "here's": "here is",
    "let's": "let us", "gonna": "going to", "wanna": "want to", "gotta": "got to",
    "cannot": "can not", "who've": "who have", "who'd": "who would", "he'd": "he would",
    "she'd": "she would", "they'd": "they would", "thats": "that is", "whats": "what is",
    "should've": "should have", "could've": "could have", "would've": "would have",
    "&": "and", "+": "positive", "mom's": "mom is",
}  # fmt: skip
_AFTER_HAD = frozenset(
    (
        *("been", "got", "lost", "become", "had", "just", "already", "gone", "taken", "started"),
        *("told", "stopped", "left", "tried", "only", "written", "given", "done"),
        *(
            "made",
            "found",
            "spent",
            "hidden",
            "fallen",
            "drunk",
            "eaten",
            "bought",
            "sold",
            "grown",
        ),
    )
)


_ASKS = frozenset(
    (
        *("what", "how", "who", "where", "when", "which", "why", "does", "do", "did", "is", "are"),
        *("has", "have", "can", "could", "would", "will", "should", "any", "anyone", "anybody"),
        *("was", "were", "am", "thoughts", "tips", "advice", "suggestions", "recommendations"),
    )
)


class Sentence(NamedTuple):
    """The words of a sentence, and from where to where each stands in the text."""

    words: list[str]
    spans: list[tuple[int, int]]
    question: bool


def lower_words(text: str) -> str:
    """``text`` in lower case with plain quotation marks, as long as it was."""
    low = text.lower()
    if len(low) != len(text):
        low = "".join(each.lower() if len(each.lower()) == 1 else each for each in text)
    return low.translate(_LIKE)


def words_of(low: str) -> list[str]:
    """Every run of letters or digits, fast: to see whether a post has any word that matters."""
    return _WORD.findall(low)


def own_tags(low: str) -> dict[str, str]:
    """The tags of a post that are a word and what makes it the author's, written out.

    >>> own_tags("two years today #soberlife")
    {'soberlife': 'sober hashtagged'}
    """
    found = _OWN_TAG.finditer(low) if "#" in low else ()
    return {match.group()[1:]: f"{match.group(1)} {HASHTAG}" for match in found}


def without_quotations(low: str) -> str:
    """The same text, with what it quotes of others blotted out.

    What the author quotes of themselves ("I told her ...") and one or two words in quotation marks
    stay: these are the author's own.
    """
    if ">" in low:
        low = _QUOTED_LINE.sub(_blot, low)
    if '"' in low or "'" in low:
        low = _QUOTED.sub(_blot_speech, low)
    return low


def _blot(match: re.Match[str]) -> str:
    return _GONE * len(match.group())


def _blot_speech(match: re.Match[str]) -> str:
    text, inner = match.string, match.group()[1:-1]
    short = len(inner.split()) <= _SHORT and not re.search(r"\b(i|i'm|im|my|me)\b", inner)
    own = _OWN_WORDS.search(text[max(0, match.start() - 60) : match.start()])
    if short or own or _SAID_I.match(text[match.end() : match.end() + 20]):
        return " " + inner + " "
    return _blot(match)


def sentences(low: str, mended: Mapping[str, str]) -> list[Sentence]:
    """The sentences of a text without quotations; ``mended`` writes misspelt words as they are."""
    found: list[Sentence] = []
    words: list[str] = []
    spans: list[tuple[int, int]] = []
    for match in _TOKEN.finditer(low):
        token = match.group()
        if token[0] in ".!?\n":
            if words:
                found.append(Sentence(words, spans, "?" in token))
                words, spans = [], []
            elif found and "?" in token:
                found[-1] = found[-1]._replace(question=True)
            continue
        for part in mended.get(token, token).split(" "):
            for word in _plain(part):
                words.append(word)
                spans.append(match.span())
    if words:
        found.append(Sentence(words, spans, question=False))
    found = [part for sentence in found for part in _statement_and_question(sentence)]
    for sentence in found:
        _had(sentence.words)
    return found


def _statement_and_question(sentence: Sentence) -> Iterator[Sentence]:
    """A question after a statement is a sentence of its own: "PCOS here, any tips?"."""
    words, spans, question = sentence
    if question:
        for place in range(len(words) - 2, _SHORT - 1, -1):
            if words[place] == "," and words[place + 1] in _ASKS:
                yield Sentence(words[:place], spans[:place], question=False)
                yield Sentence(words[place + 1 :], spans[place + 1 :], question=True)
                return
    yield sentence


def _plain(token: str) -> list[str]:
    if token[0] == _GONE:
        return [QUOTE]
    if token in _WRITTEN_OUT:
        return _WRITTEN_OUT[token].split(" ")
    if token in _NOT:
        return [_NOT[token], "not"]
    if token in {",", ";", ":", "(", ")", "\u2013", "\u2014"} or token[0] == "-":
        return [","]
    if "'" in token:
        return _with_apostrophe(token)
    return [token]


def _with_apostrophe(token: str) -> list[str]:
    head, _, tail = token.rpartition("'")
    if tail in {"s", ""}:
        return [head, "'s"]
    return [head.replace("'", "") + tail]


def _had(words: list[str]) -> None:
    """Write out that the short form before a participle is "had"."""
    for place in range(1, len(words) - 1):
        if (
            words[place] == "would"
            and (words[place + 1] in _AFTER_HAD or words[place + 1].endswith("ed"))
            and words[place - 1] in {"i", "we"}
        ):
            words[place] = "had"


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
        {
            name: re.compile(_compile_pattern(text, letters, sets))
            for name, text in _texts(written[kind])
        }
        for kind in ("frames", "fragments", "illness")
    )
    return Frames(frames, fragments, illness, letter_of, letters)


def _texts(entries: object) -> list[tuple[str, str]]:
    return [(name, str(text)) for name, text in dict(entries).items()]  # type: ignore[call-overload] # a table of TOML


def _compile_pattern(text: str, letters: dict[str, str], sets: dict[str, str]) -> str:
    known = letters | _ROLE_NAMES | _FIXED | sets
    return _NAME.sub(lambda match: f"(?:{known[match.group()]})", text).replace(" ", "")
