"""Assess, release and assess again: exposure against usefulness over privacy settings.

`compare_settings` does what ``sottovoce loop`` does, on files or frames; `run_loop` does it for
several communities. A ``subject`` is a community and what is publicly known of it. Its
``documents`` go through a ``_round`` for each setting: they are released, and friends and
adversaries have the same ``_reading`` of the release. The ``adversary`` looks for people and for a
planted passage, and ``usefulness`` is measured. ``_whole`` hides whole documents, by a release and
by counting together. ``_verdict`` and ``_figures`` say what came of it.
"""

from typing import TYPE_CHECKING

from sottovoce.lazy import attach

__all__ = [
    "Effort",
    "LoopPlan",
    "compare_settings",
    "run_loop",
    "simulated_subject",
]

if TYPE_CHECKING:
    from sottovoce.loop.loop import LoopPlan, compare_settings, run_loop
    from sottovoce.loop.subject import simulated_subject
    from sottovoce.loop.usefulness import Effort
else:
    __getattr__, __dir__ = attach(
        __name__,
        {
            "Effort": "sottovoce.loop.usefulness",
            "LoopPlan": "sottovoce.loop.loop",
            "compare_settings": "sottovoce.loop.loop",
            "run_loop": "sottovoce.loop.loop",
            "simulated_subject": "sottovoce.loop.subject",
        },
        extra="all",
    )
