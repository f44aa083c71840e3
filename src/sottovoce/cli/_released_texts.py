"""What ``release`` says of the texts it counted, its promise, and what else lies in its folder."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sottovoce.release.card import ReleaseCard
    from sottovoce.release.job import Job


def named_facts(facts: Mapping[str, object], names: Mapping[str, str]) -> dict[str, object]:
    """Facts as the screen calls them."""
    return {names.get(name, name): value for name, value in facts.items()}


def units(job: "Job") -> dict[str, str]:
    """What rows and texts are called on the screen; a row may be a group of texts."""
    if job.documents.grouping is None:
        return {}
    return {
        "documents": f"rows, one for each {job.documents.grouping.by}",
        "documents_alike": "texts alike (private)",
    }


def texts_read(job: "Job") -> dict[str, object]:
    """How many texts were read, and how many are not only their author's."""
    seen = job.documents.found
    if seen is None:
        return {}
    texts = {} if job.documents.grouping is None else {"texts": seen.texts}
    return {**texts, "texts_with_quotes_tags_or_addresses": seen.with_others_words}


def alike(job: "Job") -> int:
    """How many say what another says: copies of one document would each spend once more."""
    return 0 if job.documents.documents is None else job.documents.documents.alike


def as_they_stand(job: "Job") -> Iterator[str]:
    """Sentences about what was counted, rows and texts apart."""
    seen, grouping = job.documents.found, job.documents.grouping
    if same := alike(job):
        yield (
            f"Texts with the same words as another text: {same:,}. If they are copies of one "
            "document, that document spends once for each copy, and the ledger charges it once "
            "only: leave the copies out."
        )
    if seen is None:
        return
    if grouping is not None:
        folded = seen.values - len(job.documents.groups)
        replies = f" Replies (Re: ...) went to their subject: {folded:,} names." if folded else ""
        yield f"{seen.texts:,} texts are in {len(job.documents.groups):,} rows.{replies}"
    if seen.with_others_words:
        yield (
            f"{seen.with_others_words:,} of {seen.texts:,} texts hold quotes, tags or web "
            "addresses (private). All texts are counted as they stand, those of deleted authors "
            "and bots too: release cleans nothing."
        )


def promised(card: "ReleaseCard") -> dict[str, object]:
    """The guarantees of the card, as records."""
    from sottovoce.privacy.records import to_record  # noqa: PLC0415 - fast --help

    return {
        "stated": to_record(card.stated),
        "guarantee": to_record(card.guarantee),
        "per_user": None if card.per_user is None else to_record(card.per_user),
    }
