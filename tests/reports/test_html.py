"""The page, read by a strict HTML parser, and by a browser if installed."""

import functools
import html
import json
import re
import shutil
import subprocess

import html5lib
import msgspec
import pytest
from case_files import CASES as CASES_FOLDER
from reports.cases import CASES, cusolver
from reports.hostile import CONTROL, INJECTION, SECRETS, dirty, leaks, long, named, redacted, secretive

from gpucheck.core.reports import html as page
from gpucheck.core.reports import markdown

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
XHTML = "{http://www.w3.org/1999/xhtml}"
ALL = {**CASES, "long": long, "dirty": dirty, "named": lambda: named(INJECTION), "secretive": secretive}


def parse(text):
    return html5lib.HTMLParser(strict=True).parse(text)


@functools.cache
def page_of(case):
    """The page of a case, and its tree."""
    text = page.render(ALL[case]())
    return text, parse(text)


def texts(tree, tag):
    return [" ".join("".join(element.itertext()).split()) for element in tree.iter(XHTML + tag)]


@pytest.mark.parametrize("case", ALL)
def test_page_is_valid_and_self_contained(case):
    text, tree = page_of(case)
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]", text)
    identifiers = [element.get("id") for element in tree.iter() if element.get("id")]
    assert len(identifiers) == len(set(identifiers))
    names = set(identifiers)
    for element in tree.iter():
        for attribute in ("aria-labelledby", "aria-controls"):
            assert element.get(attribute) is None or element.get(attribute) in names
        for attribute in ("href", "{http://www.w3.org/1999/xlink}href"):
            target = element.get(attribute) or "data:,"
            assert target == "data:," or target[1:] in names  # nothing is fetched
    assert not list(tree.iter(XHTML + "img")) + list(tree.iter(XHTML + "iframe"))
    assert all(element.get("src") is None for element in tree.iter())
    assert len(list(tree.iter(XHTML + "script"))) == 1
    assert not re.search(r"@import|url\((?!#)", text)
    assert "default-src 'none'" in text


def test_text_from_the_machine_is_escaped():
    _, tree = page_of("named")
    assert " ".join(f"{INJECTION} has fallen off the bus.".split()) in [*texts(tree, "h1"), *texts(tree, "p")]
    assert CONTROL not in page_of("dirty")[0]


def test_page_has_findings_evidence_and_commands():
    made = cusolver()
    tree = parse(page.render(made))
    causes = [finding for finding in made.findings if finding.explained_by is None]
    assert texts(tree, "h3") == [finding.code for finding in causes]
    said = [*texts(tree, "h1"), *texts(tree, "p")]
    assert [said.count(finding.summary) for finding in causes] == [1] * len(causes)
    commands = ["".join(element.itertext()) for element in tree.iter(XHTML + "pre")]
    assert commands == [fix.command for finding in made.findings for fix in finding.fix if fix.command]
    assert "libcusolver.so.11 path: not found by the loader" in texts(tree, "code")
    assert any("tensorflow-lists-no-gpu" in text for text in texts(tree, "li"))


def test_page_has_every_fact():
    made = CASES["pass-h200"]()
    _, tree = page_of("pass-h200")
    paths, values = texts(tree, "dt"), texts(tree, "dd")
    assert dict(zip(paths, values, strict=True))["gpus[0].name"] == "NVIDIA H200"
    assert "mapped_libraries.libcudnn.so.9" in paths
    assert set(texts(tree, "summary")) >= set(made.facts)


def test_bars_show_rates_only_where_they_differ():
    widths = [element.get("style") for element in page_of("pass-8-gpus")[1].iter(XHTML + "i")]
    assert widths == ["width: 14%"] * 8 + ["width: 100%"]
    assert list(page_of("pass-h200")[1].iter(XHTML + "i")) == []  # 3,650 and 3,650 samples/s


def test_page_is_deterministic():
    assert page.render(CASES["fail-gpu-3"]()) == page_of("fail-gpu-3")[0]


def test_secrets_are_redacted():
    assert set(leaks(html.unescape(page_of("secretive")[0]))) == SECRETS.keys()
    assert leaks(html.unescape(page.render(redacted()))) == []


def test_bars_accept_any_number():
    made = CASES["pass-h200"]()
    rates = (float("inf"), float("nan"), 0.0, None, 10.0, 1000.0)
    runs = tuple(msgspec.structs.replace(made.training[0], strategy="显存 <b>", samples_per_second=rate) for rate in rates)
    tree = parse(page.render(msgspec.structs.replace(made, training=runs)))
    assert [element.get("style") for element in tree.iter(XHTML + "i")] == ["width: 1%", "width: 100%"]


def browse(path, *options):
    """The page in chromium: its document after the scripts, and the console's messages."""
    done = subprocess.run(
        [CHROMIUM, "--headless=new", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", f"--user-data-dir={path.parent}/profile",
         "--virtual-time-budget=2000", *options, "--dump-dom", path.as_uri()],
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    return done.stdout, [line for line in done.stderr.splitlines() if ":CONSOLE" in line]


TRY, FRAME = ((CASES_FOLDER / "programs" / name).read_text() for name in ("try_page.html", "frame.html"))


LIGHT, DARK = "rgb(251, 250, 247)", "rgb(20, 23, 28)"


@pytest.mark.skipif(CHROMIUM is None, reason="no chromium on this machine")
@pytest.mark.parametrize(
    ("case", "width", "scheme", "paper"),
    [
        ("fail-gpu-3", 1100, 1, LIGHT),
        pytest.param("fail-gpu-3", 360, 1, LIGHT, marks=pytest.mark.slow),
        pytest.param("dirty", 1100, 0, DARK, marks=pytest.mark.slow),
        pytest.param("dirty", 360, 1, LIGHT, marks=pytest.mark.slow),
    ],
)
def test_page_works_in_a_browser(tmp_path, case, width, scheme, paper):
    (tmp_path / "page.html").write_text(page.render(ALL[case]()).replace("</body>", TRY), encoding="utf-8")
    path = tmp_path / "frame.html"
    path.write_text(FRAME.replace("WIDTH", str(width)), encoding="utf-8")
    document, console = browse(path, "--window-size=1200,900", f"--blink-settings=preferredColorScheme={scheme}")
    assert console == []
    result = json.loads(html.unescape(re.search(r"<title>(.*?)</title>", document, flags=re.DOTALL)[1]))
    gpus = len(ALL[case]().facts["gpus"].gpus)
    assert result["focused"]
    assert result["all"] == result["again"] > 100
    assert result["none"] == []
    assert result["found"] == [f"gpus[{number}].uuid" for number in range(gpus)]
    assert result["open"] == 1
    assert result["count"] == ("1 value" if gpus == 1 else f"{gpus} values")
    assert result["overflow"] <= 0  # no sideways scrolling
    assert (result["width"], result["paper"]) == (width, paper)


def test_muted_findings_and_concurrent_training():
    assert any("the image is being rebuilt" in text for text in texts(page_of("muted")[1], "li"))
    assert "GPU:1-3 trained at the same time, each with the load of the others" in texts(page_of("side-by-side")[1], "p")
    assert "at the same time" not in page_of("pass-h200")[0]


def test_redacted_page_warns_that_its_commands_are_redacted():
    text = page.render(redacted())
    assert "Redacted for sharing" in text
    assert re.search(r"<pre [^>]*data-redacted><code>ssh user-\d+@host-\d+", text)
    assert "--no-redact" in text
    assert "Redacted for sharing" not in page.render(secretive())
    assert "Redacted for sharing" in markdown.render(redacted())
    assert "Redacted for sharing" not in markdown.render(secretive())
