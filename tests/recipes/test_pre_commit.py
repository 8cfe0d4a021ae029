"""The hook, by pre-commit's own validation; its entry, run on a script with a mistake and on one without."""

import shlex
import sys

import yaml
from recipe_helpers import RECIPES, accepts, run

HOOKS = RECIPES.parents[1] / ".pre-commit-hooks.yaml"
CONFIG = RECIPES / "pre-commit/.pre-commit-config.yaml"


def hook():
    (one,) = yaml.safe_load(HOOKS.read_text())
    return one


def test_pre_commit_accepts_both_files():
    accepts("pre-commit", "validate-manifest", HOOKS)
    accepts("pre-commit", "validate-config", CONFIG)


def test_example_uses_the_hook():
    (repository,) = yaml.safe_load(CONFIG.read_text())["repos"]
    assert [one["id"] for one in repository["hooks"]] == [hook()["id"]]


def test_hook_rejects_a_commit_with_a_mistake(tmp_path):
    program, *arguments = shlex.split(hook()["entry"])
    assert program == "gpucheck"
    bad, good = tmp_path / "bad.py", tmp_path / "good.py"
    bad.write_text(
        "import tensorflow as tf\n"
        'gpus = tf.config.list_logical_devices("GPU")\n'
        'tf.config.experimental.set_memory_growth(tf.config.list_physical_devices("GPU")[0], True)\n'
    )
    good.write_text("import tensorflow as tf\nprint(tf.__version__)\n")
    assert run([sys.executable, "-m", "gpucheck", *arguments, good]).returncode == 0
    done = run([sys.executable, "-m", "gpucheck", *arguments, good, bad])
    assert done.returncode == 1
    assert "memory-growth-set-late" in done.stdout
