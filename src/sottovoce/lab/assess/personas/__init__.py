"""Personas in communities of our own sentences: what they say outright, and who is found.

`study` is where to begin; `sentences.toml` has what the demo's sentences lack.
"""
