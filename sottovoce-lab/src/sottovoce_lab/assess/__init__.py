"""Studies of assess: the tables and figures of R-Susceptibility, its robustness, and real blogs.

`table_1` to `table_3` are about judges, `tables` (4 to 6) and `figure_1`
about measures on simulated communities (`experiment` draws and scores these,
`outcomes` judges them, `_paper` has the figures to compare with); `blogs` is about real timelines.
"""
