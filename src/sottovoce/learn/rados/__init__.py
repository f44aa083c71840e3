"""Rademacher observations: sums of examples under random signs to learn from.

Begin with `rados`: what a rado is, who may hold what of it, and three learners; `intermediary`
makes rados of ciphertexts.
"""
