"""Secrets in files, and where their passphrase comes from."""
