"""The hidden mode: nobody sees the sums or the classifier; queries are answered together."""
