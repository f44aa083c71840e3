"""The catalogue that ships with the package, and the rules for reading its topics in posts.

Begin with `rules`; the lists themselves are in ``topics/``, a file for each topic.
"""
