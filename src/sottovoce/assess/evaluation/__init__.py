"""How well a ranking finds the sensitive users: metrics, intervals, tests and baselines.

``runs.evaluate`` does it all; ``judged`` says who is sensitive, ``metrics`` scores rankings with
ties, and ``significance`` gives intervals and compares.
"""
