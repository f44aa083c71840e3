"""Studies of release: the tables and figures of limited-precision release, a study a file.

What they share: `_study` (how much of which documents; privacy levels as stated and as
they truly are; one release at one of them), `_scores` (what is measured of it, and the plot).
"""
