"""The operator's view: everybody's rank. It *is* the attack tool, so it is off unless asked for.

It needs a flag and a password file when the page is started; every look is on disk, in a file that
only grows, before it is shown; and wrong passwords are slowed down.
"""

import hashlib
import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from sottovoce.advisor.community import Community
from sottovoce.assess.ranking import rank_batches
from sottovoce.errors import InputError
from sottovoce.web.security.look_log import LookLog
from sottovoce.web.security.passwords import PasswordFile
from sottovoce.web.security.rate import RateLimit

TRIES, SECONDS_A_TRY = 5, 30.0
LASTS_S = 15 * 60
ROWS = 100


@dataclass(frozen=True)
class Ranked:
    """One row of the full ranking."""

    rank: int
    user: str
    score: float
    band: str


@dataclass(frozen=True)
class Operator:
    """Who may see the full ranking: whoever knows the password, for a quarter of an hour."""

    password: PasswordFile
    log: LookLog
    clock: Callable[[], float] = time.monotonic
    tries: RateLimit = field(
        default_factory=lambda: RateLimit(burst=TRIES, per_second=1 / SECONDS_A_TRY)
    )
    _until: dict[bytes, float] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def enter(self, password: str) -> str | None:
        """A session for the right password; a try was allowed by ``tries`` before."""
        if not self.password.matches(password):
            self.log.note("wrong password")
            return None
        self.log.note("entered")
        session = secrets.token_urlsafe(32)
        with self._lock:
            self._until[_digest(session)] = self.clock() + LASTS_S
        return session

    def knows(self, session: str | None) -> bool:
        """Whether the session is open still."""
        if session is None:
            return False
        with self._lock:
            return self._until.get(_digest(session), -1.0) > self.clock()

    def leave(self) -> None:
        """Close all sessions."""
        self.log.note("left")
        with self._lock:
            self._until.clear()

    def look(self, community: Community, topic: str, page: int) -> list[Ranked]:
        """One page of the full ranking; noted before anything is worked out."""
        setting = community.setting
        self.log.note("looked", topic=topic, measure=setting.measure, page=page)
        if community.state is None:
            raise InputError("This community is known by histograms only: it has no ranking.")
        how = {setting.measure: setting.how()}
        (batch,) = rank_batches(community.state, how, topics=[topic], setting=setting.risk)
        rows = batch.slice((page - 1) * ROWS, ROWS).select(["rank", "user", "score", "band"])
        return [Ranked(**row) for row in rows.to_pylist()]


def _digest(session: str) -> bytes:
    return hashlib.sha256(session.encode(errors="replace")).digest()
