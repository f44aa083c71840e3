"""Classifiers that learn from a release and labels, and read true or released documents.

All of them know the law of the noise. `_features` is what they sum, `_shrink` how far a noisy mean
is trusted, `_expected` what a released cell says; `_rows` and `_sums` read documents block by
block, and `_choice` compares classifiers on released documents that were held out.
"""
