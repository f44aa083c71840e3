"""Posts and documents from files of many formats, from data frames and from rows, as a stream.

Begin with `corpus`, which opens a source: `formats` lists the formats of files, one module each;
`_frame` reads what is in memory; `columns` makes posts or documents of the raw columns. `tally`
says how a corpus is to be read, and counts what became of every row. `guessed` fills in what the
options leave open.
"""
