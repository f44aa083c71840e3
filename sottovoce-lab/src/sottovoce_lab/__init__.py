"""Experiments: the tables and figures of the papers as studies, and benches against the peers.

Begin with `studies`, the list of all studies by name (`sottovoce study NAME`): each is one file of
`assess`, `release`, `learn`, `advisor` or `scale`, with a ``run_...`` that takes `StudyOptions` and
gives a `StudyResult`; `loop` is the study of the closed loop. `bench` times our work beside other
libraries' (`sottovoce bench NAME`). Of the product only the command line and the demo import from
here.
"""
