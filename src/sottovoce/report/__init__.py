"""Offline single-file HTML reports and their plots."""
