"""Rademacher observations: sums of examples under random signs to learn from.

Begin with `rados`: what a rado is, and who may hold what of it. `learners` learn from them, and
`intermediary` makes rados of ciphertexts.
"""
