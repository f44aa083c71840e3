"""The runs of a journal as values."""

from sottovoce.federation.journal.journal import Journal
from sottovoce.federation.parties.earlier import Past, record_of
from sottovoce.learn.runs import RunTerms


def past_runs(journal: Journal) -> list[Past]:
    """All runs of a journal, the oldest first."""
    found = []
    for session in journal.sessions():
        kept = journal.run(session)
        if kept is None:
            continue
        result = journal.result(session)
        record = None if result is None else record_of(result)
        terms = RunTerms.from_bytes(kept.terms)
        found.append(Past(session, terms, kept.status, record, kept.begun, kept.ended))
    return found
