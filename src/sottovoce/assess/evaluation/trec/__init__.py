"""TREC's file formats, for tools that others have."""

from sottovoce.assess.evaluation.trec.qrels import read_qrels, write_qrels
from sottovoce.assess.evaluation.trec.runs import read_run, write_runs

__all__ = ["read_qrels", "read_run", "write_qrels", "write_runs"]
