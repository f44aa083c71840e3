"""Offline single-file HTML reports and their plots.

`page` is a report, its parts and the look of all plots. `community` introduces a
community, `own_community` says what one's own gives away, `analysis` is the page about a release,
and `result` what a study gives back and the folder it is written to.
"""
