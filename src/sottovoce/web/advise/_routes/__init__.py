"""The advisor page's routes."""
