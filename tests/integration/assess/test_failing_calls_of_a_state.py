"""Each call that keeps a state of a community fails in turn: it is what it was, or is to be."""

from collections.abc import Callable
from pathlib import Path

import pytest
from support.communities import CATALOGUE, FixedSpace, random_posts
from support.failing_calls import FILE_LOST, ONCE_AND_LASTING, Outcomes, fail_each

from sottovoce.assess import Scoring, State, load_state, save_state
from sottovoce.assess.erase import erase_users
from sottovoce.assess.measures.catalogue import plan_scoring
from sottovoce.assess.state import parts as kept_state
from sottovoce.assess.state.parts import KeptState, earlier_folder, remove_unnamed, to_table

SAMPLE = 60


@pytest.fixture(autouse=True)
def _tiny_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let parts of a few users stay apart."""
    monkeypatch.setattr(kept_state, "LEAST", 0)


@pytest.fixture(scope="module")
def how() -> Scoring:
    return plan_scoring(CATALOGUE, [FixedSpace()], ("lda-t", "bow", "ent"), posts=False)[1]


def state_of(how: Scoring, seed: int, mark: str, users: int) -> State:
    state = how.state_of(random_posts(seed, users=users, posts=10 * users).to_batches())
    state.inputs = frozenset({mark})
    return state


def add(path: Path, added: State) -> None:
    """What ``assess --state`` does: a file that was folded in is not folded in again."""
    kept = KeptState.open(path)
    if not added.inputs & kept.inputs:
        with kept.adding(added, {"last": sorted(added.inputs)}):
            pass
    remove_unnamed(path)


def refuse_wrong(outcomes: Outcomes) -> None:
    print(outcomes)  # noqa: T201 - shown by -s: how many failures there were
    assert outcomes.failed
    assert not outcomes.wrong, outcomes.report()


def users_and_posts(path: Path) -> tuple[tuple[str, ...], int]:
    state = load_state(path)
    return tuple(sorted(state.users.names().to_pylist())), int(state.posts.sum())


def in_either(
    before: object, after: object, redo: Callable[[Path], object]
) -> Callable[[Path], None]:
    """The state is the one before or the one after, and after the next try the latter."""

    def check(folder: Path) -> None:
        path = folder / "my.state"
        assert users_and_posts(path) in (before, after), "neither before nor after"
        redo(path)
        assert users_and_posts(path) == after, "not what a second try makes"
        names = {part.name for part in KeptState.open(path).earlier}
        found = {file.name for file in earlier_folder(path).glob("*")}
        assert found == names, "parts that nobody names"

    return check


def test_a_state_is_saved_whole_or_not_at_all(tmp_path: Path, how: Scoring) -> None:
    old, new = state_of(how, 1, "one", 20), state_of(how, 2, "two", 30)

    def check(folder: Path) -> None:
        found = to_table(load_state(folder / "my.state"))
        assert found in (to_table(old), to_table(new)), "neither before nor after"
        save_state(folder / "my.state", new)
        assert to_table(load_state(folder / "my.state")) == to_table(new)
        assert not list(folder.glob(".*.part")), "unfinished files are left"

    refuse_wrong(
        fail_each(
            lambda folder: save_state(folder / "my.state", old),
            lambda folder: save_state(folder / "my.state", new),
            check,
            tmp_path / "trials",
        )
    )


@pytest.mark.parametrize("users", [5, 60], ids=["a part", "joined"])
def test_a_state_grows_once_or_not_at_all(tmp_path: Path, how: Scoring, users: int) -> None:
    """The second time its parts are joined."""
    first, second = state_of(how, 1, "one", 50), state_of(how, 2, "two", users)

    def prepare(folder: Path) -> None:
        save_state(folder / "my.state", first)

    prepare(tmp_path)
    before = users_and_posts(tmp_path / "my.state")
    add(tmp_path / "my.state", second)
    after = users_and_posts(tmp_path / "my.state")
    check = in_either(before, after, lambda path: add(path, second))
    operate = lambda folder: add(folder / "my.state", second)  # noqa: E731 - as the others
    refuse_wrong(fail_each(prepare, operate, check, tmp_path / "trials", most=SAMPLE))


def grown(folder: Path, how: Scoring) -> str:
    """A state in two parts, and somebody of the earlier one."""
    save_state(folder / "my.state", state_of(how, 1, "one", 50))
    add(folder / "my.state", state_of(how, 2, "two", 5))
    return str(load_state(folder / "my.state").users.names().to_pylist()[-1])


def test_whoever_is_erased_is_in_the_state_or_gone(tmp_path: Path, how: Scoring) -> None:
    user = grown(tmp_path, how)
    before = users_and_posts(tmp_path / "my.state")
    erase_users(tmp_path / "my.state", [user])
    after = users_and_posts(tmp_path / "my.state")

    def redo(path: Path) -> None:
        if user in users_and_posts(path)[0]:
            erase_users(path, [user])
        remove_unnamed(path)

    refuse_wrong(
        fail_each(
            lambda folder: grown(folder, how),
            lambda folder: erase_users(folder / "my.state", [user]),
            in_either(before, after, redo),
            tmp_path / "trials",
            most=SAMPLE,
        )
    )


def test_forgetting_is_refused_where_a_part_that_holds_the_user_stays(
    tmp_path: Path, how: Scoring
) -> None:
    user = grown(tmp_path, how)

    def erase_and_look(folder: Path) -> None:
        erase_users(folder / "my.state", [user])
        left = list(earlier_folder(folder / "my.state").glob("*"))
        assert not left, "forgotten, and left behind"

    outcomes = fail_each(
        lambda folder: grown(folder, how),
        erase_and_look,
        lambda _: None,
        tmp_path / "trials",
        (*FILE_LOST, *ONCE_AND_LASTING[:1]),
        lambda name: name.startswith(("open", "flock", "unlink")),
    )
    print(outcomes)  # noqa: T201 - shown by -s
    assert not outcomes.unnamed, outcomes.report()
