"""One file per format: each yields the columns wanted, as the file has them."""
