"""The page in a real browser: nobody is shut out (axe), paper keeps everything, a command can be copied. Needs the extra browser."""

import importlib.util
import pathlib
import shutil

import pytest
from reports.cases import CASES
from reports.hostile import dirty

from gpucheck.reports import html as page

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
MISSING = CHROMIUM is None or importlib.util.find_spec("axe_playwright_python") is None
SEEN = {name: CASES[name] for name in ("fail-gpu-3", "pass-8-gpus", "unknown")} | {"dirty": dirty}
PAPER_PIXELS = 687  # A4 between margins of 14 mm, at 96 per inch
LARGEST_BYTES = 300_000
LOST = """() => ({
  cut: [...document.querySelectorAll("pre, td, th, h1, p, li")].filter(one => {
    const box = one.getBoundingClientRect();
    return box.width && (box.right > innerWidth + 1 || one.scrollWidth > one.clientWidth + 1 && getComputedStyle(one).display !== "inline");
  }).map(one => one.outerHTML.slice(0, 120)),
  closed: document.querySelectorAll("details:not([open])").length,
  buttons: [...document.querySelectorAll("button")].filter(one => one.offsetParent).length,
  paper: getComputedStyle(document.body).backgroundColor,
})"""

pytestmark = [pytest.mark.slow, pytest.mark.skipif(MISSING, reason='no chromium, or no playwright: pip install -e ".[browser]"')]


@pytest.fixture(scope="module")
def browser():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        chromium = play.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield chromium
        chromium.close()


def opened(browser, folder, case, width=1100, scheme="light"):
    text = page.render(SEEN[case]())
    path = pathlib.Path(folder) / f"{case}.html"
    path.write_text(text, encoding="utf-8")
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme, bypass_csp=True)
    shown = context.new_page()
    shown.goto(path.as_uri())
    return shown


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("case", SEEN)
def test_axe_finds_nothing(browser, tmp_path, case, scheme):
    from axe_playwright_python.sync_playwright import Axe

    for width in (1100, 390):
        shown = opened(browser, tmp_path, case, width, scheme)
        shown.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true })")
        found = Axe().run(shown).response["violations"]
        assert [(one["id"], [node["html"][:120] for node in one["nodes"]]) for one in found] == []
        assert shown.evaluate("document.documentElement.scrollWidth") <= width
        shown.context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("case", SEEN)
def test_paper_keeps_every_fix_and_every_column(browser, tmp_path, case, scheme):
    shown = opened(browser, tmp_path, case, PAPER_PIXELS, scheme)
    shown.emulate_media(media="print")
    shown.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert shown.evaluate(LOST) == {"cut": [], "closed": 0, "buttons": 0, "paper": "rgb(255, 255, 255)"}
    columns = "() => [...document.querySelectorAll('thead th')].every(one => one.getBoundingClientRect().width > 0)"
    assert shown.evaluate(columns)
    shown.emulate_media(media="screen")
    shown.evaluate("dispatchEvent(new Event('afterprint'))")
    assert shown.evaluate("document.querySelectorAll('details:not([open])').length") > 0
    shown.context.close()


def test_a_command_is_copied(browser, tmp_path):
    shown = opened(browser, tmp_path, "fail-gpu-3")
    shown.context.grant_permissions(["clipboard-read", "clipboard-write"])
    command = shown.locator("pre").first.inner_text()
    shown.get_by_role("button", name="Copy").first.click()
    shown.get_by_role("button", name="Copied").wait_for()
    assert shown.evaluate("navigator.clipboard.readText()") == command
    shown.context.close()


@pytest.mark.parametrize("case", CASES)
def test_a_page_is_small(case):
    assert len(page.render(CASES[case]()).encode()) <= LARGEST_BYTES
