"""Hidden solves: A theta = b between a coordinator and a key holder, neither of whom sees it."""
