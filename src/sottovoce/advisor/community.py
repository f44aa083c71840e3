"""The community a person is compared with: its posts, its state, or published histograms.

Posts are scored for all measures of the models at hand, so that another one can be chosen at once.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sottovoce.advisor.crowd import Crowd, HistogramCrowd, KnownCrowd, ReactingCrowd, ScoreHistogram
from sottovoce.advisor.person_values import AdvisorSetting, Post, posts_of_table
from sottovoce.assess.community_facts import all_shipped
from sottovoce.assess.disclosure.disclosures import DisclosureReader
from sottovoce.assess.measures.catalogue import MEASURES
from sottovoce.assess.measures.measure import check_community
from sottovoce.assess.scores import Scoring
from sottovoce.assess.setting import M_KEPT, StateHeader
from sottovoce.assess.state.parts import load_state
from sottovoce.assess.state.state import State
from sottovoce.corpus.read.corpus import open_posts
from sottovoce.errors import InputError, ParameterError
from sottovoce.steps import while_wanted
from sottovoce.topics.catalogue import Catalogue
from sottovoce.topics.space import BagOfWords, Space, spaces_of_models

if TYPE_CHECKING:
    from datetime import datetime


def whole_scoring(
    catalogue: Catalogue, spaces: Sequence[Space], setting: AdvisorSetting
) -> Scoring:
    """All that any measure of these spaces needs, so that another one can be chosen at once."""
    bow = BagOfWords()
    given: dict[str, Space] = {bow.name: bow, **spaces_of_models(spaces)}
    return Scoring(
        catalogue,
        list(given.values()),
        words=bow.scorer(catalogue),
        bucket=setting.buckets,
        kept=max(setting.m, M_KEPT),
        mode=setting.mode,
    )


def scoring_like(header: StateHeader, spaces: Sequence[Space]) -> Scoring:
    """Scoring by which a state was made, as far as its models are at hand."""
    words = None if header.salient is None else BagOfWords().scorer(header.catalogue)
    scoring = Scoring(
        header.catalogue,
        spaces,
        words=words,
        bucket=header.bucket,
        kept=header.kept,
        mode=header.mode,
        clean=bool(header.clean),
    )
    if scoring.header.counted == header.counted:
        return scoring
    return scoring_like(replace(header, salient=None, words=0, counted=""), spaces)


def allowed_measures(
    scoring: Scoring, learnable: Iterable[str] = (), *, words: bool
) -> tuple[str, ...]:
    have = {*scoring.header.spaces, *learnable}
    counted = words and scoring.header.salient is not None
    return tuple(
        name
        for name, measure in MEASURES.items()
        if (counted if measure.space is None else measure.space in have)
        and scoring.header.word_buckets >= measure.word_buckets
    )


def fitting_setting(scoring: Scoring) -> AdvisorSetting:
    """The recommended measure as far as a state allows it, by its own bucket and mode."""
    header = scoring.header
    allowed = allowed_measures(scoring, words=True)
    if not allowed:
        raise InputError("none of the models that made this state is available.")
    kept = min(AdvisorSetting.m, header.kept)
    setting = AdvisorSetting(m=kept, bucket=str(header.bucket), mode=header.mode)
    return setting.choose_measure(allowed)


class Community:
    """Whom a person is ranked among, and by which setting.

    Made by ``demo``, ``from_posts``, ``from_state`` or ``from_histograms``. It is never changed:
    ``with_setting`` gives another. Threads may share it.
    """

    def __init__(
        self,
        setting: AdvisorSetting,
        scoring: Scoring,
        *,
        spaces: Sequence[Space] = (),
        state: State | None = None,
        posts: pa.Table | None = None,
        histograms: Mapping[str, ScoreHistogram] | None = None,
    ) -> None:
        self.scoring = scoring
        self.now: datetime | None = None
        """What a draft without a time takes for now; None: the clock's."""
        self.example: str | None = None
        """In the demo community: a user worth looking at first."""
        self.simulated = False
        """Whether its members are made up: people who do not exist."""
        self.state = state
        """What is known of each user; None where only histograms are."""
        self.learnable: Mapping[str, Callable[[AdvisorSetting], Community]] = {}
        """Spaces that can be had by learning a model first, which takes seconds."""
        self.spaces = tuple(spaces)
        """The adversary's models, beside the bag of words."""
        self._posts = posts
        self._histograms = histograms
        self.setting = setting.choose_measure(self.measures)
        self._check_measure()

    @classmethod
    def demo(cls, setting: AdvisorSetting = AdvisorSetting()) -> "Community":  # noqa: B008 - frozen
        """A small simulated community, the same each time; ``example`` names a user to look at."""
        from sottovoce.advisor._demo import demo_community  # noqa: PLC0415 - it needs us

        return demo_community(setting)

    @classmethod
    def from_posts(
        cls,
        posts: Any,  # noqa: ANN401 - a path or a data frame of any library, as open_posts takes it
        spaces: Sequence[Space],
        catalogue: Catalogue,
        setting: AdvisorSetting = AdvisorSetting(),  # noqa: B008 - frozen
    ) -> "Community":
        """From everybody's posts (user, time, text): a path or a data frame.

        ``spaces`` are the adversary's models; the bag of words is always there.
        """
        table = open_posts(posts).read_all()
        scoring = whole_scoring(catalogue, spaces, setting)
        state = scoring.state_of(while_wanted(table.to_batches()))
        check_community(len(state))
        return cls(setting, scoring, spaces=spaces, state=state, posts=table)

    @classmethod
    def from_state(
        cls, path: Path, spaces: Sequence[Space] = (), setting: AdvisorSetting | None = None
    ) -> "Community":
        """From a file that ``sottovoce assess --state`` wrote; it holds no posts.

        ``spaces`` are the models that it was made with, as far as they are at hand. Without a
        ``setting`` the file's bucket is taken and the first measure it allows.
        """
        state = load_state(path)
        header = state.header
        check_community(len(state))
        given = {"bow": BagOfWords(), **spaces_of_models(spaces)}
        usable = [s for s in given.values() if header.spaces.get(s.name) == s.fingerprint]
        scoring = scoring_like(header, usable)
        community = cls(fitting_setting(scoring), scoring, spaces=usable, state=state)
        return community if setting is None else community.with_setting(setting)

    @classmethod
    def from_histograms(
        cls,
        histograms: Mapping[str, ScoreHistogram],
        spaces: Sequence[Space],
        catalogue: Catalogue,
        setting: AdvisorSetting = AdvisorSetting(),  # noqa: B008 - frozen
    ) -> "Community":
        """From a rank server's histogram for each topic.

        They must have been made with the same measure, k, m, bucket and models.
        """
        if not any(topic.name in histograms for topic in catalogue.sensitive):
            raise InputError("there must be a histogram of at least 1 sensitive topic, got none.")
        scoring = whole_scoring(catalogue, spaces, setting)
        return cls(setting, scoring, spaces=spaces, histograms=histograms)

    @property
    def catalogue(self) -> Catalogue:
        """All topics, the sensitive ones and those they are told apart from."""
        return self.scoring.header.catalogue

    @cached_property
    def reader(self) -> DisclosureReader:
        """Reads what single posts say of the sensitive topics."""
        return DisclosureReader(self.catalogue)

    @cached_property
    def topics_built_in(self) -> bool:
        """Whether the topics are those that ship, in English."""
        return all_shipped(self.catalogue)

    @property
    def topics(self) -> tuple[str, ...]:
        """The sensitive topics, in the catalogue's order."""
        names = tuple(topic.name for topic in self.catalogue.sensitive)
        if self._histograms is not None:
            return tuple(name for name in names if name in self._histograms)
        return names

    @property
    def measures(self) -> tuple[str, ...]:
        """The measures that this community allows."""
        return allowed_measures(self.scoring, self.learnable, words=self._histograms is None)

    @property
    def users(self) -> tuple[str, ...]:
        """The ids of all users; none where only histograms are known."""
        return () if self.state is None else tuple(self.state.users.names().to_pylist())

    def __contains__(self, user: object) -> bool:
        return (
            self.state is not None
            and isinstance(user, str)
            and self.state.users.row(user) is not None
        )

    def posts_of(self, user: str) -> list[Post]:
        """The posts of one user, numbered from 1 in the order of their times."""
        if self._posts is None:
            raise InputError("this community holds no posts; bring their posts yourself.")
        hers = self._posts.filter(pc.equal(self._posts["user"], user))
        if not hers.num_rows:
            raise InputError("the user has no post in this community.")
        return posts_of_table(hers)

    def with_setting(self, setting: AdvisorSetting) -> "Community":
        """The same community by another setting."""
        setting = setting.choose_measure(self.measures)
        header, space = self.scoring.header, setting.how().space
        if space is not None and space in self.learnable and space not in header.spaces:
            return self.learnable[space](setting)
        changed = setting.buckets != header.bucket or setting.mode != header.mode
        other = (
            self._rebuilt(setting)
            if changed or setting.m > header.kept
            else self._with_choice(setting)
        )
        other.now, other.example, other.learnable = self.now, self.example, self.learnable
        other.simulated = self.simulated
        return other

    def crowd(self, user: str | None) -> Crowd:
        """Everybody but ``user``."""
        header, setting = self.scoring.header, self.setting
        if self._histograms is not None:
            return HistogramCrowd(header, setting, self.topics, self._histograms)
        others = self._others(user)
        if setting.how().space is None:
            return ReactingCrowd(others, setting, self.topics)
        score = setting.how().score
        scores = {name: np.sort(score(others, name, setting.risk)) for name in self.topics}
        return KnownCrowd(header, setting, self.topics, scores)

    def _others(self, user: str | None) -> State:
        if self.state is None:
            raise InputError("this community holds no state.")
        return self.state.drop_user(user) if user is not None and user in self else self.state

    def _with_choice(self, setting: AdvisorSetting) -> "Community":
        return Community(
            setting,
            self.scoring,
            spaces=self.spaces,
            state=self.state,
            posts=self._posts,
            histograms=self._histograms,
        )

    def _rebuilt(self, setting: AdvisorSetting) -> "Community":
        if self._posts is None:
            raise ParameterError(
                f"bucket, mode and more than {self.scoring.header.kept} buckets cannot be changed "
                "here: this community holds no posts to score again."
            )
        return Community.from_posts(self._posts, self.spaces, self.catalogue, setting)

    def _check_measure(self) -> None:
        if not self.topics:
            raise ParameterError("the catalogue must have at least 1 sensitive topic, got none.")
        if self.setting.measure not in self.measures:
            raise ParameterError(
                f"the measure {self.setting.measure} is not available here; choose one of "
                f"{', '.join(self.measures)}, or bring the model it needs."
            )
