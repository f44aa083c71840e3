"""Hidden solves: A theta = b between a coordinator and a key holder, neither of whom sees it.

Begin with `system` (what is solved, and what of it is public) and `plan` (how, and what a share
is). Two solves: exact under masks (`masked`), and `chebyshev`'s iteration on shares for many
unknowns. Each is a script for either
party. `field` is the arithmetic beneath.
"""
