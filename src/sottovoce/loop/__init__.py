"""Assess, release and assess again: exposure against usefulness over privacy settings.

`compare_settings` does what ``sottovoce loop`` does, on files or frames. Behind it a ``_subject``,
a community and what an adversary knows (``_knowledge``), goes through a ``_round`` for each of the
``_settings``: it is released, and friends and adversaries have the same ``_reading`` of it. The
``_adversary`` weighs the ``_evidence`` on people by ``_profiles`` of topics; ``_usefulness`` is
measured; a ``_passage`` is looked for and what is seen set beside its bound. ``_findings`` and
``_verdict`` say what came of it. ``_whole`` hides whole documents, by a release and by counting
``_together``; ``_whole_findings`` compares. `run_loop` does that for several communities.
"""

from typing import TYPE_CHECKING

from sottovoce.lazy import attach

__all__ = [
    "Effort",
    "LoopPlan",
    "Training",
    "compare_settings",
    "run_loop",
    "simulated_subject",
]

if TYPE_CHECKING:
    from sottovoce.loop.compare import compare_settings
    from sottovoce.loop.knowledge import Training
    from sottovoce.loop.loop import LoopPlan, run_loop
    from sottovoce.loop.subject import simulated_subject
    from sottovoce.loop.usefulness import Effort
else:
    __getattr__, __dir__ = attach(
        __name__,
        {
            "Effort": "sottovoce.loop.usefulness",
            "LoopPlan": "sottovoce.loop.loop",
            "Training": "sottovoce.loop.knowledge",
            "compare_settings": "sottovoce.loop.compare",
            "run_loop": "sottovoce.loop.loop",
            "simulated_subject": "sottovoce.loop.subject",
        },
        extra="all",
    )
