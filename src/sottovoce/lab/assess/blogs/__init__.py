"""Exposure on real blogs: topics that bloggers disclose later, judged by what came before."""
