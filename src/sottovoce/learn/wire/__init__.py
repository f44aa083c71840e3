"""What protocol parties are made of: messages, inboxes, leakage, and a way to run them.

Begin with `message`: what a party is, what it says and awaits. `codec` writes messages as bytes.
Protocols are written as `script`s of two parties or as `stages` one after the other; `exchange`
runs parties in one process.
"""
