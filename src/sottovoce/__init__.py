"""Sottovoce: assess, release and learn from private text."""


def __getattr__(name: str) -> str:
    # Looked up when asked for: reading the metadata takes longer than the rest of the import.
    if name == "__version__":
        from importlib.metadata import version  # noqa: PLC0415 - see above

        return version("sottovoce")
    raise AttributeError(name)
