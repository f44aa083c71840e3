"""What is not the author's own words in a post: quotes, markup, addresses, signatures.

Every step looks at one post alone, so that parts of a community that were cleaned apart are the
same as the whole. Work is linear in the length of a text. What each step changed is counted in
posts.
"""

import html
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

VERSION = "2"
"""Of the rules below; a state says by which its posts were cleaned."""
_NOBODY = """
    [deleted] [removed] [suspended] [anonymous] <deleted> (deleted) deleted deleted_user
    deleteduser removed anonymous anon anonym anonymus anonyme anonimo guest gast system
    unknown none null nan n/a na - ? -1 automoderator bot deleted_account deleted_member
    [deleted_user] [deleted_account] former_member [gelöscht] gelöscht gelöschter_benutzer
    gelöschter_nutzer ehemaliges_mitglied unbekannt invité supprimé compte_supprimé
    utilisateur_supprimé anónimo eliminado usuario_eliminado invitado utente_eliminato ospite
"""
NOBODY = frozenset(_NOBODY.split())
"""Names of authors that stand for nobody, or for many: capitals and blanks do not count."""
_BOT = r"(?:[-_. ][Bb]ot|[a-z]Bot|\[bot\])$"

# Whatever no step looks at is passed over without leaving Arrow.
_TRIGGER = (
    r"(?im)[<>&]|\[/?quote|://|www\.|^--|^__|^\s*(?:re|aw|antw|fwd?|wg|sv)\s*(?:\[\d+\])?\s*:|^\s*@"
    r"|(?:wrote|posted|schrieb|écrit|escribió|scritto)\s?:"
)
_NOT_OWN = r"(?im)^[ \t]*>|\[quote|</?(?:p|br|div|a|b|i|em|span|img|blockquote)\b[^<>]*>|://|www\."
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_UNSEEN_MARK = re.compile(r"<(/?)(script|style)\b[^<>]{0,2000}>", re.IGNORECASE)
_BLOCKS = "p br div li ul ol tr td th table h1 h2 h3 h4 h5 h6 hr pre blockquote section article"
_INLINE = (
    "a b i u s em strong span font img code tt small big sub sup strike del ins q cite abbr mark "
    "center tbody thead video audio source iframe embed object param label input button form "
    "figure figcaption html body head meta link title time kbd samp var dl dt dd nobr wbr acronym"
)
_TAG = re.compile(
    rf"</?(?:({_BLOCKS.replace(' ', '|')})|{_INLINE.replace(' ', '|')})(?:\s[^<>]{{0,4000}})?/?>",
    re.IGNORECASE,
)
_BB_TAG = re.compile(
    r"\[/?(?:b|i|u|s|url|img|color|size|code|list|\*)(?:=[^\[\]\n]{0,500})?\]", re.IGNORECASE
)
_QUOTE_MARK = re.compile(
    r"\[(/?)quote(?:[= ][^\]\n]{0,500})?\]|<(/?)blockquote(?:\s[^<>]{0,4000})?>", re.IGNORECASE
)
# What opens a sentence follows the mark too; what makes it a face or a sign does not.
_QUOTED_LINE = re.compile(r"[ \t]*>(?:[ \t>\r]|[^\W_]|[\"'“„«\u2018¿¡*…]|$)")
_SAID = r"(?:wrote|writes|said|says|posted|schrieb|écrit|escribió|ha scritto)"
_ATTRIBUTION = re.compile(rf"{_SAID}\s?:?\s*$", re.IGNORECASE)
# What "my doctor said" is about the author, and is not taken for a quote.
_NAMED = re.compile(
    r"(?!(?:i|we|my|our|ich|wir|mein\w*|je|mon|ma|yo|mi|io)\b)"
    r".{1,150} (?:wrote|posted|schrieb|a écrit|escribió|ha scritto)\s?:\s*",
    re.IGNORECASE,
)
_FORWARDED = re.compile(
    r"^[ \t]*-{2,}[ \t]*(?:original message|forwarded message|ursprüngliche nachricht|"
    r"mensaje original|message d'origine)[ \t]*-{2,}",
    re.IGNORECASE | re.MULTILINE,
)
_SIGNATURE = re.compile(r"^(?:--[ \t]?|_{3,}[ \t]*)\r?$", re.MULTILINE)
_LONGEST_SIGNATURE, _MOST_LINES = 1000, 12
_ADDRESS = re.compile(r"(?:https?|ftp)://[^\s<>\"\])]+|\bwww\.[^\s<>\"\])]+", re.IGNORECASE)
_LINKED = re.compile(r"\]\((?:https?://|/)[^\s()]{0,2000}\)", re.IGNORECASE)
_REPLY = re.compile(
    r"\s*(?:(?:re|aw|antw|fwd?|wg|sv)[ \t]*(?:\[\d{1,4}\])?:\s*|@[\w.-]{1,60}[:,]?\s+)+",
    re.IGNORECASE,
)


@dataclass
class CleaningCounts:
    """How many posts each step changed, and how many were left out as nobody's."""

    steps: Counter[str] = field(default_factory=Counter)
    nobodys: int = 0
    emptied: int = 0
    """Posts of which nothing is left: they only quoted."""

    def add(self, other: "CleaningCounts") -> None:
        """Add what was counted of other posts."""
        self.steps.update(other.steps)
        self.nobodys += other.nobodys
        self.emptied += other.emptied

    def facts(self) -> dict[str, int]:
        """As a record for machines, every step named."""
        named = {name: self.steps[name] for name, _ in STEPS}
        return {**named, "only quotes": self.emptied, "posts of nobody": self.nobodys}

    def in_words(self) -> str:
        """A line; empty where nothing was changed."""
        parts = [f"{name} in {self.steps[name]:,}" for name, _ in STEPS if self.steps[name]]
        told = [f"cleaned of {', '.join(parts)} posts"] if parts else []
        if self.emptied:
            told.append(f"{self.emptied:,} posts held nothing of their author's own")
        if self.nobodys:
            told.append(
                f"{self.nobodys:,} posts without a person as author ([deleted], anonymous, "
                "bots) were left out"
            )
        return "; ".join(told)


def clean_posts(batch: pa.RecordBatch, counts: CleaningCounts) -> pa.RecordBatch:
    """Posts (user, time, text) without what is not their author's; those of nobody left out."""
    nobodys = of_nobody(batch["user"])
    if nobodys.any():
        counts.nobodys += int(nobodys.sum())
        batch = batch.filter(pa.array(~nobodys))
    texts = clean_texts(batch["text"], counts)
    if texts is batch["text"]:
        return batch
    return batch.set_column(batch.schema.get_field_index("text"), batch.schema.field("text"), texts)


def of_nobody(users: pa.Array) -> NDArray[np.bool_]:
    """Which of these names stand for nobody: deleted and anonymous authors, and programs."""
    names = pc.utf8_lower(pc.utf8_normalize(pc.utf8_trim_whitespace(users), form="NFC"))
    spelt = pc.replace_substring(names, " ", "_")
    wanted = pa.array(sorted(NOBODY), spelt.type)
    known = pc.or_(pc.is_in(spelt, wanted), pc.is_in(names, wanted))
    found = pc.or_(known, pc.match_substring_regex(users, _BOT))
    mask: NDArray[np.bool_] = found.fill_null(False).to_numpy(zero_copy_only=False)
    return mask


def clean_texts(texts: pa.Array, counts: CleaningCounts | None = None) -> pa.Array:
    """The texts of posts without what is not their author's; the same array if nothing is."""
    counted = CleaningCounts() if counts is None else counts
    marked = pc.match_substring_regex(texts, _TRIGGER).fill_null(False)
    places = np.flatnonzero(marked.to_numpy(zero_copy_only=False))
    if not places.size:
        return texts
    looked_at = texts.filter(marked)
    cleaned = [clean_text(text, counted) for text in looked_at.to_pylist()]
    return pc.replace_with_mask(texts, marked, pa.array(cleaned, texts.type))


def holding_others_words(texts: pa.Array) -> int:
    """How many texts hold quoted lines, tags or web addresses, all found without leaving Arrow."""
    return int(pc.sum(pc.match_substring_regex(texts, _NOT_OWN), min_count=0).as_py())


def clean_text(text: str, counts: CleaningCounts | None = None) -> str:
    """One post without what is not its author's.

    >>> clean_text("[quote]I am in debt[/quote] Me &amp; you: https://example.org")
    'Me & you:'
    """
    counted = CleaningCounts() if counts is None else counts
    before = text
    for name, step in STEPS:
        changed = step(text)
        if changed != text:
            counted.steps[name] += 1
            text = changed
    if text == before:
        return text
    text = text.strip()
    counted.emptied += bool(before.strip()) and not text
    return text


def _strip_markup(text: str) -> str:
    """Without HTML: tags go, those of blocks leave a line's end, and entities are characters."""
    if "&" in text and not _TAG.search(text):
        text = _characters(text)
    if "<" in text:
        text = _without_scripts(_without_comments(text))
        text = _TAG.sub(lambda tag: "\n" if tag[1] else "", text)
    if "&" in text:
        text = _characters(text)
    return _BB_TAG.sub("", text) if "[" in text else text


def _without_comments(text: str) -> str:
    parts, at = [], 0
    while (start := text.find("<!--", at)) >= 0 and (end := text.find("-->", start)) >= 0:
        parts.append(text[at:start])
        at = end + len("-->")
    return "".join(parts) + text[at:]


def _without_scripts(text: str) -> str:
    """Without what a browser does not show, from its mark to the next that closes it."""
    parts, at, opened = [], 0, None
    for mark in _UNSEEN_MARK.finditer(text):
        if opened is None and not mark[1]:
            opened = mark
        elif opened is not None and mark[1] and mark[2].lower() == opened[2].lower():
            parts.append(text[at : opened.start()])
            at, opened = mark.end(), None
    return "".join(parts) + text[at:]


def _characters(text: str) -> str:
    """Entities as the characters they stand for; twice, as programs escape what is escaped."""
    once = _ENTITY.sub(lambda found: html.unescape(found[0]), text)
    return _ENTITY.sub(lambda found: html.unescape(found[0]), once)


def _own(text: str) -> str:
    """Without what is quoted: blocks between marks, lines that begin with >, forwarded mails."""
    forwarded = _FORWARDED.search(text)
    if forwarded is not None:
        text = text[: forwarded.start()]
    # A quote in entities is one all the same, and so are its marks.
    if "&gt;" in text or "&lt;blockquote" in text.lower():
        text = _ENTITY.sub(lambda found: {"&gt;": ">", "&lt;": "<"}.get(found[0], found[0]), text)
    if _QUOTE_MARK.search(text):
        text = _without_blocks(text)
    if ">" in text:
        text = _without_lines(text)
    return _below_named_quote(text) if ":" in text else text


def _below_named_quote(text: str) -> str:
    """What stands below a first line such as ``ada wrote:`` and the paragraph that follows it."""
    first, _, rest = text.lstrip().partition("\n")
    if not _NAMED.fullmatch(first):
        return text
    lines = rest.lstrip().split("\n")
    ends = next((place for place, line in enumerate(lines) if not line.strip()), len(lines))
    # Without a paragraph below it nobody can tell where the quote ends.
    return "\n".join(lines[ends:]).strip() or text


def _without_blocks(text: str) -> str:
    """Each outermost quote, from its mark to the one that closes it, becomes a quoted line."""
    marks = list(_QUOTE_MARK.finditer(text))
    opened: list[int] = []
    spans: list[tuple[int, int]] = []
    for number, mark in enumerate(marks):
        if not (mark[1] or mark[2]):
            opened.append(number)
        elif opened:
            first = opened.pop()
            while spans and spans[-1][0] > marks[first].start():
                spans.pop()
            spans.append((marks[first].start(), mark.end()))
    ends = [(0, 0), *spans, (len(text), len(text))]
    kept = [text[before[1] : after[0]] for before, after in pairwise(ends)]
    # What is left of marks belongs to no quote.
    return "\n> \n".join(_QUOTE_MARK.sub("", part) for part in kept)


def _without_lines(text: str) -> str:
    lines: list[str] = []
    removed = False
    for line in text.split("\n"):
        if not _QUOTED_LINE.match(line):
            lines.append(line)
            continue
        removed = True
        while lines and not lines[-1].strip():
            lines.pop()
        if lines and _ATTRIBUTION.search(lines[-1][-200:]):
            lines.pop()
    return "\n".join(lines) if removed else text


def _strip_signature(text: str) -> str:
    """Without what follows the last line that is only -- or ___, if that is short."""
    delimiters = list(_SIGNATURE.finditer(text))
    if not delimiters or not text[: delimiters[-1].start()].strip():
        return text
    last = delimiters[-1]
    below = text[last.end() :]
    short = len(below) <= _LONGEST_SIGNATURE and below.count("\n") <= _MOST_LINES
    return text[: last.start()] if short else text


def _without_addresses(text: str) -> str:
    if "://" not in text and "www." not in text.lower():
        return text
    return _ADDRESS.sub("", _LINKED.sub("]", text))


def _without_prefix(text: str) -> str:
    found = _REPLY.match(text)
    return text[found.end() :] if found else text


STEPS: tuple[tuple[str, Callable[[str], str]], ...] = (
    ("quotes", _own),
    ("HTML", _strip_markup),
    ("signatures", _strip_signature),
    ("web addresses", _without_addresses),
    ("reply prefixes", _without_prefix),
)
"""In their order: a quote is known by marks that the next step removes."""
