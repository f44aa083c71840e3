"""A defect of ours is answered with one sentence and told without anybody's text."""

import sys
import traceback

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sottovoce.web.security.answers import refuse

DEFECT = 500


class Unbroken:
    """Answer 500 whatever goes wrong inside; the terminal is told the kind and place of it."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        started = False

        async def noticing(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        try:
            await self._app(scope, receive, noticing)
        except Exception as error:  # noqa: BLE001 - whatever it is, its text may be private
            _tell(error)
            if scope["type"] == "http" and not started:
                await refuse(scope, receive, send, DEFECT, "A defect in Sottovoce, sorry.")


def _tell(error: Exception) -> None:
    place = traceback.extract_tb(error.__traceback__)[-1]
    words = f"A defect in Sottovoce: {type(error).__name__} at {place.filename}:{place.lineno}."
    print(words, file=sys.stderr)  # noqa: T201 - the message itself may hold private text
