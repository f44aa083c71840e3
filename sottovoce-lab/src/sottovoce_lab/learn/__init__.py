"""Studies of learn: the tables and figures of Private Text Classification, a study a file.

`table_1` compares trainings, `solvers` the secure solvers, and `figures` draws what ran.
"""
