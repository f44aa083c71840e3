"""``python -m sottovoce`` is the command."""

from sottovoce.cli import main

main()
