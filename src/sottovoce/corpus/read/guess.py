"""Which columns of somebody's export are the user, the time and the text of a post.

By their names first, then by what stands in the first rows. A guess has its reason; where two
columns could both be meant, or none, there is a question instead.
"""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from sottovoce.corpus.clean import of_nobody
from sottovoce.corpus.read.tally import ColumnSample
from sottovoce.corpus.read.times import date_orders, to_instants
from sottovoce.errors import CorpusError, UnclearColumnsError
from sottovoce.parsing import did_you_mean

ROLES = ("user", "time", "text")
_SURE_NAMES = {
    "user": """
        user author username user_name userid user_id author_id author_name authorname screen_name
        screenname handle nickname nick member member_id poster poster_id account account_id sender
        from_user login autor auteur verfasser benutzer nutzer usuario utilisateur utente anonid
        display_name displayname nutzername benutzername mitglied mitgliedsname pseudo pseudonyme
        nom_utilisateur nombre_usuario nombre_de_usuario nome_utente requester requester_name
        requester_id customer customer_name customer_id reporter submitter patient patient_id
        patientid person_id client client_id
    """,
    "time": """
        time created_at created createdat date datetime timestamp created_utc creation_date
        created_time post_date post_time posted posted_at postdate published published_at
        publish_date sent sent_at date_posted fecha datum zeit zeitpunkt horodatage querytime
        posted_on created_on published_on erstellt erstellt_am gepostet gepostet_am verfasst_am
        veröffentlicht_am uhrzeit publié_le créé_le fecha_publicación fecha_creación data_ora
    """,
    "text": """
        text body content message post comment selftext tweet full_text post_text post_body
        post_content comment_text body_text message_text raw_text texto mensaje nachricht inhalt
        contenu texte testo beitrag query review status_text caption
        beitragstext nachrichtentext kommentar kommentartext commentaire comentario commento
        messaggio
    """,
}
"""For each role the names that mean it: programs' and people's."""
_OTHER_NAMES = {
    "user": "from name owner creator writer by participant person who",
    "time": "when day updated updated_at modified edited data ts week",
    "text": "subject title description summary headline excerpt note reply answer question html",
}
"""And those that may."""
_SURE, _PART, _MAYBE, _UNKNOWN = 3, 2, 1, 0
_MOSTLY = 0.8
_WORDS_OF_A_TEXT = 4.0
_TIMES_LONGER = 3.0
_LONGEST_ID = 80
_WORDS_OF_AN_ID = 4
_SHOWN = re.compile(r"[^\W\d][\w.:-]{0,39}( [\w.:-]{1,40})?")
_MOST_SHOWN = 12
# Days since 1900 as spreadsheets count them: of 1954 to 2064.
_SERIAL_DATE = re.compile(r"[2-5]\d{4}([.,]\d+)?", re.ASCII)


@dataclass(frozen=True)
class ColumnGuess:
    """The column of each role, and why it was taken."""

    columns: Mapping[str, ColumnSample]
    reasons: Mapping[str, str]

    def in_words(self) -> str:
        """One line, for whoever runs a command."""
        parts = [
            f"{role} = {shown_name(column)} ({self.reasons[role]})"
            for role, column in self.columns.items()
        ]
        return f"taken from the file: {', '.join(parts)}; use --fields to change this"


def guess_columns(
    columns: Sequence[ColumnSample], wanted: Sequence[str], taken: Sequence[str | int] = ()
) -> ColumnGuess:
    """The column of each role in ``wanted``, none of those ``taken``; or a question."""
    free = [column for column in columns if column.key not in taken]
    found: dict[str, ColumnSample] = {}
    reasons: dict[str, str] = {}
    # What is clearest first: a time is known by what it holds, and what is a time is no text.
    for role in ("time", "text", "user"):
        if role in wanted:
            found[role], reasons[role] = _choose_column(role, free)
            free = [column for column in free if column.key != found[role].key]
    ordered = [role for role in ROLES if role in found]
    return ColumnGuess(
        {role: found[role] for role in ordered}, {role: reasons[role] for role in ordered}
    )


def likely_fields(names: Sequence[str], missing: Sequence[str]) -> str:
    """What --fields might say of columns whose names alone are known; "" where they tell less.

    >>> likely_fields(["id", "author", "created_at", "body"], ["user", "time", "text"])
    'user=author,time=created_at,text=body'
    """
    pairs = []
    for role in missing:
        sure = [name for name in names if named_for(name, role) == _SURE and _SHOWN.fullmatch(name)]
        if len(sure) != 1:
            return ""
        pairs.append(f"{role}={sure[0]}")
    return ",".join(pairs)


def likely_column(columns: Sequence[ColumnSample], role: str) -> ColumnSample | None:
    """The column that a menu offers first for ``role``: the first of the best names, if any."""
    best = max((named_for(column.name, role) for column in columns), default=_UNKNOWN)
    if best == _UNKNOWN:
        return None
    return next(column for column in columns if named_for(column.name, role) == best)


_THREADS = """
    thread thread_id threadid topic_id topicid conversation_id discussion_id discussion link_id
    thread_title topic_title thread_name topic_name conversation conversation_title discussion_title
    subject title
"""


# Whose a row is, also where nobody would take it for the author of a post.
_PERSON = re.compile(
    "(patient|participant|person|respondent|student|pupil|employee|staff|guest|resident|claimant|"
    "applicant|donor)(_?(id|no|nr|number|key|code|name))?|mrn|ssn|uid|e_?mail(_address)?|"
    "(pat|subject|subj|nhs|medical_record|social_security|hospital)_?(id|no|nr|number)"
)


def person_column(columns: Sequence[ColumnSample]) -> str | None:
    """The name of a column that says whose each row is, if one is named so that nothing else is."""
    sure = (
        column
        for column in columns
        if named_for(column.name, "user") == _SURE or _PERSON.fullmatch(_plain(column.name))
    )
    return next((shown_name(column) for column in sure), None)


def grouping_column(columns: Sequence[ColumnSample], asked: str) -> str:
    """The name of the column that documents are to be grouped by; ``thread`` goes by many names."""
    names = {_plain(column.name): column.name for column in columns}
    if _plain(asked) in names:
        return names[_plain(asked)]
    if _plain(asked) == "thread":
        found = next((names[each] for each in _THREADS.split() if each in names), None)
        if found is not None:
            return found
    shown = [column for column in columns if _SHOWN.fullmatch(column.name)]
    near = did_you_mean(asked, [column.name for column in shown])
    raise CorpusError(
        f"there is no column {asked!r} to group by; there are: {_list_names(shown) or 'none'}. Say "
        f"--by with the name of one of them.{near}"
    )


def named_for(name: str, role: str) -> int:
    """How surely a column of this name holds ``role``: 3 surely, 2 in part, 1 maybe, 0 unknown."""
    plain = _plain(name)
    sure, maybe = _SURE_NAMES[role].split(), _OTHER_NAMES[role].split()
    if plain in sure or plain.replace("_", "") in sure:
        return _SURE
    if plain in maybe:
        return _MAYBE
    pieces = plain.split("_")
    return _PART if any(piece in sure for piece in pieces) and not _other(pieces, role) else 0


def _other(pieces: Sequence[str], role: str) -> bool:
    """Whether a name of several words is of something that a role has, and not it."""
    counts = {"count", "number", "num", "length", "score", "url", "karma", "flair", "type", "lang"}
    ids = {"id", "ids"} if role == "text" else set()
    return bool({*pieces} & (counts | ids))


def _plain(name: str) -> str:
    """``createdAt``, ``Created At`` and ``created-at`` alike."""
    parted = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", unicodedata.normalize("NFC", name).strip())
    return re.sub(r"[\W_]+", "_", parted).strip("_").casefold()


def _choose_column(role: str, columns: Sequence[ColumnSample]) -> tuple[ColumnSample, str]:
    fitting = [column for column in columns if not column.nested and _FITS[role](column)]
    best = max((named_for(column.name, role) for column in fitting), default=_UNKNOWN)
    likely = [column for column in fitting if named_for(column.name, role) == best]
    if role == "time" and not fitting:
        for column in columns:
            if named_for(column.name, role) and isinstance(column.key, int):
                refuse_serial_dates(column)
    if best == _UNKNOWN:
        return _by_content(role, fitting, columns)
    if len(likely) == 1:
        return likely[0], "by its name"
    return _of_several(role, likely)


def _by_content(
    role: str, fitting: Sequence[ColumnSample], columns: Sequence[ColumnSample]
) -> tuple[ColumnSample, str]:
    """Never a user: any column of short values that repeat could be one."""
    if role == "time" and len(fitting) == 1:
        return fitting[0], "the only one that holds times"
    if role == "text" and fitting:
        longest = max(fitting, key=_mean_words)
        others = [column for column in fitting if column is not longest]
        if all(_mean_words(longest) >= _TIMES_LONGER * _mean_words(each) for each in others):
            return longest, "by far the longest"
        raise _question(role, fitting, "several columns could be the {role}")
    ordered = sorted(columns, key=_is_different_in_each_row) if role == "user" else columns
    raise _question(role, ordered, "no column is clearly the {role}")


def _is_different_in_each_row(column: ColumnSample) -> bool:
    """As the number of a post is, and its author is not."""
    return len(set(column.values)) == len(column.values)


def _of_several(role: str, likely: Sequence[ColumnSample]) -> tuple[ColumnSample, str]:
    """Several with equally good names: those that say the same in all rows, or far less, go."""
    first = likely[0]
    if role == "user" and all(_same_parts(first, each) for each in likely[1:]):
        return first, f"names the same people as {_list_names(likely[1:])}"
    if role == "time" and all(each.values == first.values for each in likely[1:]):
        return first, f"the same as {_list_names(likely[1:])}"
    if role == "text":
        ordered = sorted(likely, key=_mean_words, reverse=True)
        if _mean_words(ordered[0]) >= _TIMES_LONGER * _mean_words(ordered[1]):
            return ordered[0], f"far longer than {_list_names(ordered[1:])}"
    raise _question(role, likely, f"{len(likely)} columns could be the {{role}}")


def _same_parts(one: ColumnSample, other: ColumnSample) -> bool:
    """Whether two columns part the rows alike, as a name and a number of the same person do.

    Those of nobody do not count: [deleted] and a program may share a number that means neither.
    """
    if len(one.values) != len(other.values) or not one.values:
        return False
    nobodys = of_nobody(pa.array(one.values)) | of_nobody(pa.array(other.values))
    rows = zip(one.values, other.values, nobodys.tolist(), strict=True)
    pairs = {(this, that) for this, that, nobodys_row in rows if not nobodys_row}
    ones, others = {this for this, _ in pairs}, {that for _, that in pairs}
    return len(pairs) == len(ones) == len(others)


def _question(role: str, columns: Sequence[ColumnSample], what: str) -> UnclearColumnsError:
    plain = [column for column in columns if not column.nested]
    asked = (
        f"{what.format(role=role).capitalize()} of a post: {_list_names(plain) or 'there is none'}"
    )
    example = _likeliest(role, plain)
    said = f"{role}={example}"
    told = f"'{said}'" if " " in said else said
    return UnclearColumnsError(
        f"{asked}. Which one is it? Say --fields {told} (in Python "
        f"{role}={example!r} of assess_posts or release_counts, or "
        f"columns={{{role!r}: {example!r}}} of ReadOptions).{_nested_notice(columns)}"
    )


def _likeliest(role: str, columns: Sequence[ColumnSample]) -> str:
    """What the question offers as an example: of times, only one that its name speaks for."""
    named = likely_column(columns, role)
    if named is not None:
        return shown_name(named)
    return shown_name(columns[0]) if columns and role != "time" else "NAME"


def _nested_notice(columns: Sequence[ColumnSample]) -> str:
    """That values within values are not read, where there are some."""
    nested = [column for column in columns if column.nested]
    if not nested:
        return ""
    return (
        f" Nested values in {_list_names(nested)} are not read: put them into columns of their "
        "own first."
    )


def _list_names(columns: Sequence[ColumnSample]) -> str:
    names = ", ".join(shown_name(column) for column in columns[:_MOST_SHOWN])
    more = len(columns) - _MOST_SHOWN
    return f"{names} and {more} more" if more > 0 else names


def shown_name(column: ColumnSample) -> str:
    """A column as it may be shown: what looks like somebody's text is told by its place."""
    if _SHOWN.fullmatch(column.name.strip()):
        return column.name.strip()
    return str(column.key) if isinstance(column.key, int) else "(a column without a plain name)"


def _filled_values(column: ColumnSample) -> list[str]:
    return [value for value in column.values if value.strip()]


def _mean_words(column: ColumnSample) -> float:
    filled = _filled_values(column)
    return sum(len(value.split()) for value in filled) / max(1, len(filled))


def holds_times(column: ColumnSample) -> bool:
    """Whether most values can be read as times, in one order of day and month or another."""
    filled = _filled_values(column)
    if not filled:
        return named_for(column.name, "time") >= _PART
    read = len(filled) - to_instants(pa.array(filled), "UTC").null_count
    if not read and date_orders(filled):
        return True
    return bool(read >= _MOSTLY * len(filled))


def refuse_serial_dates(column: ColumnSample) -> None:
    """Say what 46027.34 in a table of text is, and what to do."""
    filled = _filled_values(column)
    serials = sum(bool(_SERIAL_DATE.fullmatch(value.strip())) for value in filled)
    if filled and serials >= _MOSTLY * len(filled):
        raise UnclearColumnsError(
            f"the numbers of the column {shown_name(column)} "
            "look like a spreadsheet's serial dates, which do not say where they start. In the "
            "spreadsheet, format that column as a date, such as 2024-12-31 18:30, and save it as "
            "CSV again."
        )


def _holds_texts(column: ColumnSample) -> bool:
    if named_for(column.name, "text") >= _PART:
        return not _filled_values(column) or not holds_times(column)
    return _mean_words(column) >= _WORDS_OF_A_TEXT and not holds_times(column)


def _holds_users(column: ColumnSample) -> bool:
    """Short values; numbers too, but not those that read as times unless the name says user."""
    filled = _filled_values(column)
    if any(len(value) > _LONGEST_ID for value in filled):
        return False
    return not filled or _mean_words(column) <= _WORDS_OF_AN_ID


_FITS = {"time": holds_times, "text": _holds_texts, "user": _holds_users}
