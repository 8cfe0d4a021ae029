"""gpucheck in a real notebook: a kernel runs its cells, and the outputs are those of an exported notebook."""

import pathlib
import sys

import pytest

ROOT = pathlib.Path(__file__).parents[1]
CHECK = "import gpucheck\ngpucheck.check(allow_cpu=True, smoke=False)"
FIT = """
import time, keras, numpy as np
from gpucheck.keras import Watch

class Slow(keras.utils.PyDataset):
    def __len__(self):
        return 20
    def __getitem__(self, number):
        time.sleep(0.2)
        return np.ones((8, 4)), np.ones((8, 1))

class Stop(keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        if batch == 15:
            raise KeyboardInterrupt

model = keras.Sequential([keras.layers.Dense(1)])
model.compile("sgd", "mse", jit_compile=False)
watch = Watch(every_seconds=0.1)
model.fit(Slow(), verbose=0, callbacks=[watch, Stop()])
"""


@pytest.fixture
def outputs():
    """Run cells, and return the outputs of each."""
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")

    def run(*cells):
        begin = f"import sys; sys.path[:0] = {[str(ROOT), *sys.path]!r}"
        notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in (begin, *cells)])
        nbclient.NotebookClient(notebook, timeout=120, allow_errors=True, kernel_name="python3").execute()
        return [cell.outputs for cell in notebook.cells[1:]]

    return run


@pytest.mark.slow
@pytest.mark.tensorflow
def test_progress_is_cleared_and_the_report_is_a_page(outputs):
    ((progress, page),) = outputs(CHECK)
    assert (progress.output_type, progress.data["text/plain"]) == ("display_data", "")
    assert page.data["text/html"].startswith("<iframe ")
    assert page.data["text/plain"].startswith("<gpucheck report: ")


@pytest.mark.slow
@pytest.mark.tensorflow
def test_summary_of_an_interrupted_fit_names_the_line_of_its_cell(outputs):
    fit, summary = outputs(FIT, "print(watch.summary)")
    assert fit[-1].ename == "KeyboardInterrupt"
    text = "".join(output.text for output in summary if output.get("name") == "stdout")
    assert ", interrupted in epoch 1 · " in text
    assert "(its Python code at Cell In[2], line 8 in __getitem__)" in text
    assert "Change: several workers for the PyDataset" in text
