"""Configured parties: how commands start them, ask them and read what they keep."""
