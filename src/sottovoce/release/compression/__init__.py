"""Horizontal compression: words summed into fewer columns before noise, and shared out after.

`_word_map` is the public map from words to columns and keeps maps on disk, `_maps` what every
compression shares. Maps are chosen by `_frequency` or by `_embedding` (with `_kmeans`); `_choice`
knows all by name. `_grouped` uses several maps for one corpus, `_decompress` goes back to words.
"""
