"""Run as a module."""

from sottovoce.cli import main

main()
