"""Many windows of one page at once, each asking at times of its own."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from sottovoce.bench.advise_page import Page

_PAUSE_S = 1.0


def asked_at_once(
    page: Page, ask: Callable[[Page, int], object], windows: int, questions: int
) -> list[float]:
    """How long each answer took, in seconds: ``questions`` a second apart in every window.

    Windows begin evenly spread over the first second. The clock starts when a question is due, not
    when it could be sent: an answer that makes later questions wait counts for them too.
    """
    begin = time.perf_counter()

    def window(place: int) -> list[float]:
        own, taken = page.another_window(), []
        try:
            for number in range(questions):
                due = begin + _PAUSE_S * (1 + number + place / windows)
                time.sleep(max(0.0, due - time.perf_counter()))
                ask(own, place + number)
                taken.append(time.perf_counter() - due)
        finally:
            own.close()
        return taken

    with ThreadPoolExecutor(windows) as pool:
        return [each for taken in pool.map(window, range(windows)) for each in taken]
