"""A release's card: what it promises, in numbers and in words, and nothing private.

`card.json` (format "sottovoce-release", version 1) holds:

- `documents`, `words`, `columns`: the released shape; the number of documents is public;
- `stated`, `guarantee`: what was asked for, and what truly holds per document (equal in tight
  accounting), and `per_user` where documents per user are bounded, all as exact records;
- `documents_per_user`: the most documents of any user that are in the release, or null;
- `in_words`, `threat_model`: for people; `word`: what N counts;
- `noise_rate`: the noise's rate on every column, in nats per word, as an exact fraction;
- `threshold`: outputs below it were dropped, or null;
- `accounting`: "tight" or "paper"; `software`: what wrote the card;
- `prior`: where word frequencies came from and what they cost;
- `compression`: the method and how many maps; the maps themselves are in `map.npz`, `map.json`;
- `vocabulary`: its fingerprint, whether the data chose the words, and what was declared;
- `labels`, where the release carries public labels: how many different ones; `labels.txt` holds
  a line for each document, published as it is;
- `groups`, where a row is a group of documents: `by` which column, and whether `ids.txt` publishes
  what each is called (`ids`);
- `ledger`: the number of the spend that paid, or null;
- `files`: the SHA-256 of every other file of the folder.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import sottovoce
from sottovoce.corpus.vocabulary import Vocabulary
from sottovoce.errors import InputError
from sottovoce.parsing import parse_json
from sottovoce.privacy.exact import exact, positive, positive_integer
from sottovoce.privacy.guarantee import COMPUTATIONAL, LimitedPrecision
from sottovoce.privacy.whole_document import from_record, to_record
from sottovoce.release.groups import LABELS_IN_WORDS, Grouping
from sottovoce.release.plan import ACCOUNTINGS, COMPRESSIONS, PRIORS, ReleasePlan

FORMAT = "sottovoce-release"
VERSION = 1
LARGEST_CARD = 1 << 20
# An example: how long documents are is private.
_WHOLE_WORDS = 50
_FOR_PEOPLE = {"format", "version", "software", "in_words", "threat_model", "word"}
_UNREADABLE = (
    KeyError,
    TypeError,
    ValueError,
    AttributeError,
    ZeroDivisionError,
    RecursionError,
    OverflowError,
)

_READER = (
    "Whoever reads this folder, knows everything about the other documents and has any other "
    "knowledge, learns no more about one document than the guarantee says. How many documents "
    "there are, in which order and whose, is not hidden. Other releases of the same documents "
    "add their epsilons to this one's."
)
WORD = (
    "A word is a run of letters, numbers and underscores, in lower case, of at least 2 characters. "
    "Anything else ends it: a hyphenated compound such as mother-in-law is several words, and so "
    "are the parts of an address. N counts such words."
)
_TRUST = {
    "public": "Noise can be added where each document is; nobody has to be trusted with it.",
    "local": "Noise can be added where each document is; nobody has to be trusted with it.",
    "central": "Whoever computed the word frequencies saw all true counts and must be trusted.",
}
_TRUST_OF_GROUPS = (
    "Whoever put the documents of a row together saw their true counts and must be trusted. A "
    "document in what is said here is a row."
)


@dataclass(frozen=True)
class ReleaseCard:
    """The fields of `card.json`.

    >>> import tempfile, sottovoce as sv
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     released = sv.release_counts(
    ...         ["my debt"], words=["debt"], epsilon=2, precision=2, ledger=f"{folder}/ledger",
    ...     )
    >>> released.card.documents, released.card.threshold
    (1, None)
    """

    documents: int
    words: int
    columns: int
    stated: LimitedPrecision
    guarantee: LimitedPrecision
    per_user: LimitedPrecision | None
    documents_per_user: int | None
    noise_rate: str
    threshold: int | None
    prior: dict[str, str]
    compression: dict[str, Any]
    accounting: str
    vocabulary: dict[str, Any]
    ledger: dict[str, int] | None
    files: dict[str, str] = field(default_factory=dict)
    labels: dict[str, int] | None = None
    groups: dict[str, Any] | None = None

    def as_json(self) -> str:
        """The text of `card.json`; the same card gives the same text."""
        fields: dict[str, Any] = {
            "format": FORMAT,
            "version": VERSION,
            "software": f"sottovoce {sottovoce.__version__}",
            **vars(self),
            "in_words": self.in_words(),
            "threat_model": self.threat_model(),
            "word": WORD,
        }
        if self.labels is None:
            del fields["labels"]
        if self.groups is None:
            del fields["groups"]
        for name in ("stated", "guarantee", "per_user"):
            value = fields[name]
            fields[name] = None if value is None else to_record(value)
        return json.dumps(fields, indent=2, sort_keys=True) + "\n"

    def in_words(self) -> str:
        """The promise, for people."""
        user = "" if self.per_user is None else " " + self.per_user.in_words()
        declared = ", ".join(self.vocabulary["declared"])
        chosen = f" What was declared is not covered: {declared}." if declared else ""
        labels = "" if self.labels is None else f" {LABELS_IN_WORDS}"
        groups = "" if self.groups is None else f" {Grouping(**self.groups).in_words()}"
        whole = self.whole_in_words()
        return f"{self.guarantee.in_words()} {whole}{user}{chosen}{labels}{groups}"

    def whole_in_words(self) -> str:
        """What is left of the promise for a whole row of a length that is no secret."""
        return self.guarantee.whole_in_words(_WHOLE_WORDS, self.row)

    @property
    def row(self) -> str:
        """What a row of counts is, for people."""
        return "document" if self.groups is None else "row (all documents of a group)"

    def threat_model(self) -> str:
        """Who must be trusted, and against whom the promise holds."""
        local = self.prior["kind"] != "central"
        trust = _TRUST_OF_GROUPS if local and self.groups else _TRUST[self.prior["kind"]]
        return f"{_READER} {trust} {COMPUTATIONAL}"


def make_card(
    plan: ReleasePlan,
    vocabulary: Vocabulary,
    *,
    documents: int,
    documents_per_user: int | None = None,
    declared: tuple[str, ...] = (),
    spend: int | None = None,
    labels: Sequence[str] | None = None,
    grouping: Grouping | None = None,
) -> ReleaseCard:
    """The card of a release by ``plan``, before its files are known."""
    settings = plan.settings
    paid = settings.reads_frequencies
    return ReleaseCard(
        documents=documents,
        words=plan.words,
        columns=plan.columns,
        stated=settings.guarantee,
        guarantee=plan.guarantee,
        per_user=plan.guarantee.for_user(documents_per_user) if documents_per_user else None,
        documents_per_user=documents_per_user,
        noise_rate=str(plan.noise_rate),
        threshold=settings.threshold,
        prior={"kind": settings.prior if paid else "public", "rate": str(settings.prior_rate)},
        compression={"method": settings.compression, "maps": settings.maps},
        accounting=settings.accounting,
        vocabulary={
            "fingerprint": vocabulary.fingerprint,
            "data_dependent": vocabulary.data_dependent,
            "origin": vocabulary.origin,
            "declared": list(declared),
        },
        ledger=None if spend is None else {"spend": spend},
        labels=None if labels is None else {"different": len(set(labels))},
        groups=None if grouping is None else dict(vars(grouping)),
    )


def read_card(text: str) -> ReleaseCard:
    """The card in ``text``, or an error that says what is wrong with it."""
    try:
        fields = parse_json(text, object_pairs_hook=_each_once)
        card = _card_of(fields)
        _refuse_unknown(fields)
        own = parse_json(card.as_json()) | {"software": fields["software"]}
    except _UNREADABLE as error:
        raise InputError(f"the card is not one of a release: {_reason(error)}.") from None
    # As text, where 1, 1.0 and true differ.
    if json.dumps(own, sort_keys=True) != json.dumps(fields, sort_keys=True):
        raise InputError("the card contradicts itself; it was changed by hand.")
    return card


def _refuse_unknown(fields: Mapping[str, Any]) -> None:
    """Whatever this version does not know may be about the noise: its law would be a guess."""
    known = set(ReleaseCard.__dataclass_fields__) | _FOR_PEOPLE
    if unknown := sum(name not in known for name in fields):
        raise InputError(
            f"it has {unknown} field(s) that this version does not know, so that the law of its "
            "noise is not known either; read it with the version that wrote it"
        )


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise InputError("a field is there twice")
    return fields


def _card_of(fields: Mapping[str, Any]) -> ReleaseCard:
    if (fields["format"], fields["version"]) != (FORMAT, VERSION):
        raise InputError(f"it must be of format {FORMAT}, version {VERSION}")
    named = set(ReleaseCard.__dataclass_fields__) - ({"labels", "groups"} - set(fields))
    parts = {name: fields[name] for name in named}
    for name in ("stated", "guarantee", "per_user"):
        parts[name] = None if parts[name] is None else _read_guarantee(parts[name])
    card = ReleaseCard(**parts)
    _check_fields(card)
    return card


def _check_types(card: ReleaseCard) -> None:
    """Refuse what only looks like a card: a truth value is no number, a text no list."""
    shape = (card.documents, card.words, card.columns, card.compression["maps"])
    numbers = (*shape, *(card.labels or {}).values())
    optional = (card.documents_per_user, card.threshold, *(card.ledger or {}).values())
    texts = (card.noise_rate, card.accounting, *card.prior.values(), *card.files.values())
    kinds = (
        all(type(number) is int for number in numbers),
        all(number is None or type(number) is int for number in optional),
        all(type(text) is str for text in (*texts, *card.vocabulary["declared"])),
        type(card.vocabulary["data_dependent"]) is bool,
        set(card.ledger or {"spend"}) == {"spend"},
        set(card.labels or {"different"}) == {"different"},
        card.groups is None
        or list(map(type, (card.groups["by"], card.groups["ids"]))) == [str, bool],
        set(card.groups or {"by", "ids"}) == {"by", "ids"},
        set(card.prior) == {"kind", "rate"},
        set(card.compression) == {"method", "maps"},
        set(card.vocabulary) == {"fingerprint", "data_dependent", "origin", "declared"},
    )
    if not all(kinds):
        raise InputError("a field is not of its kind")


def _check_fields(card: ReleaseCard) -> None:
    """Refuse a card whose numbers cannot all be true."""
    _check_types(card)
    noise, prior = positive(card.noise_rate, "noise_rate"), exact(card.prior["rate"], "prior rate")
    compressed = card.compression["method"] != "none"
    weaker = Fraction(card.words, card.columns) if card.accounting == "paper" else Fraction(1)
    user = (
        None
        if card.documents_per_user is None
        else card.guarantee.for_user(card.documents_per_user)
    )
    facts = {
        "shape": card.words >= card.columns >= 1 and card.documents >= 1,
        "compression": card.compression["method"] in COMPRESSIONS and card.compression["maps"] >= 1,
        "columns": (card.columns < card.words) is compressed,
        "accounting": card.accounting in ACCOUNTINGS,
        "prior": card.prior["kind"] in PRIORS and prior >= 0,
        "paid prior": (card.prior["kind"] == "public") is (prior == 0),
        "unit": card.guarantee.unit == card.stated.unit == "document",
        "stated": card.guarantee.n == card.stated.n,
        "cost": card.guarantee.rate == noise + prior,
        "noise": noise == weaker * (card.stated.rate - prior),
        "per_user": (card.per_user, None if user is None else user.n)
        == (user, None if card.per_user is None else card.per_user.n),
        "labels": card.labels is None or 1 <= card.labels["different"] <= card.documents,
        "threshold": card.threshold is None or positive_integer(card.threshold, "threshold") > 0,
    }
    wrong = [name for name, holds in facts.items() if not holds]
    if wrong:
        raise InputError(f"its {' and '.join(wrong)} cannot be true")


def _read_guarantee(record: Mapping[str, Any]) -> LimitedPrecision:
    guarantee = from_record(record)
    if not isinstance(guarantee, LimitedPrecision):
        raise InputError("a release's guarantee must be of limited precision")
    return guarantee


def _reason(error: Exception) -> str:
    if isinstance(error, KeyError):
        return f"it lacks the field {error}"
    return str(error).rstrip(".") if isinstance(error, InputError) else "it is not readable"
