"""Why a user stands where they stand: their posts and words by contribution."""
