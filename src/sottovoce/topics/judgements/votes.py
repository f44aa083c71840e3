"""Sheets of topics out to judges, and votes in.

What judges are asked (R-Susceptibility, section 4.1) is in words of our own. Votes come from a
filled sheet, a plain list, or the result file of a crowdsourcing platform. Sheets are CSV that
people open in a spreadsheet: written without formulas, read back as it was.
"""

import csv
import hashlib
import io
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sottovoce.errors import InputError, ParameterError
from sottovoce.files import cause_of, whole_file
from sottovoce.topics.catalogue import Catalogue, Topic, is_name
from sottovoce.topics.salient import SALIENT_WORDS

CATEGORIES = ("psychology", "medicine", "finance", "family", "law", "society", "other")
"""R-Susceptibility, section 4.1: six domains that may hold sensitive topics, and *other*."""

TOPIC_JUDGES = 7
PROFILE_JUDGES = 5

TOPIC_QUESTION = (
    "Somebody uses several of these words in a post on social media. Is such a post "
    "privacy-sensitive? Answer yes if people who write so may be in a situation they would want "
    "to keep to themselves (an addiction, say), or if writing so may bring them into one (extreme "
    "political views, say); else no."
)
DOMAIN_QUESTION = f"Which domain do the words belong to? One of: {', '.join(CATEGORIES)}."
PROFILE_QUESTION = (
    "Read the posts in order. Do they make you suspect that the person who wrote them, or somebody "
    "in that person's family, is concerned by: {topic}? Answer yes or no. Writing about it out of "
    "interest or as a profession is a no."
)

CHECKS = (("yes", "law"), ("no", "society"), ("yes", "finance"), ("no", "medicine"))
"""Answers that attention-check rows ask for in so many words."""
CHECK_TEXT = "This row checks that rows are read: please answer {answer}, and choose {domain}."


SHEET_COLUMNS = (
    "judge",
    "row",
    "item",
    "words",
    "question",
    "sensitive",
    "domain_question",
    "domain",
)
PLATFORM_COLUMNS = ("item", "words", "question", "domain_question")
MOST_JUDGES = 1000
_CODE_DIGITS = 12

"""Our reading of the topics of each kind, fixed before any correlation was computed."""


def topic_item(topic: Topic) -> str:
    """The code of a topic on a sheet: it says nothing, and changes when the shown words do."""
    return _code("topic", topic.name, *_choose_words(topic))


def check_items() -> dict[str, tuple[str, str]]:
    """The codes of attention checks, which look like any other, with the answers asked for."""
    return {_code("check", str(number), *answers): answers for number, answers in enumerate(CHECKS)}


def topic_sheet(
    catalogue: Catalogue, *, judges: int = TOPIC_JUDGES, seed: int = 0, checks: int = 0
) -> list[dict[str, object]]:
    """One row per judge and topic, in an order of each judge's own.

    A judge sees the topic's words, not its name: the name would tell what to think of them. With
    0 judges there is one row per topic, as a crowdsourcing platform takes them.
    """
    if not 0 <= judges <= MOST_JUDGES:
        raise ParameterError(f"judges must be 0 to {MOST_JUDGES}, got {judges}.")
    if not 0 <= checks <= len(CHECKS):
        raise ParameterError(f"checks must be 0 to {len(CHECKS)}, got {checks}.")
    items = [(topic_item(topic), ", ".join(_choose_words(topic))) for topic in catalogue]
    items += [
        (code, CHECK_TEXT.format(answer=answer, domain=domain))
        for code, (answer, domain) in list(check_items().items())[:checks]
    ]
    rows: list[dict[str, object]] = []
    for judge in range(1, max(judges, 1) + 1):
        rows += _judge_rows(items, f"judge-{judge}" if judges else "", (seed, judge))
    return rows


def _judge_rows(
    items: list[tuple[str, str]], judge: str, seed: Sequence[int]
) -> list[dict[str, object]]:
    order = np.random.default_rng(seed).permutation(len(items))
    return [
        {
            "judge": judge,
            "row": row,
            "item": items[place][0],
            "words": items[place][1],
            "question": TOPIC_QUESTION,
            "sensitive": "",
            "domain_question": DOMAIN_QUESTION,
            "domain": "",
        }
        for row, place in enumerate(order.tolist(), start=1)
    ]


def _choose_words(topic: Topic) -> tuple[str, ...]:
    return topic.words[:SALIENT_WORDS]


def _code(*parts: str) -> str:
    digest = hashlib.sha256("\0".join(parts).encode()).hexdigest()
    return f"t-{digest[:_CODE_DIGITS]}"


# A spreadsheet takes a cell that begins so for a formula; the last four are full-width.
_FORMULA = (
    "=",
    "+",
    "-",
    "@",
    "\t",
    "\r",
    "\N{FULLWIDTH EQUALS SIGN}",
    "\N{FULLWIDTH PLUS SIGN}",
    "\N{FULLWIDTH HYPHEN-MINUS}",
    "\N{FULLWIDTH COMMERCIAL AT}",
)
_GUARD = "'"
_KEPT_CONTROLS = "\n\t"
_DELIMITERS = ",;\t"
MOST_BYTES = 256 * 1024 * 1024

# Our names first, then those of a Mechanical Turk batch.
_COLUMNS = {
    "judge": ("judge", "WorkerId"),
    "item": ("item", "topic", "Input.item", "Input.topic"),
    "sensitive": ("sensitive", "Answer.sensitive"),
    "domain": ("domain", "Answer.domain"),
}
_ANSWERS = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}


@dataclass(frozen=True)
class Vote:
    """What one judge said of one item. ``place`` tells where it was read."""

    judge: str
    item: str
    sensitive: bool
    domain: str | None = None
    place: str = ""


@dataclass(frozen=True)
class ReadVotes:
    """Votes, and how many rows had no answer yet."""

    votes: tuple[Vote, ...]
    missing: int


def read_votes(paths: Sequence[Path], *, allow_missing: bool = False) -> ReadVotes:
    """Read and check votes: each with a judge, an item and an answer, no judge twice on an item.

    Errors tell the file and the row, never what stands there.
    """
    votes: list[Vote] = []
    missing: list[str] = []
    for path in paths:
        for number, row in read_rows(path):
            place = f"{path.name}, row {number}"
            if _lacks_vote(row):
                continue
            vote = _vote(row, place)
            if vote is None:
                missing.append(place)
            else:
                votes.append(vote)
    if missing and not allow_missing:
        raise InputError(
            f"{len(missing)} rows have no answer, the first {missing[0]}; have them filled, or "
            "leave them out with --allow-missing (in Python allow_missing=True)."
        )
    if not votes:
        raise InputError("there is no vote in the files given.")
    _refuse_double(votes)
    return ReadVotes(tuple(votes), len(missing))


def topic_votes(votes: Iterable[Vote], catalogue: Catalogue) -> list[Vote]:
    """The votes with the topic's name as their item; topics may be told by name or by code."""
    names = {topic_item(topic): topic.name for topic in catalogue} | {
        name: name for name in catalogue.names
    }
    named = [replace(vote, item=names.get(vote.item, "")) for vote in votes]
    unknown = [vote.place for vote in named if not vote.item]
    if unknown:
        raise InputError(
            f"{len(unknown)} votes are on topics that the catalogue does not have, or whose words "
            f"it has changed since; the first: {unknown[0]}."
        )
    _refuse_double(named)
    return named


def without_checks(votes: Iterable[Vote]) -> tuple[list[Vote], Counter[str]]:
    """The votes on real items, and how many attention checks each judge failed."""
    checks = check_items()
    real: list[Vote] = []
    failed: Counter[str] = Counter()
    for vote in votes:
        if vote.item in checks:
            failed[vote.judge] += _fails_check(vote, checks)
        else:
            real.append(vote)
    return real, +failed


def vote_counts(votes: Iterable[Vote]) -> tuple[tuple[str, ...], NDArray[np.int64]]:
    """The items in order of first appearance, and for each how many said yes and no."""
    counts: dict[str, list[int]] = {}
    for vote in votes:
        counts.setdefault(vote.item, [0, 0])[0 if vote.sensitive else 1] += 1
    return tuple(counts), np.array(list(counts.values()), dtype=np.int64).reshape(-1, 2)


def _fails_check(vote: Vote, checks: Mapping[str, tuple[str, str]]) -> bool:
    answer, domain = checks[vote.item]
    return vote.sensitive != _ANSWERS[answer] or vote.domain != domain


def _lacks_vote(row: Mapping[str, str]) -> bool:
    """Whether the row is a rejected assignment, or an earlier part of a long profile."""
    rejected = row.get("AssignmentStatus", "").lower() == "rejected"
    return rejected or row.get("part", "") != row.get("parts", "")


def _vote(row: Mapping[str, str], place: str) -> Vote | None:
    judge, item = _cell(row, "judge", place), _cell(row, "item", place)
    for name, value in (("judge", judge), ("topic or item", item)):
        if not is_name(value):
            raise InputError(f"{place}: every vote needs a {name}.")
    answer, domain = _cell(row, "sensitive", place).lower(), _domain(row, place)
    if not answer:
        return None
    if answer not in _ANSWERS:
        raise InputError(f"{place}: sensitive must be yes or no.")
    return Vote(judge, item, _ANSWERS[answer], domain, place)


def _domain(row: Mapping[str, str], place: str) -> str | None:
    domain = _cell(row, "domain", place, needed=False).lower()
    if domain and domain not in CATEGORIES:
        raise InputError(f"{place}: domain must be one of {', '.join(CATEGORIES)}.")
    return domain or None


def _cell(row: Mapping[str, str], column: str, place: str, *, needed: bool = True) -> str:
    for name in _COLUMNS[column]:
        if name in row:
            return row[name]
        ticked = _read_ticked(row, name)
        if ticked is not None:
            return ticked
    if needed:
        raise InputError(f"{place}: there is no column {' or '.join(_COLUMNS[column])}.")
    return ""


def _read_ticked(row: Mapping[str, str], name: str) -> str | None:
    """The ticked option, where a form has a column for each: ``Answer.sensitive.yes``."""
    options = {key[len(name) + 1 :]: row[key] for key in row if key.startswith(f"{name}.")}
    if not options:
        return None
    return "".join(option for option, ticked in options.items() if ticked.lower() == "true")


def _refuse_double(votes: Iterable[Vote]) -> None:
    seen: set[tuple[str, str]] = set()
    for vote in votes:
        if (vote.judge, vote.item) in seen:
            raise InputError(f"{vote.place}: this judge voted on the same item before.")
        seen.add((vote.judge, vote.item))


def csv_text(columns: Sequence[str], rows: Iterable[Mapping[str, object]]) -> str:
    """Rows as CSV with a header."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        writer.writerow([safe_cell(str(row[column])) for column in columns])
    return out.getvalue()


def write_rows(
    path: Path,
    columns: Sequence[str],
    rows: Iterable[Mapping[str, object]],
    *,
    private: bool = False,
) -> None:
    """Write a sheet, whole or not at all."""
    text = csv_text(columns, rows)
    with whole_file(path, private=private) as temporary:
        # The mark tells spreadsheets that this is UTF-8.
        temporary.write_text(text, encoding="utf-8-sig")


def read_rows(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield each row with its number, the first below the header being 1.

    The delimiter is the comma, the semicolon or the tab, whichever the header has most of.
    """
    text = _read(path)
    header = text.split("\n", 1)[0]
    delimiter = max(_DELIMITERS, key=header.count)
    reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter, restval="")
    try:
        _check_header(path, reader.fieldnames or ())
        for number, row in enumerate(reader, start=1):
            if None in row:
                raise InputError(f"{path}: row {number} has more cells than the header.")
            if any(row.values()):
                yield number, {name.strip(): plain_cell(cell) for name, cell in row.items()}
    except csv.Error:
        raise InputError(f"{path} cannot be read as CSV.") from None


def _check_header(path: Path, names: Sequence[str]) -> None:
    """Refuse a column named twice, of which only the last would be read; blank names may repeat."""
    named = [name.strip() for name in names if name.strip()]
    seen: set[str] = set()
    for name in named:
        if name in seen:
            raise InputError(
                f"{path}: the header must name each column once, got one twice: the name of column "
                f"{1 + [each.strip() for each in names].index(name)} comes again."
            )
        seen.add(name)


def _read(path: Path) -> str:
    try:
        size = path.stat().st_size
        if size <= MOST_BYTES:
            return path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise InputError(f"cannot read {path}: {cause_of(error)}.") from None
    except UnicodeDecodeError:
        raise InputError(f"{path} is no UTF-8 text; save the sheet as CSV UTF-8.") from None
    raise InputError(f"{path} must have at most {MOST_BYTES:,} bytes, got {size:,}.")


def safe_cell(text: str) -> str:
    """``text`` so that no spreadsheet computes it: guarded by an apostrophe, no control characters.

    Whatever begins with an apostrophe is guarded too, so that ``plain_cell`` can undo it.
    """
    printed = "".join(
        " " if not character.isprintable() and character not in _KEPT_CONTROLS else character
        for character in text
    )
    # Blanks before it hide nothing from a spreadsheet, and get lost on the way back.
    starts = printed.startswith(_FORMULA) or printed.lstrip().startswith((*_FORMULA, _GUARD))
    return _GUARD + printed if starts else printed


def plain_cell(text: str) -> str:
    """Undo ``safe_cell``; blanks around, which spreadsheets and people leave, go too."""
    return text.strip().removeprefix(_GUARD).strip()
