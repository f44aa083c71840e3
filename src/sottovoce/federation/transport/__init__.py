"""Frames over mutual TLS 1.3: their format and refusals in `frames`, then `client` and `server`."""
