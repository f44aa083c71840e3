"""Whole runs: one party for each participant, from its documents to what it keeps."""
