"""What is kept of a community between updates: mergeable, appendable, erasable.

Begin with ``_state``: a `State` has for each user the best time ``_buckets`` and the ``_words``
used; ``_header`` says how it was made. ``_parts`` keeps it on disk, as files (``_file``) of Arrow
``_columns``.
"""

from typing import TYPE_CHECKING

from sottovoce.lazy import attach

__all__ = [
    "State",
    "StateHeader",
    "from_table",
    "load_state",
    "merge",
    "merge_all",
    "save_state",
    "to_table",
]

if TYPE_CHECKING:
    from sottovoce.assess.state.header import StateHeader
    from sottovoce.assess.state.parts import from_table, load_state, save_state, to_table
    from sottovoce.assess.state.state import State, merge, merge_all
else:
    __getattr__, __dir__ = attach(
        __name__,
        {
            "State": "sottovoce.assess.state.state",
            "StateHeader": "sottovoce.assess.state.header",
            "from_table": "sottovoce.assess.state.parts",
            "load_state": "sottovoce.assess.state.parts",
            "merge": "sottovoce.assess.state.state",
            "merge_all": "sottovoce.assess.state.state",
            "save_state": "sottovoce.assess.state.parts",
            "to_table": "sottovoce.assess.state.parts",
        },
    )
