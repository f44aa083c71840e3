"""Disclosure: whether a post says of its author that a topic applies to them, whatever the crowd."""

from sottovoce.assess.disclosure._disclosures import DisclosureReader, disclosures
from sottovoce.assess.disclosure._levels import Disclosure, Level

__all__ = ["Disclosure", "DisclosureReader", "Level", "disclosures"]


def __dir__() -> list[str]:
    return sorted(__all__)
