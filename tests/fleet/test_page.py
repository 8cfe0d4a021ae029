"""The page of a fleet in a browser: 10,000 nodes are filtered and sorted."""

import html
import json
import re
import shutil
import subprocess

import msgspec
import pytest

from gpucheck.commands.fleet.formats import html as page
from gpucheck.commands.fleet.model import Fleet, FleetCause, Node

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
NODES = tuple(
    Node(
        name=f"gpu{n}",
        verdict="pass" if n % 100 else "fail",
        started_at="",
        cause=None if n % 100 else "gpu-lost",
        gpus="8 × H200",
    )
    for n in range(10_000)
)
FLEET = Fleet(
    tool={"name": "gpucheck", "version": "1"}, verdict="fail", exit_code=1, files=10_000, counts={"pass": 9900, "fail": 100}, causes=(),
    unknown={}, unreached={}, missing=None, groups=(), slow=(), unusual=(), nodes=NODES, seconds=1.0,
)  # fmt: skip
TRY = """<script>
const times = [performance.now()], before = [...get("rows").rows][1].cells[0].textContent, rows = () => [...get("rows").rows].map(row => row.cells[0].textContent);
get("filter").value = "gpu-lost"; get("filter").dispatchEvent(new Event("input"));
times.push(performance.now());
const filtered = [get("shown").textContent, rows()[1]];
get("filter").value = ""; get("filter").dispatchEvent(new Event("input"));
times.push(performance.now());
get("head").cells[1].firstChild.click();
times.push(performance.now());
document.title = JSON.stringify({before, filtered, first: rows()[0], milliseconds: times.map(Math.round)});
</script>"""


@pytest.mark.skipif(CHROMIUM is None, reason="no chromium on this machine")
def test_browser_filters_and_sorts_ten_thousand_nodes(tmp_path):
    path = tmp_path / "page.html"
    path.write_text(page.render(FLEET).replace("</html>", f"{TRY}</html>"), encoding="utf-8")
    done = subprocess.run(
        [CHROMIUM, "--headless=new", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", f"--user-data-dir={tmp_path}/profile",
         "--virtual-time-budget=2000", "--dump-dom", path.as_uri()],
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    assert ":CONSOLE" not in done.stderr
    result = json.loads(html.unescape(re.search(r"<title>(.*?)</title>", done.stdout)[1]))
    assert result["before"] == "gpu100"  # faults come first
    assert result["filtered"] == ["100 of 100", "gpu100"]
    assert result["first"] == "gpu0"  # the faults come before what passed
    print(result["milliseconds"])


def test_long_list_of_nodes_can_wrap_after_each_comma():
    cause = FleetCause(code="x", severity="error", scope="host", count=2, nodes="gpu[1,3]", example="X.", example_node="gpu1")
    assert "<code>gpu[1,<wbr>3]</code>" in page.render(msgspec.structs.replace(FLEET, causes=(cause,)))
