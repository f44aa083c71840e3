"""The advisor page (`advise`) and the rank server (`rank`): thin, they parse, call and show.

`guards` is what guards both: which requests are refused, and what answers carry.
"""
