"""What a word is, and the kernel that finds the words of a text.

`_rules` decides which words count and in which form. `_scan` walks the bytes of texts by the tables
of `_characters` and numbers their words by a `_lexicon`; `_codes` applies the rules to each
distinct word once, and has the way for short lists, `tokenize`.
"""
