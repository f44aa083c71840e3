"""Horizontal compression: words summed into fewer columns before noise, and shared out after.

`word_map` is the public map from words to columns and keeps maps on disk, `maps` what every
compression shares. Maps are chosen by `frequency` or by `embedding` (with `_kmeans`); `grouped`
knows all by name and uses several maps for one corpus; `decompress` goes back to words.
"""
