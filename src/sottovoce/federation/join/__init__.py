"""How parties join with keys of their own: a token, a request, and a roster of signed changes.

Begin with `invitations`, which is the coordinator's side of it without any I/O.
"""
