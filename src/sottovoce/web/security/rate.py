"""How often something may be tried."""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable

MOST_KEYS = 10_000


class RateLimit:
    """A bucket of ``burst`` tries for each key, refilled with ``per_second``."""

    def __init__(
        self, *, burst: float, per_second: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._burst = burst
        self._per_second = per_second
        self._clock = clock
        self._lock = threading.Lock()
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def allows(self, key: str = "") -> bool:
        """Whether one more try is allowed now; it is counted."""
        with self._lock:
            left = self._tries_left(key)
            allowed = left >= 1
            self._left[key] = (left - 1 if allowed else left, self._clock())
            self._left.move_to_end(key)
            # The key longest untouched has the fullest bucket, so forgetting it gives least away.
            while len(self._left) > MOST_KEYS:
                self._left.popitem(last=False)
            return allowed

    def wait_s(self, key: str = "") -> float:
        """Seconds until the next try is allowed."""
        with self._lock:
            return max(0.0, (1 - self._tries_left(key)) / self._per_second)

    def _tries_left(self, key: str) -> float:
        left, since = self._left.get(key, (self._burst, self._clock()))
        return min(self._burst, left + (self._clock() - since) * self._per_second)
