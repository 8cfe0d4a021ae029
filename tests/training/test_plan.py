"""The planned jobs for each machine, with TensorFlow and with another backend of Keras."""

from case_files import table

from gpucheck.core.child.messages.frameworks import BackendTask
from gpucheck.core.model import Level
from gpucheck.core.training import backend as child_backend
from gpucheck.core.training.plan import groups, plan, usable


class TestTensorFlow:
    """The jobs of TensorFlow's child."""

    @staticmethod
    def runs(devices, level=1, requested=(), every=False):
        jobs = plan(list(devices), level, tuple(requested), every)
        return [(job.strategy, job.devices, job.precision) for job in jobs if not job.skip]

    @table
    def test_planned_jobs_by_devices_level_and_strategies(self, devices, level, requested, every, expected):
        assert [
            f"{job} {' '.join(used)} {precision}" for job, used, precision in self.runs(devices, level, requested, every)
        ] == expected

    def test_first_device_trains_alone_and_the_others_together(self):
        jobs = plan(["CPU:0", "GPU:0", "GPU:1", "GPU:2"], Level.FULL, ("one_device",))
        sizes = [[job.id.removeprefix("one_device ") for job in group] for group in groups(jobs)]
        assert sizes[:3] == [["GPU:0 float32"], ["GPU:1 float32", "GPU:2 float32"], ["CPU:0 float32"]]
        assert sorted(name for group in sizes for name in group) == sorted(job.id.removeprefix("one_device ") for job in jobs)

    def test_skipped_jobs_give_a_reason(self):
        (job,) = plan(["CPU:0"], 1, ("tpu",))
        assert job.skip == "no TPU is connected"
        (job,) = plan(["CPU:0"], 1, ("data_parallel",))
        assert job.skip == "not a strategy of tf.distribute; it is for Keras on JAX (--backend jax)"


def test_gpu_with_too_little_free_memory_is_skipped_with_a_reason():
    fit, unfit = usable(["CPU:0", "GPU:0", "GPU:1"], {"0": 100 << 20, "1": 100 << 30})
    assert fit == ["CPU:0", "GPU:1"]
    assert unfit == {"GPU:0": "only 0.1 GiB of its memory is free; the smoke job needs 1.5 GiB"}


class Framework:
    """A fake of a framework's file, with the attributes that the plan uses."""

    TITLE, COMPILED = "PyTorch", False

    @staticmethod
    def no_data_parallel(keras):
        return "Keras can't"


class TestOtherBackend:
    """The jobs of a child of JAX or PyTorch."""

    @staticmethod
    def runs(usable, requested=(), logical=0, full=False):
        task = BackendTask("torch", "KERAS_BACKEND", True, 2 if full else 1, tuple(requested), logical)
        jobs = child_backend.plan_of(Framework, None, list(usable), task) + child_backend.not_trained(
            Framework, list(usable), task
        )
        return [(job.strategy, job.devices, job.skip) for job in jobs]

    def test_each_accelerator_trains_alone_and_data_parallel_is_skipped(self):
        assert self.runs(["GPU:0", "GPU:1", "CPU:0"]) == [
            ("one_device", ("GPU:0",), None),
            ("one_device", ("GPU:1",), None),
            ("data_parallel", ("GPU:0", "GPU:1"), "Keras can't"),
        ]

    def test_single_device_has_no_skipped_jobs_unless_requested(self):
        assert self.runs(["CPU:0"]) == [("one_device", ("CPU:0",), None)]
        assert self.runs(["CPU:0"], ["data_parallel"]) == [("data_parallel", ("CPU:0",), "Keras can't")]

    def test_full_level_also_trains_the_cpu(self):
        assert [devices for _, devices, _ in self.runs(["GPU:0", "CPU:0"], full=True)] == [("GPU:0",), ("CPU:0",)] * 3

    def test_skipped_jobs_give_a_reason(self):
        ((strategy, _, reason),) = self.runs(["CPU:0"], ["mirrored"])
        assert strategy == "mirrored"
        assert reason == (
            "mirrored is a strategy of tf.distribute; Keras on PyTorch is trained with one_device and data_parallel"
        )
        assert self.runs(["GPU:0"], logical=4)[1:] == [
            ("one_device", (), "PyTorch can't split an accelerator into logical devices")
        ]
        assert self.runs(["CPU:0"], logical=4) == [("one_device", ("CPU:0",), None)]
