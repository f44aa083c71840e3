"""Rademacher observations: irreversible sums of examples to learn from."""
