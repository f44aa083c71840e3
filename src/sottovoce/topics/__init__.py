"""Background knowledge: vector spaces, the catalogue of topics, judgements."""
