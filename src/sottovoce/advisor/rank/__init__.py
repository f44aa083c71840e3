"""The rank server's protocol, without I/O: a person learns their rank, nobody their score.

Two modes. `noise`: one server, and every report carries its own noise (``noise``). `shares`: two
servers that do not collude verify reports of Prio3, and only a noised sum of them is ever opened
(``shares``). The person's side is the `RankClient` of ``client``; a server publishes a
`Description`, and a `Histogram` for each topic.
"""
