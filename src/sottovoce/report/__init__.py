"""Offline single-file HTML reports and their plots.

`_page` is a report and its parts, `_figures` the look of all plots. `_community` introduces a
community, `_own_community` says what one's own gives away, and `_result` is what a study gives back
and the folder it is written to.
"""
