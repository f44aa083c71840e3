"""The hidden mode: nobody sees the sums or the classifier; queries are answered together.

Who sees what. The coordinator has ciphertexts and no key to them, the key holder a key and only
uniform numbers to open; each ends with a uniform share of theta. Both learn who asks, and for how
many rows. The coordinator learns which peers have which features, and like every peer each
feature's counts, mean and variance. A peer has theta under encryption only, and learns the signs of
its own queries, which are limited by a budget, since many signs give theta away. Coordinator and
key holder together learn everything: they must be parties that do not collude (nor may the first
peer with either of them, where it deals the randomness of the solve).

`train` is the training and `solvers` the two solves of `learn.solve` behind one interface.
`classify` is a query of two labels; `largest` one of several, by the `comparison` of two numbers.
`learn.query_budget` counts what each peer may still ask for.
"""
