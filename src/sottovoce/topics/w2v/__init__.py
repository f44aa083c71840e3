"""Word vectors by skip-gram: a trained model, its training, and the strength of a post."""
