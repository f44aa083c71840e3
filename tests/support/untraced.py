"""An environment in which a process tells coverage nothing, for what others trace anyway."""

import os


def untraced() -> dict[str, str]:
    """This process's environment without what starts coverage in its children."""
    return {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE_")}
