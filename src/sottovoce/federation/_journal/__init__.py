"""The journal: what a party must not forget, in SQLite and sealed. Begin with `journal`."""
