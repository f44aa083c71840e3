"""The privacy ledger: what a corpus may spend, spent before noise is drawn, and never twice."""
