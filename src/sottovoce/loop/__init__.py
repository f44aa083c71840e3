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

if TYPE_CHECKING:
    from sottovoce.loop.loop import LoopPlan as LoopPlan
    from sottovoce.loop.loop import compare_settings as compare_settings
    from sottovoce.loop.loop import run_loop as run_loop
    from sottovoce.loop.subject import simulated_subject as simulated_subject
    from sottovoce.loop.usefulness import Effort as Effort
else:
    __getattr__, __dir__ = attach(__name__, extra="all")
