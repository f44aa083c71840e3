"""What a coordinator proposes beside its owner's runs.

It proposes runs that peers ask for (`PeerRequests`), and may begin a training again without peers
that were lost on the way (`RetryWithoutLost`). What a broken-off attempt had opened stays known,
and its difference to the sums of those who are left is the lost peers' own part. So nothing begins
again unless somebody has asked for it.
"""

import threading
from collections.abc import Callable

from sottovoce.errors import ParameterError
from sottovoce.federation.party.party import PartyNode, RunRequest
from sottovoce.federation.party.terms import terms_without
from sottovoce.federation.roster import Member
from sottovoce.learn.run.terms import RunTerms


class PeerRequests:
    """Decides on the runs that peers ask the coordinator for, one at a time."""

    def __init__(self, node: PartyNode, *, peers_may_start: bool) -> None:
        self._node = node
        self._peers_may_start = peers_may_start
        self._lock = threading.Lock()

    def propose(self, caller: Member, request: RunRequest) -> bytes:
        """Propose what a peer asks for, if it may: the run's name."""
        terms = RunTerms.from_bytes(request.terms)
        with self._lock:
            if terms.kind == "classify":
                self._check_query(caller, terms)
            elif caller.role != "peer" or not self._peers_may_start:
                raise ParameterError(
                    "peers may not start runs here; set peers_may_start = true in [training] of "
                    "the coordinator's party.toml, or start it there."
                )
            return proposed(self._node, terms)

    def _check_query(self, caller: Member, terms: RunTerms) -> None:
        history = self._node.history()
        training = next((run for run in history if run.terms.session == terms.training), None)
        if training is None or training.status != "finished":
            raise ParameterError("the coordinator knows no finished training of that name.")
        if caller.role != "peer" or terms.asker != caller.name:
            raise ParameterError("a peer asks in its own name only.")
        # Two at a time would count on the same budget.
        if any(run.status == "running" and run.terms.training == terms.training for run in history):
            raise ParameterError("another query is under way; ask again when it has ended.")


def proposed(node: PartyNode, terms: RunTerms) -> bytes:
    """Propose a run to its parties: its name."""
    return node.propose(terms.to_bytes(), terms.parties)


class RetryWithoutLost:
    """Which trainings may begin again; a `TermsWithout` of a node's aborts.

    Until somebody has given something of their data, even under masks, nothing can have been
    opened: then a training goes on among those who are left, without being asked. Afterwards it
    ends by name. The sum of a step could be taken again among the others, but what was opened with
    the lost one before stands beside it: the counts of documents that decided on the features, less
    what the others' sums say of the same words, are the lost peer's own. So it begins again only
    where somebody has asked for it, and every peer agrees (`without_lost`).

    Args:
        always: whether the configuration says so for every training.
        nothing_given: whether nobody has given anything in the run of these terms.
    """

    def __init__(
        self, *, always: bool, nothing_given: Callable[[RunTerms], bool] = lambda _: False
    ) -> None:
        self._always, self._nothing_given = always, nothing_given
        self._allowed: set[bytes] = set()

    def allow(self, terms: RunTerms) -> None:
        """Let this training begin again; a restarted coordinator has forgotten it."""
        self._allowed.add(terms.session)

    def __call__(self, terms: bytes, lost: frozenset[str]) -> bytes | None:
        """The terms of the next attempt, or None: then the run ends by name."""
        broken_off = RunTerms.from_bytes(terms)
        asked = self._always or broken_off.session in self._allowed
        if not asked and not self._nothing_given(broken_off):
            return None
        following = terms_without(broken_off, lost)
        if following is None:
            return None
        if asked:
            self.allow(following)
        return following.to_bytes()
