"""Studies of assess: the tables and figures of R-Susceptibility, its robustness, and real blogs.

One study a file: `table_1` to `table_3` are about judges, `table_4` to `table_6`, `figure_1` and
`robustness` about measures on simulated communities (`experiment` draws and scores these,
`outcomes` judges them, `_paper` has the figures to compare with); `blogs` is about real timelines.
"""
