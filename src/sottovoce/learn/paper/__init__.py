"""The paper's mode and its solvers: reproduced, to be studied and attacked; not recommended.

**Do not use this mode on private text.** The coordinator holds the only key, and ciphertexts pass
it: the encryption protects the peers from each other, and nobody from the coordinator. It learns
which peers have which features, the sums over all peers, theta, and the score of every row that is
ever classified; a message between two peers that it sees, or one peer that helps it, shows it the
sums of the peers before. Nothing guards rare words, so that a word of one document shows that
document. Every peer learns how many documents there are, each feature's mean and variance, theta
under encryption, and the signs of the rows that it asks for.
`train(mode="paper")` warns (`PaperModeWarning`); `open` and `hidden` are the sound modes.

`_mode` trains and classifies, by sums that go round `_ring`. The rest is the paper's arithmetic
between one who holds ciphertexts and one who holds the key, of which no other mode makes use:
`_products`, the exponential and logarithm of `_functions`, `_inverse`, and made of these `_descent`
and the `_rado_solver`. They are the reference that the hidden mode's solves (`_solve`) are checked
against, and far slower.
"""
