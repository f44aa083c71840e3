"""Faults of the release path, a module for each kind; `support.planted_faults` lists them all."""
