"""Whole runs: one party for each participant, from its documents to what it keeps."""

from sottovoce.learn.runs.holdings import Holdings, MissingHoldingError
from sottovoce.learn.runs.making import RunParty, make_party
from sottovoce.learn.runs.terms import INTERMEDIARY, RunTerms
from sottovoce.learn.runs.terms_bytes import DamagedTermsError
from sottovoce.learn.runs.values import DamagedResultError

__all__ = [
    "INTERMEDIARY",
    "DamagedResultError",
    "DamagedTermsError",
    "Holdings",
    "MissingHoldingError",
    "RunParty",
    "RunTerms",
    "make_party",
]
