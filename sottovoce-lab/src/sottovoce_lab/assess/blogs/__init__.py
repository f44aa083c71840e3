"""Exposure on real blogs: topics that bloggers disclose later, judged by what came before.

`study` is where to begin; `topics.toml` is its catalogue.
"""
