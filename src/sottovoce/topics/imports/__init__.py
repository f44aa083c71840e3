"""Models that other tools trained: MALLET, gensim, tomotopy and word2vec.

`_libraries` has `import_model` and what a library's own code must read; `_files` reads plain files,
`_terms` makes their words ours, and `_tomotopy_child` is run in a process of its own.
"""

from typing import TYPE_CHECKING

from sottovoce.lazy import attach

__all__ = [
    "FORMATS",
    "from_gensim",
    "from_tomotopy",
    "import_gensim",
    "import_mallet",
    "import_model",
    "import_tomotopy",
    "import_word2vec",
]

if TYPE_CHECKING:
    from sottovoce.topics.imports._files import import_mallet, import_word2vec
    from sottovoce.topics.imports.libraries import (
        FORMATS,
        from_gensim,
        from_tomotopy,
        import_gensim,
        import_model,
        import_tomotopy,
    )
else:
    __getattr__, __dir__ = attach(
        __name__,
        {
            "FORMATS": "sottovoce.topics.imports.libraries",
            "from_gensim": "sottovoce.topics.imports.libraries",
            "from_tomotopy": "sottovoce.topics.imports.libraries",
            "import_gensim": "sottovoce.topics.imports.libraries",
            "import_mallet": "sottovoce.topics.imports._files",
            "import_model": "sottovoce.topics.imports.libraries",
            "import_tomotopy": "sottovoce.topics.imports.libraries",
            "import_word2vec": "sottovoce.topics.imports._files",
        },
        extra="topics",
    )
