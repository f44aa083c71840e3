"""Models that other tools trained: MALLET, gensim, tomotopy and word2vec.

`libraries` has `import_model` and what a library's own code must read; `files` reads plain files.
"""
