"""What a release says, read by the law of its noise.

Begin with `_moments`: unbiased sums over the documents, from which all else follows. Everything
here is free post-processing of what was published.
"""
