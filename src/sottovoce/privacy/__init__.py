"""Guarantees, exact noise and its randomness, the ledger, and audits of samplers."""
