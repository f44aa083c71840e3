"""Trainings that the coordinator begins again without peers that were lost on the way.

What a broken-off attempt had opened stays known, and its difference to the sums of those who are
left is the lost peers' own part. So nothing begins again unless somebody has asked for it.
"""

from sottovoce.federation.parties.terms import terms_without
from sottovoce.learn.runs import RunTerms


class Retrying:
    """Which trainings may begin again; an `engine.endings.TermsWithout`.

    Args:
        always: whether the configuration says so for every training.
    """

    def __init__(self, *, always: bool) -> None:
        self._always = always
        self._allowed: set[bytes] = set()

    def allow(self, terms: RunTerms) -> None:
        """Let this training begin again; a restarted coordinator has forgotten it."""
        self._allowed.add(terms.session)

    def __call__(self, terms: bytes, lost: frozenset[str]) -> bytes | None:
        """The terms of the next attempt, or None: then the run ends by name."""
        broken_off = RunTerms.from_bytes(terms)
        if not self._always and broken_off.session not in self._allowed:
            return None
        following = terms_without(broken_off, lost)
        if following is None:
            return None
        self.allow(following)
        return following.to_bytes()
