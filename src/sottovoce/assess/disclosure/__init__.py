"""Disclosure: whether a post says of its author that a topic applies to them, whatever the crowd.

Begin with `disclosures`, the calls, and ``tables/frames.toml``, the rules. `_tokens` makes plain
words of a post, `_terms` prepares a topic's words, `_post` the sentences. `_said` and `_inferred`
apply rules, and weigh what no rule says. `_context` says why a sentence that fits is no statement
of its author.
"""
