"""Hidden solves: A theta = b between a coordinator and a key holder, neither of whom sees it.

Begin with `plan`: what of a system is public, how it is solved, and what a share is. Two solves:
exact under masks (`masked`), and `chebyshev`'s iteration on shares for many unknowns; each is a
script for either party. `field` is the arithmetic beneath.
"""
