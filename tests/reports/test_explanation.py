"""The result for a log: an unexplained exception is shown together with any warnings."""

import pytest
from case_files import table

from gpucheck.commands.explain import report as explanation
from gpucheck.commands.explain.log import explain

HEADING = "look most like failures"
CUINIT = "E cuda_driver.cc:271] failed call to cuInit: UNKNOWN ERROR (303)"
TRACEBACK = 'Traceback (most recent call last):\n  File "train.py", line 3, in <module>\n    main()\n'


def shown(text: str) -> str:
    return explanation.render(explain([("", text.split("\n"))], "train.log"), width=100, color=False, ascii=False, verbose=False)


ENDS = [
    'FileNotFoundError: [Errno 2] No such file or directory: "x.csv"',
    "ValueError: the flux is out of order: adamm",
    'KeyError: "label"',
    "Fatal Python error: init_sys_streams: can't initialize sys standard streams",
]


@table
@pytest.mark.parametrize("raised", ENDS)
def test_fatal_error_is_shown_with_warnings(before, code, raised):
    text = shown(f"{before}\n{TRACEBACK}{raised}\n")
    assert HEADING in text
    assert text.index(raised[:40]) < text.index(code)


@table
@pytest.mark.parametrize("raised", ENDS)
def test_missing_gpu_is_not_the_cause_if_another_error_ended_the_program(before, code, raised):
    assert code in shown(before)
    text = shown(f"{before}\n{TRACEBACK}{raised}\n")
    assert code not in text
    assert HEADING in text
    assert raised[:40] in text


def test_only_errors_after_the_warning_are_shown():
    text = shown(f"ERROR: mirror 1\n{CUINIT}\nmake: *** [train] Error 1")
    assert "make: *** [train] Error 1" in text
    assert "mirror 1" not in text


def test_last_exception_is_shown_after_many_caught_ones():
    caught = [f"{name}Error: try again" for name in ("Am", "Bn", "Co", "Dp", "Eq", "Fr", "Gs", "Ht", "Iu", "Jv")]
    assert "ZooError: the end" in shown("\n".join([CUINIT, *caught, "ZooError: the end"]))


@table
def test_known_causes_are_shown_without_suspects(text):
    assert HEADING not in shown(text)


def test_json_has_the_type_of_each_suspect():
    suspects = explain([("", [CUINIT, 'KeyError: "label"'])], "train.log").facts["log"].suspects
    assert [(event.line, event.fields["looks"]) for event in suspects] == [(2, "exception"), (1, "error")]
