"""Everything on a simulated community, ending in one report: ``sottovoce demo``.

``demo`` puts the report together from the parts of ``_assess``, ``_release``,
``_learn`` and ``_loop``; a part whose extra is not installed is left out and says so.
"""
