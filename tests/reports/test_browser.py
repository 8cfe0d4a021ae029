"""The page in a real browser: accessible (axe), complete in print, with commands to copy, and matching its recorded picture.

Needs the extra browser. `make goldens` renews the pictures of tests/reports/pixels if it is installed.
"""

import importlib.util
import io
import pathlib
import shutil
import subprocess

import pytest
from bench.test_report import RESULTS
from reports.cases import CASES
from reports.hostile import dirty
from watch.test_summary import SLOW

from gpucheck.commands.bench import report as bench_report
from gpucheck.commands.watch import summary as watch_page
from gpucheck.core.reports import html as page

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
MISSING = CHROMIUM is None or importlib.util.find_spec("axe_playwright_python") is None
SEEN = {name: CASES[name] for name in ("fail-gpu-3", "pass-8-gpus", "unknown")} | {"dirty": dirty}
OTHERS = {  # the pages of commands
    "bench": lambda: bench_report.render_html(RESULTS["one-failed"]),
    "bench-settings": lambda: bench_report.render_html(RESULTS["own-model"]),
    "watch": lambda: watch_page.page(SLOW),
}
PAPER_PIXELS = 687  # A4 between margins of 14 mm, at 96 per inch
LARGEST_BYTES = 300_000
LARGEST_PAGES = 5  # A4
PICTURES = pathlib.Path(__file__).parent / "pixels"
LOOKS = {"fail-gpu-3": (1100, "light"), "pass-8-gpus": (1100, "dark"), "unknown": (390, "light")}
SHRUNK = 4  # pixels of the page for one of the picture, so that font smoothing does not matter
SEEN_DIFFERENCE = 16  # of 255, in one color
TOLERATED = 0.002  # of all pixels
LOST = """() => ({
  cut: [...document.querySelectorAll("pre, td, th, h1, p, li")].filter(one => {
    const box = one.getBoundingClientRect();
    return box.width && (box.right > innerWidth + 1 || one.scrollWidth > one.clientWidth + 1 && getComputedStyle(one).display !== "inline");
  }).map(one => one.outerHTML.slice(0, 120)),
  closed: [...document.querySelectorAll("details:not([open])")].filter(one => one.offsetParent).length,
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
    text = OTHERS[case]() if case in OTHERS else page.render(SEEN[case]())
    path = pathlib.Path(folder) / f"{case}.html"
    path.write_text(text, encoding="utf-8")
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme, bypass_csp=True)
    shown = context.new_page()
    shown.goto(path.as_uri())
    return shown


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("case", [*SEEN, *OTHERS])
def test_axe_finds_no_violations(browser, tmp_path, case, scheme):
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
def test_print_has_every_fix_and_every_column(browser, tmp_path, case, scheme):
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


@pytest.mark.skipif(shutil.which("pdftotext") is None, reason="no pdftotext: apt-get install poppler-utils")
@pytest.mark.parametrize("case", [*SEEN, *OTHERS])
def test_print_has_at_most_five_pages_and_a_finding_on_the_first(browser, tmp_path, case):
    shown = opened(browser, tmp_path, case)
    shown.pdf(path=tmp_path / "page.pdf", format="A4", prefer_css_page_size=True)
    shown.context.close()
    pages = subprocess.check_output(["pdftotext", "-layout", tmp_path / "page.pdf", "-"], text=True).split("\f")[:-1]
    assert len(pages) <= LARGEST_PAGES
    for finding in SEEN[case]().findings[:1] if case in SEEN else ():
        assert finding.code in pages[0]


@pytest.mark.parametrize("case", LOOKS)
def test_page_matches_its_recorded_picture(browser, tmp_path, case, request):
    from PIL import Image, ImageChops

    width, scheme = LOOKS[case]
    shown = opened(browser, tmp_path, case, width, scheme)
    taken = Image.open(io.BytesIO(shown.screenshot(full_page=True))).convert("RGB")
    shown.context.close()
    now = taken.resize((taken.width // SHRUNK, taken.height // SHRUNK), Image.Resampling.BOX)
    if request.config.getoption("--update-goldens"):
        PICTURES.mkdir(exist_ok=True)
        now.quantize(128, dither=Image.Dither.NONE).save(PICTURES / f"{case}.png", optimize=True)
    kept = Image.open(PICTURES / f"{case}.png")
    before, now = kept.convert("RGB"), now.quantize(palette=kept, dither=Image.Dither.NONE).convert("RGB")  # the same few colors
    assert abs(now.height - before.height) <= 8, "the page is taller or shorter"
    box = (0, 0, now.width, min(now.height, before.height))
    bands = ImageChops.difference(now.crop(box), before.crop(box)).split()
    largest = ImageChops.lighter(ImageChops.lighter(bands[0], bands[1]), bands[2])
    changed = sum(largest.histogram()[SEEN_DIFFERENCE:]) / (box[2] * box[3])
    if changed > TOLERATED:
        now.save(tmp_path / "now.png")
    assert changed <= TOLERATED, f"{changed:.1%} of the pixels differ: look at {tmp_path}/now.png"


def test_command_is_copied_to_the_clipboard(browser, tmp_path):
    shown = opened(browser, tmp_path, "fail-gpu-3")
    shown.context.grant_permissions(["clipboard-read", "clipboard-write"])
    command = shown.locator("pre").first.inner_text()
    shown.get_by_role("button", name="Copy").first.click()
    shown.get_by_role("button", name="Copied").wait_for()
    assert shown.evaluate("navigator.clipboard.readText()") == command
    shown.context.close()


@pytest.mark.parametrize("case", CASES)
def test_page_is_small(case):
    assert len(page.render(CASES[case]()).encode()) <= LARGEST_BYTES
