"""What `study scale` is made of: the work, measuring it, fitting it, and planning by the fit."""
