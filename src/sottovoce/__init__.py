"""Sottovoce: assess, release and learn from private text."""

from importlib.metadata import version

__version__ = version("sottovoce")
