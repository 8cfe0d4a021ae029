"""``gpucheck bench --model``: a user's own network and data, and invalid functions."""

import json
import os
import pathlib
import re
import subprocess
import sys

import pytest
from case_files import program
from in_tensorflow import MARKS, printed_by

from gpucheck.core.training import bench_model

ROOT = pathlib.Path(__file__).parents[2]
EXAMPLE = re.search(r"```python\n(# train\.py\n.*?)```", (ROOT / "docs" / "bench.md").read_text(encoding="utf-8"), re.DOTALL)
PLACE = re.compile(r"own_models\.py, line \d+\)$")


def gpucheck(folder, *args):
    argv = [sys.executable, "-m", "gpucheck", "bench", "--allow-cpu", "--strategy", "one_device", "--steps", "2", *args]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        argv, cwd=folder, env=env, capture_output=True, text=True, timeout=240, stdin=subprocess.DEVNULL, check=False
    )


@pytest.mark.slow
@pytest.mark.tensorflow
@MARKS[1]
def test_documentation_example_is_measured(tmp_path):
    (tmp_path / "train.py").write_text(EXAMPLE[1], encoding="utf-8")
    done = gpucheck(tmp_path, "--model", "train:make_model", "--steps-per-execution", "2", "--format", "json")
    assert (done.returncode, done.stderr.partition(": ")[2][:16]) == (0, "measuring 1 of 1")
    got = json.loads(done.stdout)
    (one,) = got["measurements"]
    assert (got["model"], one["global_batch_size"], one["batch_size"], one["steps"]) == ("train:make_model", 128, 128, 2)
    assert one["accuracy"]["median"] >= 0
    assert one["steps_per_execution"] == 2
    assert got["notes"] == []


@pytest.mark.tensorflow
@pytest.mark.slow
@MARKS[1]
def test_failing_function_fails_the_configuration(tmp_path):
    (tmp_path / "own_models.py").write_text("def make():\n    print('on standard output')\n    return 1 / 0\n", encoding="utf-8")
    done = gpucheck(tmp_path, "--model", "own_models:make", "--format", "json")
    (one,) = json.loads(done.stdout)["measurements"]
    assert (done.returncode, one["status"]) == (1, "failed")
    assert one["reason"] == "ZeroDivisionError: division by zero (own_models.py, line 3)"


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--model", "train.py"], "expected MODULE:FUNCTION, for example train:make_model for train.py"),
        (["--model", "train.py:make_model()"], "expected MODULE:FUNCTION"),
        (["--model", "a b:make"], "expected MODULE:FUNCTION"),
        (["--model", "train:make", "--data", "cifar10"], "with --model, the function returns the data"),
    ],
)
def test_invalid_model_argument_is_wrong_usage(tmp_path, args, message):
    done = gpucheck(tmp_path, *args)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in " ".join(done.stderr.split())


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="owners of POSIX")
@pytest.mark.parametrize("name", ["train.py", "train/__init__.py"])
def test_file_writable_by_others_is_not_imported(tmp_path, name):
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("raise SystemExit('imported')", encoding="utf-8")
    path.chmod(0o666)
    done = gpucheck(tmp_path, "--model", "train:make")
    assert (done.returncode, done.stdout) == (2, "")
    assert f"{name} is not imported: it can be written by every user" in " ".join(done.stderr.split())


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="owners of POSIX")
def test_nothing_is_imported_from_a_shared_folder(tmp_path):
    tmp_path.chmod(0o1777)
    (tmp_path / "train.py").write_text("raise SystemExit('imported')", encoding="utf-8")
    done = gpucheck(tmp_path, "--model", "train:make")
    assert (done.returncode, done.stdout) == (2, "")
    assert "train.py is not imported: other users can write to the current folder" in " ".join(done.stderr.split())


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    """Results by function of ``own_models.py`` and number of replicas: the failure, or batch, generated data, accuracies."""
    folder = tmp_path_factory.mktemp("own")
    (folder / "own_models.py").write_text(program("own_models.py"), encoding="utf-8")
    return printed_by(program("own_models_measured.py"), str(folder))


@pytest.mark.tensorflow
@pytest.mark.slow
@MARKS[1]
class TestReturnedModels:
    @pytest.mark.parametrize(
        ("case", "batch", "generated", "accurate"),
        [
            ("compiled", 8, True, False),  # the default batch, and random labels
            ("uncompiled", 8, True, False),
            ("regression", 8, False, False),
            ("arrays", 8, False, True),
            ("named_inputs", 8, False, True),
            ("subclass", 8, False, False),
            ("own_step", 10, False, False),
            ("own_step on 2", 10, False, False),
            ("batched", 24, False, True),
            ("samples", 8, False, True),
            ("batched on 2", 24, False, True),
            ("batched on 2, batch 8", 16, False, True),
            ("samples on 2", 16, False, True),
            ("batched, XLA, 2 at once", 24, False, True),
            ("low_precision, mixed_bfloat16", 8, False, True),
        ],
    )
    def test_returned_model_is_measured(self, outcomes, case, batch, generated, accurate):
        assert outcomes[case] == [batch, generated, accurate]

    @pytest.mark.parametrize(
        ("case", "message"),
        [
            ("nothing", "own_models:nothing returned NoneType; expected a keras.Model, or (model, data)"),
            ("texts", "own_models:texts returned (str, str); expected a keras.Model, or (model, data)"),
            ("iterator", "own_models:iterator returned list_iterator as data; expected a tf.data.Dataset or arrays (x, y)"),
            ("empty", "own_models:empty: its data is empty"),
            ("batched_by_25 on 2", "own_models:batched_by_25: its batches of 25 samples can't be divided among 2 replicas"),
            ("low_precision", "own_models:low_precision: its layers compute in bfloat16, but --precision is float32"),
            ("arrays, mixed_bfloat16, own policy", "its layers compute in float32, but --precision is mixed_bfloat16"),
            ("unknown_shape", "without data, a model needs one input and one output of fixed shapes; return (model, data)"),
            ("whole_numbers", "its input holds int32, whose range is unknown; return (model, data)"),
            ("no_function", "own_models.py has no function no_function"),
            ("missing:make", "ModuleNotFoundError: No module named 'missing'"),
            ("wrong_shape", "expected axis -1 of input shape to have value 8"),
            ("other_lengths", "Dimensions 100 and 50 are not compatible"),
            ("compiled, target", "--target-accuracy needs data, and a metric named accuracy"),
        ],
    )
    def test_invalid_return_value_is_refused(self, outcomes, case, message):
        assert message in outcomes[case]

    @pytest.mark.parametrize(
        ("case", "message"),
        [
            ("raises", "KeyError: 'missing'"),
            ("exits", "SystemExit: 3"),
            ("layer_raises", "expected nine features"),
            ("step_raises", "RuntimeError: my step fails"),
        ],
    )
    def test_user_exception_has_its_line(self, outcomes, case, message):
        assert message in outcomes[case]
        assert PLACE.search(outcomes[case])


def test_syntax_error_names_its_line_once():
    with pytest.raises(SyntaxError) as raised:
        compile("a b", "train.py", "exec")
    assert bench_model.failure(raised.value) == "SyntaxError: invalid syntax (train.py, line 1)"
