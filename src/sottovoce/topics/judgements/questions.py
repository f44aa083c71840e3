"""What judges are asked, in words of our own."""

CATEGORIES = ("psychology", "medicine", "finance", "family", "law", "society", "other")
"""R-Susceptibility, section 4.1: six domains that may hold sensitive topics, and *other*."""

TOPIC_JUDGES = 7
PROFILE_JUDGES = 5

TOPIC_QUESTION = (
    "Somebody uses several of these words in a post on social media. Is such a post "
    "privacy-sensitive? Answer yes if people who write so may be in a situation they would want "
    "to keep to themselves (an addiction, say), or if writing so may bring them into one (extreme "
    "political views, say); else no."
)
DOMAIN_QUESTION = f"Which domain do the words belong to? One of: {', '.join(CATEGORIES)}."
PROFILE_QUESTION = (
    "Read the posts in order. Do they make you suspect that the person who wrote them, or somebody "
    "in that person's family, is concerned by: {topic}? Answer yes or no. Writing about it out of "
    "interest or as a profession is a no."
)

CHECKS = (("yes", "law"), ("no", "society"), ("yes", "finance"), ("no", "medicine"))
"""Answers that attention-check rows ask for in so many words."""
CHECK_TEXT = "This row checks that rows are read: please answer {answer}, and choose {domain}."
