"""What a word is, and the kernel that finds the words of a text."""
