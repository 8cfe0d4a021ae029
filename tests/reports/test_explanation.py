"""The result for a log: an unexplained exception is shown beside any warnings."""

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
def test_the_fatal_error_is_shown_beside_warnings(before, code, raised):
    text = shown(f"{before}\n{TRACEBACK}{raised}\n")
    assert HEADING in text
    assert text.index(raised[:40]) < text.index(code)


@table
@pytest.mark.parametrize("raised", ENDS)
def test_a_missing_gpu_is_not_the_cause_where_something_else_ended_the_program(before, code, raised):
    assert code in shown(before)
    text = shown(f"{before}\n{TRACEBACK}{raised}\n")
    assert code not in text
    assert HEADING in text
    assert raised[:40] in text


def test_an_error_after_the_warning_is_shown_and_one_before_is_not():
    text = shown(f"ERROR: mirror 1\n{CUINIT}\nmake: *** [train] Error 1")
    assert "make: *** [train] Error 1" in text
    assert "mirror 1" not in text


def test_the_last_exception_is_shown_however_many_were_caught_before():
    caught = [f"{name}Error: try again" for name in ("Am", "Bn", "Co", "Dp", "Eq", "Fr", "Gs", "Ht", "Iu", "Jv")]
    assert "ZooError: the end" in shown("\n".join([CUINIT, *caught, "ZooError: the end"]))


@table
def test_nothing_is_added_to_what_is_known(text):
    assert HEADING not in shown(text)


def test_json_has_the_type_of_each_suspect():
    suspects = explain([("", [CUINIT, 'KeyError: "label"'])], "train.log").facts["log"].suspects
    assert [(event.line, event.fields["looks"]) for event in suspects] == [(2, "exception"), (1, "error")]
