"""A mergeable sketch of a ranking: who stands first, in bounded memory. Begin with ``sketch``."""
