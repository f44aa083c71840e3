"""The advisor page (`advise`) and the rank server (`rank`): thin, they parse, call and show.

`security` is what guards both: who may come in, which requests are refused, what answers carry.
"""
