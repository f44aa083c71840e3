"""The judgement studies: sheets out, votes in, agreement, and what follows for a catalogue.

`votes` asks judges about topics and reads their answers, `profiles` asks about people, and
`agreement` says how far they agree and what they decided.
"""
