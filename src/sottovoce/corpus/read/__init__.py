"""Posts and documents from files of many formats, from data frames and from rows, as a stream.

Begin with `corpus`, which opens a source and lists the formats of files, one module each; `_frame`
reads what is in memory; `columns` makes posts or documents of the raw columns. `tally` says how a
corpus is to be read and what a format offers, and counts what became of every row. `guessed` fills
in what the options leave open.
"""
