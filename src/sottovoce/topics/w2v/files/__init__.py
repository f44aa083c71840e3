"""Word vectors in the formats of GloVe and word2vec, text and binary."""
