"""Parts of the study of the rank server."""
