"""Linting files: order, suppressed lines, unreadable files and cells, whole libraries."""

import ast
import pathlib
import time
from importlib.util import find_spec

import nbformat
import pytest
from case_files import table
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

import gpucheck
from gpucheck.commands.lint import runner, source
from gpucheck.commands.lint.pages import load_rules
from gpucheck.commands.lint.runner import lint, lint_program
from gpucheck.commands.lint.script import Script
from gpucheck.commands.lint.source import Unreadable

RULES = load_rules()


def lint_text(text, rules):
    return lint_program(source.Program(text, (), written=text), rules, "<text>")


LATE = "import tensorflow as tf\ntf.zeros(3)\nfor g in tf.config.list_physical_devices('GPU'):\n    {}\n"
SET = "tf.config.experimental.set_memory_growth(g, True)"


def test_findings_and_failures(tmp_path):
    (tmp_path / "a.py").write_text("import tensorflow as tf\ntf.Session()\ntf.ConfigProto()\n")
    (tmp_path / "b.py").write_text("print 'tensorflow'\n")
    (tmp_path / "c.py").write_text("a = 1\n")
    result = lint([str(tmp_path)], RULES)
    assert result.files == 3
    assert [(one.line, one.column, one.end_line, one.code, one.severity) for one in result.problems] == [
        (2, 1, 2, "legacy-session", "error"),
        (3, 1, 3, "legacy-session", "error"),
    ]
    assert [(pathlib.Path(one.file).name, one.line) for one in result.failures] == [("b.py", 1)]
    assert result.exit_code == 2
    assert lint([str(tmp_path / "a.py")], RULES).exit_code == 1
    assert lint([str(tmp_path / "c.py")], RULES).exit_code == 0


@table
def test_cells_next_to_an_unreadable_one(tmp_path, unread, found):
    cells = ["import tensorflow as tf\ntf.zeros(3)", unread, LATE.partition("\n")[2].partition("\n")[2].format(SET)]
    path = tmp_path / "train.ipynb"
    nbformat.write(new_notebook(cells=list(map(new_code_cell, cells))), path)
    result = lint([str(path)], RULES)
    assert [(one.cell, one.line) for one in result.failures] == [(2, 1)]
    assert [one.cell for one in result.problems] == found
    assert result.exit_code == 2


def test_magic_keeps_its_position(tmp_path):
    path = tmp_path / "train.ipynb"
    cells = ["import keras", "if True:\n    %env KERAS_BACKEND=jax"]
    nbformat.write(new_notebook(cells=list(map(new_code_cell, cells))), path)
    assert [(one.code, one.cell, one.line, one.column) for one in lint([str(path)], RULES).problems] == [
        ("backend-set-after-import", 2, 2, 5)
    ]


@pytest.mark.parametrize("line", ["%tensorflow_version 1.x", "!pip install -q tensorflow-gpu==1.15.2"])
def test_notebook_for_tensorflow_1_has_no_findings(tmp_path, line):
    path = tmp_path / "train.ipynb"
    cells = [line, "import tensorflow as tf\nwith tf.Session() as session:\n    session.run(tf.placeholder(tf.float32))"]
    nbformat.write(new_notebook(cells=list(map(new_code_cell, cells))), path)
    assert lint([str(path)], RULES).problems == ()


def test_notebook_with_non_latin_text(tmp_path):
    """Corrections are computed from the lines of the cells with code only."""
    program = (
        "import tensorflow as tf\ndef load(path):\n    return tf.io.read_file(path)\nfiles = tf.data.Dataset.list_files('a/*')\n"
        "train = files.map(load).batch(32)\nmodel = tf.keras.Sequential()\nmodel.compile()\nmodel.fit(train)"
    )
    path = tmp_path / "train.ipynb"
    nbformat.write(new_notebook(cells=[new_markdown_cell(("訓練データ" * 20 + "\n") * 40), new_code_cell(program)]), path)
    assert {one.code for one in lint([str(path)], RULES).problems} == {"no-prefetch", "serial-map"}


def test_functions_that_call_each_other_are_followed_until_one_computes():
    names = [f"f{number}" for number in range(9)]
    functions = "".join(f"def {name}():\n    tf.constant(1)\n    {'(); '.join(names)}()\n" for name in names)
    start = "import multiprocessing\nmultiprocessing.set_start_method('fork')\ntf.zeros(3)\nmultiprocessing.Process(target=f0).start()\n"
    began = time.process_time()
    found = lint_text("import tensorflow as tf\n" + functions + start, RULES)
    assert [one.code for one in found] == ["cuda-before-fork"]
    assert time.process_time() - began < 3, "without an early end it takes 8 s"


@table
def test_suppressed_lines(statement, found):
    assert len(lint_text(LATE.format(statement), RULES)) == found


def test_every_rule_has_words():
    assert [rule.code for rule in RULES if not rule.words] == []
    assert lint_text(LATE.format("pass"), RULES) == []


@pytest.mark.timeout(20)  # the trace is bounded: a short program must not take minutes
@pytest.mark.parametrize(
    "text",
    [
        "x = " + " + ".join(["a"] * 400),
        "x = " + "[" * 80 + "]" * 80,
        "if a: pass\n" + "elif b: pass\n" * 900 + "else: pass",
        "x = a\n" + "x = x + x\n" * 60 + "tf.Session(x)\ns.run(x)",
        "x = a\n" + "x = [x, x]\n" * 60 + "s.run(x)",
        "d = '{}'\n" + "d = '{}{}'.format(d, d)\n" * 60 + "with tf.device(d):\n    tf.GradientTape()",
        "d = tf.data.Dataset.range(3)\n" + "if a: d = d.map(f)\n" * 60 + "m = tf.keras.Sequential([])\nm.fit(d.batch(3))",
        "".join(f"def f{n}(): f{n + 1}(); f{n + 1}(); f{n + 1}(); f{n + 1}()\n" for n in range(12)) + "def f12(): pass\nf0()",
        "def f(): f()\nf()\nclass A(A if a else B): pass\nA().b.c = 1",
        "f = lambda: f()\nf()\nclass C:\n    def __init__(self): C()\nC()",
        "import *\n" if False else "from tensorflow import *\nfrom . import a\nfrom .. import b\nSession()",
        "async def f():\n    async with a as b, c: await b\n    async for d in e: yield d\nmatch a:\n    case [1, *b]: pass",
        "a, *b = c, d = [1, 2]\n(a := 3)\ndel a, b[0], c.d\na[0] += 1\na.b: int = 3\nx: int\nglobal q\nnonlocal_ = 1",
        "try:\n    pass\nexcept* (A, B) as e:\n    raise\nelse:\n    pass\nfinally:\n    pass",
        "while True:\n    break\nelse:\n    x\nfor a in b:\n    continue\nelse:\n    y\nassert a, b\nraise A from b",
        "def f(a, /, b=1, *c, d, e=2, **g): return a\nf(1, *x, **y)\nf(*a)\nf()\nf(b=1, z=2)\nlambda *a, **k: a",
    ],
)
def test_short_programs_are_linted_in_bounded_time(text):
    text = f"import tensorflow as tf\ns = tf.distribute.MirroredStrategy()\n{text}\n"
    try:
        script = Script(ast.parse(text))
    except SyntaxError:
        pytest.skip("syntax of a later Python")
    assert script.complete
    for rule in RULES:
        list(rule.check(script))


def test_too_deep_nesting_is_reported():
    deep = "".join("    " * n + "if a:\n" for n in range(95)) + "    " * 95 + "tf.Session()\n"
    assert [one.code for one in lint_text("import tensorflow as tf\n" + deep, RULES)] == ["legacy-session"]
    with pytest.raises(Unreadable):
        lint_text("import tensorflow as tf\ntf.Session\n" + "(" * 20_000, RULES)


@pytest.mark.slow
def test_own_source_has_no_findings():
    folder = pathlib.Path(gpucheck.__file__).parent
    result = lint([str(folder), str(pathlib.Path(__file__).parent)], RULES)
    assert result.files > 100
    assert (result.problems, result.failures) == ((), ())


def library(name):
    spec = find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        pytest.skip(f"{name} is not installed")
    return pathlib.Path(spec.submodule_search_locations[0])


@pytest.mark.slow
def test_keras_has_no_findings():
    result = lint([str(library("keras") / "src")], RULES)
    assert result.files > 500
    assert (result.problems, result.failures) == ((), ())


@pytest.mark.slow
def test_every_file_of_keras_can_be_traced():
    found = []
    for path in sorted((library("keras") / "src").rglob("*.py"))[::3]:
        script = Script(ast.parse(path.read_text(encoding="utf-8")))
        assert script.complete, path
        found += [(path.name, rule.code) for rule in RULES for _ in rule.check(script)]
    assert found == []


@pytest.mark.slow
def test_tensorflow_has_no_findings():
    result = lint([str(library("tensorflow") / "python" / "distribute"), str(library("tensorflow") / "python" / "keras")], RULES)
    assert result.files > 100
    assert (result.problems, result.failures) == ((), ())


def test_data_is_not_linted():
    data = "x = [" + "1," * (runner.CHARACTERS_MAX // 2) + "]\n"
    assert lint_text(data, RULES) == []
    with pytest.raises(Unreadable, match="too large to be a training script"):
        lint_text("import tensorflow\n" + data, RULES)


def test_long_list_is_not_traced():
    script = Script(ast.parse("x = [" + "f()," * 5000 + "]\ny = {" + "1: f()," * 5000 + "}\nz = f()"))
    assert len(script.calls) == 1


def test_exception_handler_runs_after_a_failed_body():
    text = "import os\ntry:\n    import keras\nexcept ImportError:\n    {}\n"
    assert lint_text(text.format('os.environ["KERAS_BACKEND"] = "jax"'), RULES) == []
    late = text.format("raise") + 'os.environ["KERAS_BACKEND"] = "jax"\n'
    assert [problem.line for problem in lint_text(late, RULES)] == [6]
