"""A party's configuration, `party.toml`: every key of it is known, and an unknown one is refused.

Read and checked here; `setup` writes it.
"""

from pathlib import Path
from typing import Any, Literal, TypeAlias, TypeVar, get_args, get_origin

import msgspec

from sottovoce.errors import ConfigError, InputError
from sottovoce.files import small_text
from sottovoce.parsing import parse_toml

Role: TypeAlias = Literal["coordinator", "keyholder", "peer", "intermediary"]
CONFIG_FILE = "party.toml"
ROSTER_FILE = "roster.toml"
CHANGES_FILE = "roster-changes.jsonl"
AUTHORITY_KEY_FILE = "ca.key"
TEXTS_FILE, ROWS_FILE = "texts.csv", "rows.csv"
NONE, PROMPT = "none", "prompt"
FROM_VARIABLE, FROM_FILE = "env:", "file:"
_LARGEST_FILE = 1 << 20
_LONGEST_ADDRESS = 300
_Table = TypeVar("_Table", bound=msgspec.Struct)
_Statistics: TypeAlias = Literal["exact", "rados"]
_Solver: TypeAlias = Literal["masked", "chebyshev"]
_What: TypeAlias = Literal["words", "pairs"]
_Dictionary: TypeAlias = Literal["given", "agreed", "hashed", "mapped"]


class TlsFiles(msgspec.Struct, frozen=True):
    """Who this party is to the others: its certificate, its key, and whom it trusts.

    ``authority_key`` is the authority's own, at the coordinator of a federation that parties join.
    """

    certificate: str = "certificate.pem"
    key: str = "tls.key"
    authority: str = "ca.pem"
    authority_key: str | None = None


class SecretFiles(msgspec.Struct, frozen=True):
    """This party's own keys, and where their passphrase comes from."""

    passphrase: str = NONE
    identity: str = "identity.key"
    journal: str = "journal.key"
    paillier: str = "paillier.key"
    memory: str = "memory.key"


class TextsFile(msgspec.Struct, frozen=True):
    """A peer's documents: a file, and what its columns are called.

    ``document`` is the column with the id of the document that each row is a sentence of, if rows
    are sentences. ``user`` and ``id`` are those of a document's writer and name, where documents
    are counted together.
    """

    file: str
    text: str = "text"
    label: str = "label"
    document: str | None = None
    user: str | None = None
    id: str | None = None
    format: str | None = None
    header: list[str] | None = None


class RowsFile(msgspec.Struct, frozen=True):
    """A peer's numbers, where it holds no text: a CSV file whose header names its columns."""

    file: str
    label: str = "label"


class TrainingSettings(msgspec.Struct, frozen=True, omit_defaults=True):
    """What the coordinator proposes: fields of `Recipe` by their names, and how the run is led.

    They are spelt out, with their types and defaults, since a recipe takes seconds to import; a
    test holds the two together.
    """

    mode: Literal["open", "hidden"] = "open"
    statistics: _Statistics = "exact"
    solver: _Solver = "masked"
    penalty: float | None = None
    rados: int = 1000
    fraction_bits: int = 30
    moment_bits: int = 30
    key_bits: int = 3072
    fewest_documents: int = 5
    fewest_peers: int = 2
    allow_rare: str | None = None
    allow_two: str | None = None
    queries: int | None = None
    queries_together: int | None = None
    labels: list[str] = []
    held_out: float = 0.0
    intermediary: bool = False
    without_lost: bool = False
    peers_may_start: bool = False

    @property
    def needs_key_holder(self) -> bool:
        """Whether somebody beside the coordinator must hold a key."""
        return self.mode == "hidden" or self.intermediary


class FeatureSettings(msgspec.Struct, frozen=True, omit_defaults=True):
    """How texts become rows, or the names of the columns where peers hold rows of numbers.

    Fields of `TextRecipe` by their names, likewise spelt out, but for those that files hold:
    ``words_file`` and ``stop_words_file`` have a word a line; ``release`` is the folder of a
    published release, whose words and map are the columns of ``mapped``; ``columns`` names the
    numbers of rows, all of them, and stands alone.
    """

    dictionary: _Dictionary = "agreed"
    words_file: str | None = None
    release: str | None = None
    values: Literal["binary", "counts"] = "binary"
    width: int = 1000
    signed: bool = False
    keyed: bool = False
    buckets: int = 1 << 18
    candidates: int = 2000
    padded: bool = False
    candidate_documents: int = 2
    unit: Literal["document", "sentence"] = "document"
    declared: Literal["all", "used"] = "all"
    shortest: int = 2
    stem: str | None = None
    bigrams: bool = False
    stop_words_file: str | None = None
    columns: list[str] = []


class CountSettings(msgspec.Struct, frozen=True, omit_defaults=True):
    """What the coordinator proposes to count together: fields of `CountRecipe` by their names.

    ``words_file`` has the public words, ``labels`` all public label names; ``shortest`` is the
    shortest word. ``learn count`` may say otherwise for one run.
    """

    what: _What = "words"
    words_file: str | None = None
    labels: list[str] = []
    epsilon: int | float | str = 1
    votes: int = 10
    drop: int = 0
    collude: int = 1
    documents_per_user: int | None = None
    declare_data_dependent: bool = False
    shortest: int = 2


class CountWith(msgspec.Struct, frozen=True):
    """Whose noise a peer counts on: peers that it has named itself, and how many it gives up.

    ``ledger`` is the file that its documents are charged to, beside all that it releases of them;
    None: its owner's one ledger. ``budget`` is the epsilon of whole documents that new ones may
    ever spend; None: what the first count costs. The others limit one count: ``most_epsilon`` of a
    whole document, ``most_votes`` of one, ``most_of_a_user``, the documents of one that may vote
    (None: all), ``what`` is counted, and whether by ``declared`` words that documents chose.
    ``labels`` are those of its documents, by which alone they are counted: a count by others, or by
    any where none are named, is refused before documents are read.
    """

    peers: list[str]
    drop: int = 0
    collude: int = 1
    ledger: str | None = None
    budget: int | float | str | None = None
    most_epsilon: int | float | str = 1
    most_votes: int = 1000
    most_of_a_user: int | None = None
    what: list[_What] = msgspec.field(default_factory=lambda: [*get_args(_What)])
    declared: bool = False
    labels: list[str] = []


class Accepts(msgspec.Struct, frozen=True):
    """What a party agrees to take part in; a proposal beyond it is refused by that party.

    The defaults take part in every training that `learn init` sets up. Each field of a run's terms
    is looked at: see `party._policy`. ``most_opened_share`` is rho, how much of documents opened
    sums may hold; whose documents count, and how many peers may work against it, is in
    `CountWith`, named there by the party itself.
    """

    modes: list[Literal["open", "hidden"]]
    statistics: list[_Statistics] = msgspec.field(default_factory=lambda: [*get_args(_Statistics)])
    solvers: list[_Solver] = msgspec.field(default_factory=lambda: [*get_args(_Solver)])
    dictionaries: list[_Dictionary] = msgspec.field(
        default_factory=lambda: [*get_args(_Dictionary)]
    )
    fewest_documents: int = 5
    fewest_peers: int = 2
    most_opened_share: float = 0.5
    two_peers: bool = False
    most_held_out: float = 0.5
    most_rados: int = 100_000
    most_fraction_bits: int = 40
    most_key_bits: int = 8192
    most_features: int = 1 << 20
    most_queries: int = 1000
    most_trainings: int = 20
    contributors: bool = False
    without_lost: bool = False


NEW_BUDGET = 2
"""The epsilon that a whole document may ever spend, where nobody has said otherwise yet."""
HELD_OUT = 0.2
"""What new federations hold out of each peer's documents, to see how well a classifier does."""
HELPER_ACCEPTS = Accepts(["open", "hidden"])
"""Of a helper whose configuration says nothing."""


class JoinDoor(msgspec.Struct, frozen=True):
    """Where a coordinator takes requests to join; ``address`` is for reaching it, if another."""

    listen: str
    address: str | None = None


class PartyFile(msgspec.Struct, frozen=True):
    """What `party.toml` says; paths are relative to its folder.

    ``changes`` is the file of the roster's signed changes, where parties join and leave.
    """

    name: str
    role: Role
    listen: str
    roster: str = ROSTER_FILE
    changes: str | None = None
    store: str = "store"
    deadline_s: float = 12.0
    tls: TlsFiles = TlsFiles()
    secrets: SecretFiles = SecretFiles()
    texts: TextsFile | None = None
    rows: RowsFile | None = None
    training: TrainingSettings | None = None
    features: FeatureSettings | None = None
    accepts: Accepts | None = None
    count: CountSettings | None = None
    count_with: CountWith | None = None
    join: JoinDoor | None = None


class PartyConfig(msgspec.Struct, frozen=True):
    """A party's configuration and the folder that its paths are relative to."""

    party: PartyFile
    folder: Path

    def path(self, name: str) -> Path:
        """A file that the configuration names."""
        return self.folder / name


def load_config(path: Path) -> PartyConfig:
    """Read and check a party's configuration."""
    found = read_toml(path)
    if "moved" in found:
        raise ConfigError(f"this party was moved from this machine on {found['moved']}.")
    party = read_table(found, PartyFile, str(path))
    check_source(party.secrets.passphrase)
    if (party.texts is not None or party.rows is not None) and party.role != "peer":
        raise ConfigError(f"{path}: only a peer has texts or rows; {party.name} is none.")
    if party.texts is not None and party.rows is not None:
        raise ConfigError(f"{path}: a peer must have either texts or rows, got both.")
    if not party.deadline_s > 0:
        raise ConfigError(f"{path}: deadline_s must be > 0, got {party.deadline_s}.")
    return PartyConfig(party, path.parent)


def read_toml(path: Path) -> dict[str, Any]:
    """A TOML file's tables, or one sentence about what is wrong with it."""
    try:
        text = small_text(path, _LARGEST_FILE, "a configuration", ConfigError)
    except UnicodeDecodeError:
        raise ConfigError(f"{path}: it is not TOML: it is not UTF-8.") from None
    try:
        return parse_toml(text)
    except InputError as error:
        raise ConfigError(f"{path}: {error}") from None


def read_table(found: dict[str, Any], kind: type[_Table], where: str) -> _Table:
    """A table as a value of ``kind``; unknown keys and wrong types are refused by name."""
    check_keys(found, kind, where)
    try:
        return msgspec.convert(found, kind, strict=True)
    except msgspec.ValidationError as error:
        raise ConfigError(f"{where}: {_plainly(str(error))}.") from None


def check_keys(found: dict[str, Any], kind: type[msgspec.Struct], where: str) -> None:
    """Refuse a key that nobody would read, with those that would be."""
    fields = {field.encode_name: field for field in msgspec.structs.fields(kind)}
    for key, value in found.items():
        if key not in fields:
            raise ConfigError(
                f"{where}: the key {key[:80]!r} is unknown; known are {', '.join(fields)}."
            )
        _check_choice(key, value, fields[key].type, where)
        inner = _struct_of(fields[key].type)
        if inner is not None and isinstance(value, dict):
            check_keys(value, inner, f"{where}, [{key}]")


def host_of(address: str) -> str:
    """The host of host:port."""
    return address.rpartition(":")[0].strip("[]")


def check_address(address: str) -> str:
    """host:port, as others can reach it."""
    host, _, port = address.rpartition(":")
    short = len(address) <= _LONGEST_ADDRESS and address.isprintable() and " " not in address
    plain = host and port.isascii() and port.isdigit()
    if not (short and plain and 0 < int(port) < 1 << 16):
        raise InputError(
            f"an address must be HOST:PORT, as the others can reach it, got {address[:80]!r}."
        )
    return address


def check_source(source: str) -> None:
    """Refuse what is no source of a passphrase."""
    named = any(source.startswith(kind) and source != kind for kind in (FROM_VARIABLE, FROM_FILE))
    if source not in (NONE, PROMPT) and not named:
        raise InputError(
            f"a passphrase's source must be {NONE}, {PROMPT}, {FROM_VARIABLE}VARIABLE or "
            f"{FROM_FILE}PATH, got {source!r}."
        )


def absolute_source(source: str) -> str:
    """The same source for who reads it in another folder: a file's path spelt out."""
    if not source.startswith(FROM_FILE):
        return source
    return f"{FROM_FILE}{Path(source.removeprefix(FROM_FILE)).absolute()}"


def _check_choice(key: str, value: Any, kind: Any, where: str) -> None:  # noqa: ANN401 - of TOML
    allowed = get_args(kind) if get_origin(kind) is Literal else ()
    if allowed and value not in allowed:
        shown = repr(value)[:80]
        raise ConfigError(f"{where}: {key} must be one of {', '.join(allowed)}, got {shown}.")


def _struct_of(kind: Any) -> type[msgspec.Struct] | None:  # noqa: ANN401 - an annotation
    for each in (kind, *get_args(kind)):
        if isinstance(each, type) and issubclass(each, msgspec.Struct):
            return each
    return None


def _plainly(message: str) -> str:
    """`Expected `str`, got `int` - at `$.name`` as people would say it."""
    what, _, place = message.partition(" - at ")
    key = place.strip("`").removeprefix("$.")
    said = what[0].lower() + what[1:].replace("`", "")
    return f"{key} is wrong: {said}" if key else said
