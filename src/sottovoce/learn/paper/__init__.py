"""The paper's mode and its solvers: reproduced, to be studied and attacked; not recommended.

**Do not use this mode on private text.** The coordinator holds the only key, and ciphertexts pass
it: the encryption protects the peers from each other, and nobody from the coordinator. It learns
the sums over all peers, theta, and the score of every row that is ever classified; if it sees one
message between two peers, or one peer helps it, it reads single peers' sums. Nothing guards rare
words, so that a word of one document shows that document. Every peer learns how many documents
there are, each feature's mean and variance, theta under encryption, and the signs of its own rows.
`train(mode="paper")` warns (`PaperModeWarning`); `open` and `hidden` are the sound modes.

`_mode` trains and classifies, by sums that go round `_ring`. The rest is the paper's arithmetic
between one who holds ciphertexts and one who holds the key, of which no other mode makes use:
`_products`, the exponential and logarithm of `_functions`, `_inverse` and its `_packed` form, and
made of these `_descent` and the `_rado_solver`. They are the reference that the hidden mode's
solves (`_solve`) are checked against, and far slower.
"""
