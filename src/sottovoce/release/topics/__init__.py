"""Topics of released counts, read by the law of their noise.

Begin with `estimator`. Cells above zero are kept; what each says of its count gives pairs of words
(`_expected`), pairs a first set of topics, and `_refine` improves them by the likelihood of every
cell, with the sums of `_kernels`. `evaluation` compares topics with those of the true text.
"""
