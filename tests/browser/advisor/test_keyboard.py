"""The main way through the page without a mouse."""

from typing import TYPE_CHECKING

from playwright.sync_api import expect

if TYPE_CHECKING:
    from support.advisor_browser import Visitor

pytest_plugins = ["support.advisor_browser"]
_FOCUSED = """() => {
    const one = document.activeElement;
    const label = one.labels && one.labels.length ? one.labels[0].textContent : one.textContent;
    return one.tagName + ': ' + label.trim().replace(/\\s+/g, ' ');
}"""
_VISIBLE = """() => {
    const style = getComputedStyle(document.activeElement);
    return style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) > 0;
}"""
_COVERED = """() => {
    const one = document.activeElement.getBoundingClientRect();
    const box = document.querySelector('.result').getBoundingClientRect();
    return one.bottom > box.top && one.top < box.bottom;
}"""
_AT_A_POST = "() => document.activeElement.name === 'kept'"
MOST_STEPS = 60


def tab_to(visitor: "Visitor", words: str) -> None:
    """Press Tab until what is focused says ``words``; each stop must be seen."""
    for _ in range(MOST_STEPS):
        visitor.page.keyboard.press("Tab")
        assert visitor.page.evaluate(_VISIBLE), visitor.page.evaluate(_FOCUSED)
        if words in visitor.page.evaluate(_FOCUSED):
            return
    raise AssertionError(f"no Tab stop says {words!r}")


def test_the_main_flow_needs_no_mouse(visitor: "Visitor") -> None:
    page = visitor.page
    tab_to(visitor, "To the content")
    page.keyboard.press("Enter")
    tab_to(visitor, "Show me the demo community")
    page.keyboard.press("Enter")
    page.wait_for_url("**/standing")
    name = page.locator("ul.cards h3 a").first.inner_text()
    tab_to(visitor, f"A: {name}")
    page.keyboard.press("Enter")
    page.wait_for_url("**/topic?*")
    first = page.locator("ol.posts .text").first.inner_text()
    tab_to(visitor, first[:30])
    page.keyboard.press("Space")
    expect(page.locator("#what-if-count")).to_contain_text("1 post of")
    tab_to(visitor, "See what would change")
    page.keyboard.press("Enter")
    expect(page.locator("ol.posts input[type=checkbox]").first).not_to_be_checked()


def test_a_draft_is_written_and_checked_by_keys(visitor: "Visitor") -> None:
    visitor.demo()
    page = visitor.page
    tab_to(visitor, "Check a draft")
    page.keyboard.press("Enter")
    page.wait_for_url("**/draft")
    tab_to(visitor, "TEXTAREA: Draft")
    page.keyboard.type("pregnancy pregnant midwife")
    expect(page.locator("#draft-rows")).to_contain_text("pregnancy")
    tab_to(visitor, "Check this draft")
    page.keyboard.press("Enter")
    expect(page.locator("#draft-rows")).to_contain_text("pregnancy")


def test_everything_is_deleted_by_keys(visitor: "Visitor") -> None:
    visitor.demo()
    visitor.go("/settings")
    tab_to(visitor, "A: Delete everything")
    visitor.page.keyboard.press("Enter")
    visitor.page.wait_for_url("**/delete")
    tab_to(visitor, "Yes, delete everything")
    visitor.page.keyboard.press("Enter")
    expect(visitor.page.locator("main")).to_contain_text("Everything was deleted")


def test_no_post_that_has_the_focus_lies_behind_the_what_if_box(visitor: "Visitor") -> None:
    visitor.demo()
    visitor.first_topic()
    visitor.page.set_viewport_size({"width": 360, "height": 640})
    stops = 0
    for _ in range(MOST_STEPS):
        visitor.page.keyboard.press("Tab")
        if visitor.page.evaluate(_AT_A_POST):
            assert not visitor.page.evaluate(_COVERED), f"post {stops + 1}"
            stops += 1
    assert stops >= 5
