"""The paper's mode, reproduced and not recommended: the coordinator holds the key."""
