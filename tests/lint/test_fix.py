"""`gpucheck lint --fix`: corrected programs, unchanged programs, and files that are never written."""

import inspect
import os
import subprocess
import sys

import pytest
from command import gpucheck

from gpucheck.commands.lint import runner
from gpucheck.commands.lint.pages import load_rules

FIT = """model = keras.Sequential([keras.layers.Dense(1)])
model.compile(loss="mse"{compiled})
model.fit(dataset)
"""
HEAD = "import keras\nimport tensorflow as tf\n"
LOGGED = "tf.debugging.set_log_device_placement({0})\ntf.debugging.set_log_device_placement({0})\n"
PIPELINE = "dataset = tf.data.TFRecordDataset(files).map(parse).batch(32)"
# The wrong program, and the program that --fix writes.
FIXED = {
    "import": (
        '"""A sample."""\nfrom __future__ import annotations\nprint(tf.config.list_physical_devices())\n',
        '"""A sample."""\nfrom __future__ import annotations\nimport tensorflow as tf\nprint(tf.config.list_physical_devices())\n',
    ),
    "an import after the settings that it reads": (
        'import os\nos.environ["KERAS_BACKEND"] = "jax"\nfrom keras import layers\nmodel = keras.Sequential([layers.Dense(1)])\n',
        'import os\nos.environ["KERAS_BACKEND"] = "jax"\nimport keras\nfrom keras import layers\nmodel = keras.Sequential([layers.Dense(1)])\n',
    ),
    "the Keras of TensorFlow": (
        "import tensorflow as tf\nmodel = keras.Sequential([tf.keras.layers.Dense(1)])\n",
        "from tensorflow import keras\nimport tensorflow as tf\nmodel = keras.Sequential([tf.keras.layers.Dense(1)])\n",
    ),
    "a metric that reads values": (
        f"{HEAD}def f1(y, p):\n    return score(y.numpy(), p.numpy())\ndataset = None\n{FIT.format(compiled=', metrics=[f1], run_eagerly=True')}",
    )
    * 2,
    "a method by another name": (f"{HEAD}mean = tf.keras.metrics.Mean()\nreset = mean.reset_states\nreset()\n",) * 2,
    "a setting in the block of the use": (
        'import os\nif __name__ == "__main__":\n    os.environ["A"] = "1"\n    tf.config.list_physical_devices("GPU")\n',
        'import tensorflow as tf\nimport os\nif __name__ == "__main__":\n    os.environ["A"] = "1"\n    tf.config.list_physical_devices("GPU")\n',
    ),
    "arguments of Keras 1": (f"{HEAD}{FIT.format(compiled='')}model.fit_generator(batches, samples_per_epoch=10)\n",) * 2,
    "an argument that is given by position": (
        f"{HEAD}r = tf.distribute.cluster_resolver.TPUClusterResolver.connect()\ns = tf.distribute.TPUStrategy(r)\n"
        'with s.scope():\n    m = tf.keras.Sequential([])\n    m.compile("adam", "mse")\n'
        "m.fit(tf.data.Dataset.from_tensor_slices(x).batch(8, False).prefetch(tf.data.AUTOTUNE))\n",
    )
    * 2,
    "reset_states": (
        f"{HEAD}loss = keras.metrics.Mean()\nloss.reset_states()\n",
        f"{HEAD}loss = keras.metrics.Mean()\nloss.reset_state()\n",
    ),
    "prefetch": (
        f"{HEAD}{PIPELINE}  # «é»\n{FIT.format(compiled='')}",
        f"{HEAD}{PIPELINE}.prefetch(tf.data.AUTOTUNE)  # «é»\n{FIT.format(compiled='')}",
    ),
    "compile": (
        f"{HEAD}dataset = None\n{FIT.format(compiled=', run_eagerly=True')}",
        f"{HEAD}dataset = None\n{FIT.format(compiled=', run_eagerly=False')}",
    ),
    "two of them": (
        f"{HEAD}tf.config.run_functions_eagerly(True)\ntf.debugging.set_log_device_placement(enabled=True)\n{FIT.format(compiled='')}",
        f"{HEAD}tf.config.run_functions_eagerly(False)\ntf.debugging.set_log_device_placement(enabled=False)\n{FIT.format(compiled='')}",
    ),
    "nb_epoch": (
        f"{HEAD}{FIT.format(compiled='')}model.fit(batches, nb_epoch=2)\n",
        f"{HEAD}{FIT.format(compiled='')}model.fit(batches, epochs=2)\n",
    ),
    "fit_generator": (
        f"{HEAD}{FIT.format(compiled='')}model.fit_generator(batches, epochs=2)\n",
        f"{HEAD}{FIT.format(compiled='')}model.fit(batches, epochs=2)\n",
    ),
    "the number of steps by its position": (f"{HEAD}{FIT.format(compiled='')}model.fit_generator(batches, 10, 2)\n",) * 2,
    "twice the same": (
        f"{HEAD}{LOGGED.format(True)}{FIT.format(compiled='')}",
        f"{HEAD}{LOGGED.format(False)}{FIT.format(compiled='')}",
    ),
    "an import after a semicolon": (
        '"A sample."; print(tf.config.list_physical_devices())\n',
        '"A sample."; import tensorflow as tf; print(tf.config.list_physical_devices())\n',
    ),
    "an argument that fit lacks": (f"{HEAD}{FIT.format(compiled='')}model.fit_generator(batches, workers=4)\n",) * 2,
    "an argument of an optimizer": (
        f"{HEAD}adam = tf.keras.optimizers.Adam( lr = 0.001)\n{FIT.format(compiled='')}",
        f"{HEAD}adam = tf.keras.optimizers.Adam( learning_rate = 0.001)\n{FIT.format(compiled='')}",
    ),
    "an argument that is given twice": (f"{HEAD}adam = tf.keras.optimizers.Adam(0.1, lr=0.1)\n{FIT.format(compiled='')}",) * 2,
    "after other letters": (
        f"{HEAD}dataset = None\n{FIT.format(compiled=', run_eagerly=True')}x = 'äöü'; model.fit_generator(batches)\n",
        f"{HEAD}dataset = None\n{FIT.format(compiled=', run_eagerly=False')}x = 'äöü'; model.fit(batches)\n",
    ),
    "not a safe change": (f"{HEAD}for gpu in tf.config.list_physical_devices('GPU'):\n    gpu.memory_limit = 4096\n",) * 2,
}


def fix(path):
    return runner.lint([str(path)], load_rules(), fix=True)


@pytest.mark.parametrize(("wrong", "right"), FIXED.values(), ids=FIXED)
def test_corrections(tmp_path, wrong, right):
    path = tmp_path / "train.py"
    path.write_text(wrong, encoding="utf-8")
    path.chmod(0o640)
    result = fix(path)
    assert path.read_text(encoding="utf-8") == right
    assert (result.fixed > 0, result.exit_code) == (wrong != right, int(wrong == right))
    assert path.stat().st_mode & 0o777 == 0o640
    assert os.listdir(tmp_path) == ["train.py"]


def test_map_with_brackets_around_its_function_is_unchanged(tmp_path):
    source = (
        f"{HEAD}read = tf.io.read_file\n"
        "dataset = tf.data.Dataset.from_tensor_slices(files).map((lambda name: tf.io.read_file(name))).batch(8).prefetch(1)\n"
        f"{FIT.format(compiled='')}"
    )
    path = tmp_path / "train.py"
    path.write_text(source)
    assert [problem.code for problem in fix(path).problems] == ["serial-map"]
    assert path.read_text() == source
    path.write_text(source.replace("((lambda name: tf.io.read_file(name)))", "(lambda name: tf.io.read_file(name),)"))
    assert fix(path).problems == ()
    assert ".map(lambda name: tf.io.read_file(name), num_parallel_calls=tf.data.AUTOTUNE,)" in path.read_text()


def test_columns_of_an_edit_count_characters(tmp_path):
    path = tmp_path / "train.py"
    path.write_text(f"{HEAD}{FIT.format(compiled='')}x = 'äöü'; model.fit_generator(batches)\n", encoding="utf-8")
    (problem,) = runner.lint([str(path)], load_rules()).problems
    edit = problem.edit
    assert (problem.column, problem.source[edit.column - 1 : edit.end_column - 1]) == (12, "fit_generator")


def test_help_lists_the_rules_with_corrections():
    listed = gpucheck("lint", "--help").stdout.partition("--fix fixes")[2].partition("\n\n")[0].partition(":")[2]
    codes = {each.split()[0] for each in listed.split(",")}
    sources = {rule.code: inspect.getsource(sys.modules[rule.check.__module__]) for rule in load_rules()}
    assert codes == {code for code, text in sources.items() if "lint.edits import" in text or "import Edit" in text}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (FIXED["not a safe change"][0], "changed nothing: these findings have no safe correction"),
        (FIXED["import"][0].replace("\n", "\r\n"), "did not change train.py: it changes only UTF-8 files with Unix line endings"),
        (FIXED["import"][0], None),
        ("import keras\n", None),
    ],
    ids=["no correction", "line ends", "corrected", "no findings"],
)
def test_reason_is_printed_if_nothing_was_corrected(tmp_path, text, message):
    (tmp_path / "train.py").write_bytes(text.encode())
    said = gpucheck("lint", "--fix", "train.py", cwd=tmp_path).stderr
    assert said.startswith(f"gpucheck: --fix {message}") and said.count("\n") == 1 if message else said == ""
    assert gpucheck("lint", "train.py", cwd=tmp_path).stderr == ""


def test_standard_input_is_not_corrected():
    said = gpucheck("lint", "--fix", "-", input=FIXED["import"][0]).stderr
    assert said.startswith("gpucheck: --fix did not change standard input: ")


def test_files_that_are_not_written(tmp_path):
    wrong = FIXED["import"][0]
    target = tmp_path / "elsewhere.txt"
    target.write_text(wrong)
    (tmp_path / "link.py").symlink_to(target)
    (tmp_path / "windows.py").write_bytes(wrong.replace("\n", "\r\n").encode())
    (tmp_path / "latin.py").write_bytes(b"# coding: latin-1\nname = '\xe9'\n" + b"tf.config.list_physical_devices()\n")
    result = runner.lint([str(tmp_path / name) for name in ("link.py", "windows.py", "latin.py")], load_rules(), fix=True)
    assert (result.fixed, len(result.problems), result.failures) == (0, 3, ())
    assert target.read_text() == wrong


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give a file to another user")
def test_file_of_another_user_is_corrected_only_if_named(tmp_path):
    wrong, right = FIXED["import"]
    for name in ("a.py", "b.py", "mine.py"):
        (tmp_path / name).write_text(wrong)
    for name in ("a.py", "b.py"):
        os.chown(tmp_path / name, 12345, -1)
    done = gpucheck("lint", "--fix", tmp_path)
    message = f"gpucheck: --fix did not change {tmp_path}/a.py and 1 more: it changes another user's file only if the file is an argument"
    assert (done.returncode, done.stderr) == (1, f"{message}\n")
    assert "2 findings in 2 of 3 files, 1 fixed" in done.stdout
    assert [(tmp_path / name).read_text() for name in ("a.py", "mine.py")] == [wrong, right]
    assert gpucheck("lint", "--fix", tmp_path, tmp_path / "a.py").stderr.startswith(message.replace("a.py and 1 more", "b.py"))
    assert ((tmp_path / "a.py").read_text(), (tmp_path / "a.py").stat().st_uid) == (right, 12345)


def test_unwritable_file_is_a_failure(tmp_path):
    for name in ("a.py", "b.py"):
        (tmp_path / name).write_text(FIXED["import"][0])
    command = [sys.executable, "-m", "gpucheck", "lint", "--fix", str(tmp_path)]
    done = subprocess.run(["/bin/sh", "-c", 'ulimit -f 0; exec "$@"', "sh", *command], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert done.stdout.count("cannot be changed: File too large") == 2
    assert sorted(os.listdir(tmp_path)) == ["a.py", "b.py"]
    assert (tmp_path / "a.py").read_text() == FIXED["import"][0]
