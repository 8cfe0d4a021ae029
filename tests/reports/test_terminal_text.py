"""Lines that are never wider than the given width."""

import subprocess
import sys

import pytest
from rich.cells import cell_len

from gpucheck.core.reports.shared.terminal_text import TerminalText


def out(width=20, color=False, ascii=False):
    return TerminalText(width=width, color=color, ascii=ascii)


def test_wraps_between_words_with_a_hanging_indent():
    page = out()
    page.add("one two three four five six", indent=2, label="a", hang=5)
    assert str(page) == "  a  one two three\n     four five six\n"


def test_long_label_has_its_own_line():
    page = out()
    page.add("text", indent=0, label="labeled", hang=4)
    assert str(page) == "labeled\n    text\n"


def test_label_without_text_is_printed():
    page = out()
    page.add("", indent=1, label="a", hang=4)
    assert str(page) == " a\n"


def test_long_word_is_split_on_a_new_line():
    page = out()
    page.add("ab " + "x" * 45 + " cd", indent=0)
    assert str(page) == f"ab\n{'x' * 20}\n{'x' * 20}\nxxxxx cd\n"


@pytest.mark.parametrize("text", ["機械学習" * 20, "a機" * 30, "e\u0301" * 60, "🙂 " * 30])
def test_wide_characters_count_double(text):
    page = out(width=21)
    page.add(text, indent=3)
    lines = str(page).splitlines()
    assert all(cell_len(line) <= 21 for line in lines)
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")


def test_styles_continue_after_a_line_break():
    page = out(color=True)
    page.add("plain ", ("green and green and green", "ok"), " end")
    assert str(page) == "plain \x1b[32mgreen and\x1b[0m\n\x1b[32mgreen and green\x1b[0m end\n"


def test_tail_is_on_the_same_or_the_next_line():
    page = out()
    page.add("0123456789")
    page.tail("abcdef", indent=2)
    page.tail("g", indent=2)
    assert str(page) == "0123456789    abcdef\n  g\n"


def test_flow_breaks_between_items_only():
    page = out()
    page.flow("a b c", "d e f", "g h i", "j" * 30)
    assert str(page) == f"a b c · d e f\n  g h i\n  {'j' * 18}\n  {'j' * 12}\n"


def test_commands_are_not_wrapped():
    page = out()
    page.command("echo " + "y" * 60, 6, indent=2, label="do")
    assert str(page) == f"  do  echo {'y' * 60}\n"


def test_blank_lines_are_single_and_never_first():
    page = out()
    page.blank()
    page.add("a")
    page.blank()
    page.blank()
    page.add("b")
    assert str(page) == "a\n\nb\n"
    assert str(page) == "a\n\nb\n"  # reading does not change it


def test_hang_never_takes_more_than_half():
    page = out()
    page.add("one two three", hang=19, label="x")
    assert max(map(len, str(page).splitlines())) <= 20


WRAP = """
import sys
from gpucheck.core.reports.shared.terminal_text import TerminalText
for text in (sys.argv[1] * 1_000_000, "\\u6a5f" * 200_000, " " * 1_000_000 + "end", "e\\u0301" * 200_000):
    page = TerminalText(width=80, color=False, ascii=False)
    page.add("before ", text, hang=4)
    assert "".join(str(page).split()) == "before" + "".join(text.split())
"""


def test_millions_of_characters_are_wrapped():
    done = subprocess.run([sys.executable, "-c", WRAP, "x"], capture_output=True, text=True, timeout=30)
    assert (done.returncode, done.stderr) == (0, "")
