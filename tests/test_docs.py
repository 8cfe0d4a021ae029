"""The docs match the code: generated files are current, and pages name existing things."""

import importlib.util
import pathlib
import re

import pytest
from reports.test_page import GOLDEN, PAGE, ROW, RULE

import gpucheck
from gpucheck.core.engine.discovery import load_rules
from gpucheck.core.model import ExitCode, ProbeStatus, Report, Status, TrainingRun, Verdict

ROOT = pathlib.Path(gpucheck.__file__).resolve().parents[1]
DOCS = ROOT / "docs"

if not DOCS.is_dir():
    pytest.skip("the docs are not part of an installed package", allow_module_level=True)

SPEC = importlib.util.spec_from_file_location("docs_build", DOCS / "build.py")
assert SPEC is not None
assert SPEC.loader is not None
BUILD = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(BUILD)
FILES = BUILD.files()


def test_generated_files_are_fresh():
    held = {name: (DOCS / name).read_text(encoding="utf-8") if (DOCS / name).exists() else None for name in FILES}
    assert [name for name in FILES if held[name] != FILES[name]] == [], "run `make docs`"


def test_page_matches_the_recorded_file():
    assert BUILD.markdown(PAGE, RULE, ROW) == (GOLDEN / "moon.md").read_text()
    for rule in load_rules():
        assert FILES[f"diagnoses/{rule.code}.md"].startswith(f"# {rule.code}\n")


def test_every_diagnosis_page_is_generated():
    assert {path.relative_to(DOCS).as_posix() for path in DOCS.glob("diagnoses/*.md")} <= FILES.keys()


def test_changed_files_are_written_and_obsolete_ones_removed(tmp_path):
    (tmp_path / "diagnoses").mkdir()
    (tmp_path / "diagnoses" / "gone.md").write_text("old")
    wanted = {"a.json": "{}\n", "diagnoses/new.md": "# new\n", "pictures/a.svg": "<svg/>"}
    BUILD.write(tmp_path, wanted)
    assert {path.relative_to(tmp_path).as_posix(): path.read_text() for path in tmp_path.rglob("*") if path.is_file()} == wanted


@pytest.mark.parametrize("kind", [Report, TrainingRun], ids=lambda kind: kind.__name__)
def test_field_guide_names_every_field(kind):
    guide = (DOCS / "report.md").read_text(encoding="utf-8")
    missing = [name for name in kind.__struct_fields__ if f"`{name}`" not in guide]
    assert missing == []


def test_field_guide_names_every_enum_value():
    guide = (DOCS / "report.md").read_text(encoding="utf-8")
    words = [*Verdict, *Status, *ProbeStatus]
    assert [word.value for word in words if f"`{word.value}`" not in guide] == []
    for code in ExitCode:
        assert re.search(rf"^\| {code.value} \| ", guide, flags=re.MULTILINE)


PAGES = [*sorted(ROOT.glob("*.md")), *sorted(DOCS.rglob("*.md")), ROOT / "gpucheck" / "recipes" / "README.md"]


def anchors(path):
    """The anchors of a page's headings, as in GitHub and mkdocs."""
    text = re.sub(r"^```.*?^```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[\s-]+", "-", re.sub(r"[^\w\s-]", "", heading.lower()).strip()) for heading in headings}


def broken_targets(path):
    """Broken links and paths of a page; links to other sites are not followed."""
    text = re.sub(r"^```.*?^```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    name = path.relative_to(ROOT).as_posix()
    for target, anchor in re.findall(r"\]\((?!https?:|mailto:)([^)#\s]*)#?([^)\s]*)\)", text):
        page = (path.parent / target).resolve() if target else path
        if not page.exists() or (anchor and anchor not in anchors(page)):
            yield f"{name}: {target}#{anchor}"
    for target in re.findall(r"`((?:gpucheck|tests|docs|tools|benchmarks)/[\w./-]+)`", text):
        if not re.search("[A-Z]{3}", target) and not (ROOT / target).exists():  # NAME is a placeholder
            yield f"{name}: {target}"


def test_links_and_paths_exist():
    assert [target for path in PAGES for target in broken_targets(path)] == []


def test_docs_do_not_name_the_wrong_distribution():
    for path in DOCS.rglob("*.md"):
        assert not re.search(r"pip3? install (?:\S+ )*gpucheck\b", path.read_text(encoding="utf-8"))


def test_code_blocks_in_lists_are_indented_by_four_spaces():
    # Python-Markdown, which builds the site, ends a list at a block that is not indented by four spaces.
    for page in PAGES:
        assert re.findall(r"^ {1,3}```.*", page.read_text(encoding="utf-8"), re.MULTILINE) == [], page


def test_references_are_links():
    for name, text in FILES.items():
        references = text.partition("\n## References\n")[2].partition("\n## ")[0]
        assert not re.search(r"(?<!<)https?://", references), name
