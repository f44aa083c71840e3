"""Parties of a test that are killed for good in the middle of something."""

import os
import signal

from sottovoce.federation._node.exchange import MessageOutbox
from sottovoce.federation.transport.frames import Frame


def kill(victim: str, *, at: int) -> None:
    """In the process of the victim, which is about to begin: end it at its so manieth message."""
    if not os.environ["XDG_STATE_HOME"].endswith(f"/{victim}"):
        return
    due, said = MessageOutbox.due, list[Frame]()

    def counted(self: MessageOutbox, receiver: str, now: float) -> Frame | None:
        frame = due(self, receiver, now)
        if frame is not None and frame.header.kind == "message":
            said.append(frame)
            if len(said) == at:
                os.kill(os.getpid(), signal.SIGKILL)
        return frame

    MessageOutbox.due = counted  # type: ignore[method-assign] # in this process alone
