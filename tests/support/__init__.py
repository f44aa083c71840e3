"""Slow, obviously right twins of fast code, and makers of awkward input."""
