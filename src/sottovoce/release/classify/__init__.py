"""Classifiers that learn from a release and labels, and read true or released documents.

All of them know the law of the noise. `features` is what they sum and what a released cell says of
it; `inputs` reads documents block by block, and has what classifiers share; `bayes` and `logistic`
are the classifiers, compared on released documents that were held out.
"""
