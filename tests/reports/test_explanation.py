"""The answer about a log: an exception that nothing explains is shown, whatever warnings stand beside it."""

import pytest

from gpucheck.engine.explain import explain
from gpucheck.reports import explanation

HEADING = "look most like failures"
CUINIT = "E cuda_driver.cc:271] failed call to cuInit: UNKNOWN ERROR (303)"
TRACEBACK = 'Traceback (most recent call last):\n  File "train.py", line 3, in <module>\n    main()\n'


def shown(text: str) -> str:
    report = explain(text.split("\n"), "train.log")
    assert report.findings
    return explanation.render(report, width=100, color=False, ascii=False, verbose=False)


@pytest.mark.parametrize(
    ("before", "code"),
    [
        (CUINIT, "no-nvidia-gpu"),
        ("I cudart_stub.cc:32] Could not find cuda drivers on your machine, GPU will not be used.", "driver-missing"),
        (
            "W gpu_device.cc:2344] TensorFlow was not built with CUDA kernel binaries compatible with compute capability 9.0."
            " CUDA kernels will be jit-compiled from PTX, which could take 30 minutes or longer.",
            "kernels-jit-compiled",
        ),
    ],
)
@pytest.mark.parametrize(
    "raised",
    [
        'FileNotFoundError: [Errno 2] No such file or directory: "x.csv"',
        'ValueError: Input 0 of layer "dense" is incompatible with the layer: expected axis -1 to have value 8',
        'KeyError: "label"',
        "Fatal Python error: init_sys_streams: can't initialize sys standard streams",
    ],
)
def test_what_ended_the_program_stands_beside_warnings(before, code, raised):
    text = shown(f"{before}\n{TRACEBACK}{raised}\n")
    assert code in text
    assert HEADING in text
    assert raised[:40] in text
    assert text.index(raised[:40]) < text.index(code)


def test_an_error_after_the_warning_is_shown_and_one_before_is_not():
    text = shown(f"ERROR: mirror 1\n{CUINIT}\nmake: *** [train] Error 1")
    assert "make: *** [train] Error 1" in text
    assert "mirror 1" not in text


def test_the_last_exception_is_shown_however_many_were_caught_before():
    caught = [f"{name}Error: try again" for name in ("Am", "Bn", "Co", "Dp", "Eq", "Fr", "Gs", "Ht", "Iu", "Jv")]
    assert "ZooError: the end" in shown("\n".join([CUINIT, *caught, "ZooError: the end"]))


@pytest.mark.parametrize(
    "text",
    [
        CUINIT,
        f"{CUINIT}\n2 cannot be found, could not load cache",
        # an error explains the end
        'ResourceExhaustedError: OOM when allocating tensor with shape[64,512] device:GPU:0 by allocator GPU_0_bfc\nKeyError: "x"',
        # the exception is what the warning rests on
        "raise X\nRuntimeError: tensorflow.tpu: Your program is HIGHLY input-bound because 97.0% of the total step time",
    ],
)
def test_nothing_is_added_to_what_is_known(text):
    assert HEADING not in shown(text)


def test_json_tells_what_each_line_looks_like():
    suspects = explain([CUINIT, 'KeyError: "label"'], "train.log").facts["log"].suspects
    assert [(event.line, event.fields["looks"]) for event in suspects] == [(2, "exception"), (1, "error")]
