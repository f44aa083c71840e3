"""The protocols of Private Text Classification that the product does not run, as printed.

Each is a plain function with all parties in this process: a reference to read, to check faster ways
against, and to attack. None of it is for private text. `two_parties` has the arithmetic between a
holder of ciphertexts and a holder of the key, `solvers` what is made of it, `printed` training and
classification by a coordinator who holds the key, and `blocks` rados without entity matching.
"""
