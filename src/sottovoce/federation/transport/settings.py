"""How patient a node is, and how much it takes."""

from dataclasses import dataclass

from sottovoce.errors import ParameterError

_LARGEST_KEPT = 999_999_000  # SQLite keeps no more in one place


@dataclass(frozen=True)
class Settings:
    """All times in seconds, all sizes in bytes.

    Attributes:
        deadline_s: after so long a silence a party counts as lost.
        beat_s: how often a party says that it is alive.
        retry_s: the wait before a frame is sent again, doubled each time up to ``retry_most_s``.
        retry_most_s: the longest such wait.
        call_s: how long sending one frame may take, besides its size over ``slowest_rate``.
        slowest_rate: bytes per second that a connection must manage.
        give_up_s: how long a frame of an ended run is still sent again.
        largest_body: bodies that declare more are refused before they are read.
        longest_run_s: a run that lasts longer is ended, whatever it still waits for.
        most_held: how many frames of one sender wait for a party; more are put off.
        most_bodies: how many bodies are read at a time.
        retry_without_lost: whether the coordinator begins again without those who were lost.
        most_attempts: how often it does.
    """

    deadline_s: float = 12.0
    beat_s: float = 1.0
    retry_s: float = 0.05
    retry_most_s: float = 1.0
    call_s: float = 10.0
    slowest_rate: float = 1e6
    give_up_s: float = 60.0
    largest_body: int = 1 << 29
    longest_run_s: float = 86400.0
    most_held: int = 64
    most_bodies: int = 4
    retry_without_lost: bool = False
    most_attempts: int = 3

    def __post_init__(self) -> None:
        times = (self.deadline_s, self.beat_s, self.retry_s, self.retry_most_s, self.call_s)
        if min(times) <= 0:
            raise ParameterError("deadlines, beats and waits must be > 0 seconds.")
        if not 0 < self.largest_body <= _LARGEST_KEPT:
            raise ParameterError(f"largest_body must be 1 to {_LARGEST_KEPT} bytes.")
        if self.deadline_s < 2 * self.beat_s:
            raise ParameterError("deadline_s must be at least twice beat_s.")

    def call_limit(self, size: int) -> float:
        """How long sending a body of ``size`` bytes may take."""
        return self.call_s + size / self.slowest_rate

    def wait(self, failures: int) -> float:
        """How long to wait after so many failures."""
        return min(self.retry_most_s, self.retry_s * 2.0 ** min(failures, 30))
