"""The catalogue that ships with the package, and the rules for reading its topics in posts.

Begin with `_rules`; the lists themselves are in ``topics/``, a file for each topic.
"""

from sottovoce.topics.shipped._rules import (
    TopicRules,
    rules_of,
    shipped_catalogue,
    shipped_rules,
)

__all__ = ["TopicRules", "rules_of", "shipped_catalogue", "shipped_rules"]


def __dir__() -> list[str]:
    return sorted(__all__)
