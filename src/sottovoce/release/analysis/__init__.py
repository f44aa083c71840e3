"""What a release says, read by the law of its noise.

Begin with `moments`: unbiased sums over the documents, from which all else follows, and how many
dimensions stand above the noise. `totals` shows sums with intervals, and `summary` pairs of words
and all of it together. It is free post-processing of what was published.
"""
