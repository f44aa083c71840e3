"""Who parties are to each other: an own authority, certificates, and files of them."""
