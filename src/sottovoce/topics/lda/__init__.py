"""Latent Dirichlet allocation: a trained model, its training, and the topics of a post."""
