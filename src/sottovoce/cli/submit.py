"""The command line as a file that `spark-submit` can run.

    spark-submit --master spark://HOST:PORT .../sottovoce/cli/submit.py assess POSTS \
        --engine spark --topics topics.toml --out RANKS

The session is the one that `spark-submit` made, with the settings given to it.
"""

import sys

from sottovoce.cli import main

if __name__ == "__main__":
    sys.argv[0] = "sottovoce"
    main()
