"""Horizontal compression: words summed into fewer columns before noise, and shared out after.

`word_map` is the public map from words to columns and keeps maps on disk, `maps` what every
compression shares, and several maps for one corpus. Maps are chosen by `frequency` or by
`embedding` (with `_kmeans`); `decompress` goes back to words.
"""
