"""Whole runs: one party for each participant, from its documents to what it keeps."""

from sottovoce.learn.runs.agreeing import WrongExamplesError
from sottovoce.learn.runs.calling import UNDECIDED, WrongTrainingError, called
from sottovoce.learn.runs.connection import Connection, InProcess
from sottovoce.learn.runs.dictionary import NoCommonWordsError
from sottovoce.learn.runs.evaluating import JointEvaluation
from sottovoce.learn.runs.holdings import Holdings, MissingHoldingError
from sottovoce.learn.runs.in_process import Finished, run_in_process
from sottovoce.learn.runs.labels import LabelError
from sottovoce.learn.runs.leakage import run_leakage
from sottovoce.learn.runs.making import RunParty, make_party
from sottovoce.learn.runs.records import Trained, read_trained
from sottovoce.learn.runs.terms import INTERMEDIARY, RunKind, RunTerms
from sottovoce.learn.runs.terms_bytes import DamagedTermsError
from sottovoce.learn.runs.values import DamagedResultError

__all__ = [
    "INTERMEDIARY",
    "UNDECIDED",
    "Connection",
    "DamagedResultError",
    "DamagedTermsError",
    "Finished",
    "Holdings",
    "InProcess",
    "JointEvaluation",
    "LabelError",
    "MissingHoldingError",
    "NoCommonWordsError",
    "RunKind",
    "RunParty",
    "RunTerms",
    "Trained",
    "WrongExamplesError",
    "WrongTrainingError",
    "called",
    "make_party",
    "read_trained",
    "run_in_process",
    "run_leakage",
]
