"""What a word is, and the kernel that finds the words of a text.

`rules` decides which words count and in which form. `scan` walks the bytes of texts by its tables
of characters and numbers their words; `codes` applies the rules to each distinct
word once, counts terms by column, and has the way for short lists, `tokenize`.
"""
