"""What protocol parties are made of: messages, inboxes, leakage, and a way to run them.

Begin with `message`: what a party is, what it says and awaits. `codec` writes messages as bytes.
Protocols are `stages` one after the other, or scripts of two parties; `exchange` runs parties in
one process.
"""
