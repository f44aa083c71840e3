"""Names in files whose fields are separated by spaces: spaces travel as ``%20``."""

import re

from sottovoce.errors import InputError

# What separates fields or lines, and the escape itself; nothing else is changed, either way.
_UNSAFE = re.compile(r"[%\t\n\v\f\r ]")
_ESCAPED = re.compile(r"%(25|09|0A|0B|0C|0D|20)")


def escaped(name: str) -> str:
    """The name as one field."""
    if not name:
        raise InputError("a name in a TREC file must not be empty.")
    return _UNSAFE.sub(lambda found: f"%{ord(found.group()):02X}", name)


def unescaped(field: str) -> str:
    """The name that ``escaped`` wrote; a field that it did not write stays as it is."""
    return _ESCAPED.sub(lambda found: chr(int(found.group(1), 16)), field)
