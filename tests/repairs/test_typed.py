"""A printed command never executes text in a path, in any shell."""

import json
import os
import shlex
import shutil
import subprocess

import pytest
from fakes import assignment
from one_rule import RULES, changed

from gpucheck.core.engine import manual
from gpucheck.core.engine.recorded import replay
from gpucheck.core.system import shells
from gpucheck.core.system.shells import word

# If executed, each part creates a file: a redirection needs no program, and a path component has no slash.
HOSTILE = 'it\'s "a" $(:>R1) `:>R2` (:>R3) ;:>R4; &:>R5 |:>R6 \n:>R7\n \\ $HOME ~ * !! {a,b} =ls #x\\'
WORDS = (HOSTILE, *HOSTILE.split(" "), "a b", "a!b", "-", "a\\", "\\'", "\\\\n", "ü ", "~a", "$", "a\tb", "'", "''", '"', "\x1b")
SHELLS = {"bash": ["bash"], "dash": ["dash"], "zsh": ["zsh", "-f"], "fish": ["fish", "--no-config"]}
SHELLS_OF_ENV = {"fish": "fish"}  # the other shells read the text for sh
PLACES = ("/home/user", "/usr/local", "/usr/lib", "/opt")


@pytest.fixture(params=SHELLS)
def shell(request):
    if shutil.which(request.param) is None:
        pytest.skip(f"{request.param} is not installed")
    return [shutil.which(request.param), *SHELLS[request.param][1:]]


def commands(name):
    """The printed commands of every rule's example, on a machine with this folder name."""
    name = json.dumps(f"/{name}")[1:-1]
    for rule in RULES.values():
        example = manual.page_of(rule).example
        if example is None:
            continue
        facts = json.dumps(changed(dict(example.changes), example.machine))
        for place in PLACES:
            facts = facts.replace(place, name + place)
        report = replay(f'{{"schema_version": "1.0", "facts": {facts}}}'.encode())
        for finding in report.findings:
            yield from (fix.command for fix in finding.fix if fix.command is not None and "R1" in fix.command)


LISTABLE = 'it\'s "a" $(echo>R1) `echo>R2` & echo>R3 | echo>R4 # \\ $HOME\\'  # without characters that separate folders
COMMANDS = sorted({*commands(HOSTILE), *commands(LISTABLE)})


def test_commands_with_paths_are_collected():
    assert len(COMMANDS) > 10
    assert any("export LD_LIBRARY_PATH=" in command for command in COMMANDS)
    assert any("activate" in command for command in COMMANDS)


def test_no_command_executes_text_in_a_path(shell, tmp_path):
    folder = tmp_path / "here"
    folder.mkdir()
    for command in COMMANDS:
        subprocess.run(shell, input=command + "\n", text=True, cwd=folder, env={"PATH": "", "HOME": str(tmp_path)},
                       capture_output=True, timeout=60)  # fmt: skip
        assert os.listdir(folder) == [], command


@pytest.mark.parametrize("existing", [{}, {"LD_LIBRARY_PATH": "/x"}])
def test_no_printed_assignment_executes_its_text(shell, existing, tmp_path):
    """Neither the value nor the printed reason is executed, and the variable has exactly the value."""
    folder = tmp_path / "here"
    folder.mkdir()
    style = SHELLS_OF_ENV.get(os.path.basename(shell[0]), "sh")
    for value in (HOSTILE, LISTABLE, "a\nb"):
        made = assignment("LD_LIBRARY_PATH", value, bool(existing), value), assignment("CUDA_VISIBLE_DEVICES", None, False, value)
        made += (assignment("CUDA_CACHE_PATH", value, False, value, apply=False),)
        text = shells.SHELLS[style](made, existing) + "printf '<%s>' \"$LD_LIBRARY_PATH\"\n"
        done = subprocess.run(shell, input=text, text=True, cwd=folder, env={"PATH": "", "HOME": str(tmp_path), **existing},
                              capture_output=True, timeout=60)  # fmt: skip
        assert os.listdir(folder) == [], text
        assert done.stdout == f"<{value}{':/x' if existing else ''}>", text


def test_quoted_word_is_unchanged_in_every_shell(shell):
    """Marks around the word show exactly what the shell reads."""
    for text in WORDS:
        done = subprocess.run(shell, input=f"printf '<%s>' {word(text)}\n", text=True, capture_output=True, timeout=60)
        assert done.stdout == f"<{text}>", text


def test_quoted_word_is_one_word_for_shlex():
    assert all(shlex.split(word(text)) == [text] for text in WORDS)
