"""What the coordinator lets peers start: the runs that it proposes because they asked for them."""

import threading

from sottovoce.errors import ParameterError
from sottovoce.federation.parties.node import PartyNode, Wish
from sottovoce.federation.transport.roster import Member
from sottovoce.learn.runs import RunTerms


class Granting:
    """Answers the wishes of peers, one at a time."""

    def __init__(self, node: PartyNode, *, peers_may_start: bool) -> None:
        self._node = node
        self._peers_may_start = peers_may_start
        self._lock = threading.Lock()

    def granted(self, caller: Member, wish: Wish) -> bytes:
        """Propose what a peer asks for, if it may: the run's name."""
        terms = RunTerms.from_bytes(wish.terms)
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
        past = self._node.past()
        training = next((run for run in past if run.terms.session == terms.training), None)
        if training is None or training.status != "finished":
            raise ParameterError("the coordinator knows no finished training of that name.")
        if caller.role != "peer" or terms.asker != caller.name:
            raise ParameterError("a peer asks in its own name only.")
        # Two at a time would count on the same budget.
        if any(run.status == "running" and run.terms.training == terms.training for run in past):
            raise ParameterError("another query is under way; ask again when it has ended.")


def proposed(node: PartyNode, terms: RunTerms) -> bytes:
    """Propose a run to its parties: its name."""
    return node.propose(terms.to_bytes(), terms.parties)
