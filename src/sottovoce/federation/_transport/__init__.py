"""Frames over mutual TLS 1.3: what calls, what is called, and what is refused."""
