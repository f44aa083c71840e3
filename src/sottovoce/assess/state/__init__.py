"""What is kept of a community between updates: mergeable, appendable, erasable.

Begin with ``state``: a `State` has for each user the best time ``buckets`` and the ``words`` used;
``assess.setting`` says how it was made. ``parts`` keeps it on disk, as files (``file``) of Arrow
columns.
"""
