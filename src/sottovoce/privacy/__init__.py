"""What privacy rests on, below the verbs that need it: where all its randomness comes from."""
