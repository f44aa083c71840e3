"""What is kept of a community between updates: mergeable, appendable, erasable.

Begin with ``_state``: a ``State`` has for each user the best time ``_buckets`` and the ``_words``
used; ``_header`` says how it was made. ``_parts`` keeps it on disk, as files (``_file``) of Arrow
``_columns``.
"""
