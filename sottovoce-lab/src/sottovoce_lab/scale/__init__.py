"""Studies of scale: what a community of millions costs.

`scale` measures one assessment along four axes and plans for a billion users; `daily` measures what
a day's posts cost a community that is kept.
"""
