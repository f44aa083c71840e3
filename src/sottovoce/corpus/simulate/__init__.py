"""Simulated communities with ground truth.

Begin with `community`: users (`parameters`) get posts with a time and a subject (`_plan`),
which are then worded (`text`). `write` has `simulate`, the four files, and counts of a community's
words.
"""
