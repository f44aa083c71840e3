"""Parts of the study on real timelines."""
