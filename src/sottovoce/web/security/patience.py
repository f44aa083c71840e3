"""How long a body may take to arrive: whoever sends a byte a minute must not hold a place."""

PATIENCE_S = 30.0
SLOWEST_BYTES_PER_S = 1 << 20
TOO_SLOW = "What was sent took too long to arrive; send it again."


def patience_s(most_bytes: int) -> float:
    """Half a minute, and what the largest allowed body takes at a MiB a second."""
    return PATIENCE_S + most_bytes / SLOWEST_BYTES_PER_S
