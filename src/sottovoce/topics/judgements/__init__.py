"""The judgement studies: sheets out, votes in, agreement, and what follows for a catalogue.

`sheets` asks judges about topics and `profiles` about people, `votes` reads their answers, and
`agreement` says how far they agree and what they decided.
"""
