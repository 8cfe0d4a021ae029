"""The training table."""

from gpucheck.model import Loss, TrainingRun
from gpucheck.reports.shared import terminal_training
from gpucheck.reports.shared.terminal_text import TerminalText


def run(*names, **fields):
    return TrainingRun(**{
        "strategy": "one_device" if len(names) == 1 else "mirrored", "devices": names, "replicas": len(names),
        "precision": "float32", "status": "passed", "samples_per_second": 1000.0, "per_replica_batch_size": 64, **fields,
    })  # fmt: skip


def table(*runs, width=130, ascii=False):
    out = TerminalText(width=width, color=False, ascii=ascii)
    terminal_training.write(out, runs)
    return str(out).rstrip("\n") + "\n"


def test_values_stand_below_their_headings():
    text = table(
        run(
            "GPU:0", step_seconds=0.0175, first_step_seconds=4.44, peak_memory_bytes=558345748, loss=Loss(first=2.412, last=1.52)
        ),
        run("CPU:0", step_seconds=1.67, loss=Loss(first=2.4, last=None), compiled=True),
    )
    assert text.splitlines() == [
        "  strategy     devices   precision     samples/s   step ms   first step s   peak GiB          loss   result",
        "  one_device   GPU:0     float32           1,000      17.5            4.4       0.52   2.41 → 1.52   ok",
        "  one_device   CPU:0     float32 XLA       1,000     1,670              –          –       2.4 → –   ok",
    ]


def test_ascii_columns_stay_aligned():
    lines = table(run("GPU:0", loss=Loss(first=1.5, last=0.5)), run("GPU:1"), ascii=True).splitlines()
    assert len({line.rindex("ok") for line in lines[1:]}) == 1


def test_ascii_drops_the_same_columns():
    fields = {"step_seconds": 0.0175, "first_step_seconds": 4.44, "loss": Loss(first=2.52, last=0.375)}
    headings = [table(run("CPU:0", **fields), width=80, ascii=ascii).splitlines()[0] for ascii in (False, True)]
    assert headings[0].split() == headings[1].split()
    assert "peak GiB" not in headings[0]
    assert "loss" in headings[0]


def test_efficiency_is_measured_against_like_runs_only():
    both = run("GPU:0", "GPU:1", samples_per_second=1800.0)
    single = [run("GPU:0"), run("GPU:1", samples_per_second=1400.0)]
    assert "\n      75 % of 2 × one GPU's samples/s\n" in table(*single, both)  # 1800 of 2 × 1200
    for unlike in (
        run("GPU:0", precision="mixed_float16"),
        run("GPU:0", per_replica_batch_size=32),
        run("GPU:0", compiled=True),
        run("GPU:0", status="failed"),
        run("GPU:0", samples_per_second=None),
        run("GPU:7"),
        run("CPU:0"),
        run("GPU:0", strategy="tpu"),
    ):
        assert "%" not in table(unlike, both)


def test_an_efficiency_that_was_measured_apart_is_the_one_that_is_told():
    single, both = run("GPU:0"), run("GPU:0", "GPU:1", samples_per_second=1800.0, scaling_efficiency=0.93)
    line = "\n      93 % of 2 × one GPU's samples/s, both as measured by the experiment scaling\n"
    assert line in table(single, both)
    assert line in table(both)
    assert "%" not in table(run("CPU:0", "CPU:1", scaling_efficiency=0.45))


def test_replicas_on_one_cpu_have_no_efficiency():
    assert "%" not in table(run("CPU:0"), run("CPU:0", "CPU:1"))


def test_problems_are_told_below_the_row():
    text = table(
        run("GPU:0", status="failed", stage="first step", reason="it broke"),
        run("GPU:1", status="skipped"),
        run("GPU:2", xla_problem="ptxas is not there"),
        run("GPU:3", misplaced_ops=("Conv2D on CPU:0", "MatMul on CPU:0")),
    )
    assert [line.strip() for line in text.splitlines()[2::2]] == [
        "at first step: it broke",
        "no reason given",
        "XLA: ptxas is not there",
        "not on the named device: Conv2D on CPU:0, MatMul on CPU:0",
    ]
    assert "FAIL" in text
    assert "not tried" in text


def test_what_is_to_be_known_of_several_workers():
    text = table(
        run(
            "GPU:0",
            "GPU:1",
            "GPU:0",
            "GPU:1",
            strategy="multi_worker_mirrored",
            workers=2,
            loop="strategy.run",
            fit_verified=False,
        ),
        run("GPU:0", "GPU:1", strategy="multi_worker_mirrored", workers=2, fit_verified=True, note="two workers on this machine"),
        run("GPU:0", "GPU:0", strategy="multi_worker_mirrored", workers=2, status="failed", fit_verified=False, reason="x"),
    )
    cells = [line.split("   ") for line in text.splitlines()]
    assert [line[1].strip() for line in cells if "multi_worker" in line[0]] == ["2 × GPU:0-1", "GPU:0-1", "2 × GPU:0"]
    assert [line.strip() for line in text.splitlines() if line.startswith("      ")] == [
        "Model.fit does not train under this strategy; this is a strategy.run loop",
        "two workers on this machine",
        "x",
    ]


def test_an_unknown_status_is_shown_as_it_is():
    assert "interrupted" in table(run("GPU:0", status="interrupted"))


def test_a_long_list_of_devices_is_cut_before_the_rate_goes():
    lines = table(run(*(f"GPU:{number}" for number in range(0, 40, 2))), width=50).splitlines()
    assert "samples/s" in lines[0]
    assert "…" in lines[1]
    assert max(map(len, lines)) <= 50


def test_devices_that_trained_at_the_same_time_are_told():
    both = run("GPU:0", "GPU:1", samples_per_second=1800.0)
    text = table(run("GPU:0"), run("GPU:1", trained_with=1, samples_per_second=600.0), run("GPU:2", trained_with=1), both)
    assert text.splitlines()[-1] == "  GPU:1-2 trained at the same time, each under the others' load"
    assert "90 % of 2 × one GPU's samples/s" in text  # of the rate that nothing disturbed
    assert "at the same time" not in table(run("GPU:0"), both)


def test_without_a_device_that_trained_alone_the_others_are_the_measure():
    others = [run(f"GPU:{number}", trained_with=1) for number in (1, 2)]
    assert "90 % of 2 ×" in table(*others, run("GPU:1", "GPU:2", samples_per_second=1800.0))
