import pytest

from gpucheck.core.reports.shared.limited_text import cut, fit

WIDE = "größe 显存 🔥"


@pytest.mark.parametrize("limit", range(24))
def test_cut_never_splits_a_character(limit):
    short = cut(WIDE, limit)
    assert len(short.encode("utf-8")) <= limit
    assert short == WIDE or limit < 3 or short.endswith("…")
    assert WIDE.startswith(short.rstrip("…"))


@pytest.mark.parametrize("limit", [40, 64, 100, 200])
def test_fit_counts_omitted_lines(limit):
    text = fit([WIDE] * 10, limit)
    assert len(text.encode("utf-8")) <= limit
    kept = text.splitlines()
    if len(kept) < 10:
        assert kept[-1] == f"… {10 - len(kept) + 1} more lines"
    assert all(entry == WIDE for entry in kept[:-1])


def test_fit_truncates_a_too_long_first_line():
    text = fit(["x" * 500, "y"], 100)
    assert len(text.encode("utf-8")) <= 100
    assert text.startswith("xxxx")
