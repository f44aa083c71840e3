"""Where one person stands: their score stays with them, and a server tells ranks without it.

A `Person` in a `Community` asks where they stand, by what evidence, since when, and what if; what
they could do about it is `guidance`. ``rank`` is the protocol by which they learn their place from
a server that never sees their score.
"""

from typing import TYPE_CHECKING

from sottovoce.lazy import attach

if TYPE_CHECKING:
    from sottovoce.advisor.community import Community as Community
    from sottovoce.advisor.person import Person as Person
    from sottovoce.advisor.person_values import AdvisorSetting as AdvisorSetting
    from sottovoce.advisor.person_values import Post as Post
    from sottovoce.advisor.standing import Standing as Standing
    from sottovoce.advisor.verdict import guidance as guidance
else:
    __getattr__, __dir__ = attach(__name__)
