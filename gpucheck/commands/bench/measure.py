"""Run a benchmark: one child per split of the CPU into logical devices, and a child that samples NVML."""

import threading
import time
from collections.abc import Callable

from msgspec.structs import replace

from gpucheck import __version__
from gpucheck.commands.bench import figures, plan
from gpucheck.commands.bench.model import NETWORK, Ask, Measurement, Result, Sample
from gpucheck.commands.bench.plan import Refused
from gpucheck.core.child.messages.benchmark import BenchJob, BenchTask, Configuration, DataLoaded, Measured
from gpucheck.core.child.messages.drivers import Sampled
from gpucheck.core.child.messages.frameworks import Device, DevicesListed, KerasImported, TensorFlowImported, TpuConnected
from gpucheck.core.compat.cuda import HIDES_ALL
from gpucheck.core.compat.tpu import CONNECT_SECONDS
from gpucheck.core.host import Child, Host, sampler
from gpucheck.core.model.progress import Progress
from gpucheck.core.probes import cuda, gpus

GENERATED = "the function returned no data: the samples are random, and the accuracy is not measured"

TICK_SECONDS = 0.1


class Session:
    """A running benchmark. ``run`` works in a thread; its results stay available if the benchmark is interrupted."""

    def __init__(self, host: Host, ask: Ask) -> None:
        self.host, self.ask = host, ask
        self.started = time.monotonic()
        self.configurations: list[Configuration] = []
        self.results: dict[str, Measurement] = {}  # by the configuration's id
        self.notes: list[str] = []
        self.versions: dict[str, str] = {}
        self.hardware: tuple[str, ...] = ()
        self.timed_out = False
        self._children = 0
        self._sampler: Child | None = None
        self._indexes: dict[str, int] = {}

    def run(self) -> None:
        """Measure everything that was requested.

        Raises:
            Refused: the request can't be measured.
        """
        tpu = plan.TPU in self.ask.strategies
        first = self._child(tpu)
        devices = self._devices(first)
        cores, no_tpu = self._tpu_cores(first) if tpu else ([], None)
        self.configurations, self.notes = plan.plan(self.ask, [*devices, *cores], no_tpu)
        groups = plan.groups(self.configurations)
        if any(device.startswith("GPU") for device in devices):
            self._start_sampler()
        elif any(cpus > 0 for cpus in groups):
            self._check_no_unused_gpu()
        child = None if no_tpu else first  # a process that failed to connect may not train reliably
        for cpus, items in groups.items():
            left = items
            while left and not self.timed_out:
                if child is None:
                    child = self._child(cpus == plan.ON_TPU)
                    self._devices(child)
                left = self._measure(child, cpus, left)
                child = None

    def measurements(self, reason: str) -> tuple[Measurement, ...]:
        """Return all configurations in the planned order; ``reason`` is why some have no result."""
        rows = [
            self.results.get(configuration.id) or figures.measurement(configuration, None, configuration.reason or reason)
            for configuration in self.configurations
        ]
        return tuple(figures.complete(rows, self.ask.price_per_hour))

    def samples(self) -> tuple[Sample, ...]:
        """Return the NVML samples so far."""
        return figures.timeline(self._sampled(), self.started, self._indexes)

    def _child(self, tpu: bool) -> Child:
        self._children += 1
        return self.host.child(BenchTask(self._children, tpu), limit=self.host.remaining())

    def _tpu_cores(self, child: Child) -> tuple[list[str], str | None]:
        """Return the devices of the TPU, or why there is no connection."""
        seconds = min(CONNECT_SECONDS, self.host.remaining() / 2)
        answer = child.wait_for(TpuConnected, within=seconds)
        if answer is not None and answer.connected:
            self.hardware += (f"{answer.devices} TPU cores",)
            return [f"TPU:{number}" for number in range(answer.devices or 0)], None
        how = child.end().how
        late = f"no response within {seconds:.0f} s" if how == "timed out" else f"the process was {how}"
        return [], f"no TPU is connected: {late if answer is None else (answer.error or '').partition('. ')[0]}"

    def _devices(self, child: Child) -> list[str]:
        """Return the names of TensorFlow's devices, after TensorFlow and Keras are imported."""
        keras = child.wait_for(KerasImported)
        tensorflow, listed = child.message(TensorFlowImported), child.message(DevicesListed)
        if keras is None or tensorflow is None or listed is None:
            if tensorflow is not None and not tensorflow.outcome.imported:
                failed = tensorflow.outcome
                raise Refused(f"TensorFlow can't be imported: {failed.error_type}: {failed.error}"[:400], 3)
            ending = child.end()
            self.timed_out = ending.how == "timed out"
            late = f"timed out (--timeout {self.host.request.timeout_seconds:g})"
            how = late if self.timed_out else f"the process was {ending.how}"
            raise Refused(f"TensorFlow did not start: {how}, stage: {ending.stage}", 3)
        outcome = keras.outcome
        if not outcome.imported:
            raise Refused(f"Keras can't be imported: {outcome.error_type}: {outcome.error}"[:400], 3)
        if outcome.backend != "tensorflow":
            here = f"Keras runs on {outcome.backend} ({outcome.backend_source})"
            raise Refused(f"{here}; gpucheck bench measures TensorFlow", 3)
        interpreter = self.host.interpreter()
        python = None if isinstance(interpreter, str) else interpreter.version
        versions = {"python": python, "tensorflow": tensorflow.outcome.version, "keras": outcome.version}
        self.versions = {name: version for name, version in versions.items() if version}
        self.hardware = self.hardware or tuple(_describe(device, self.host) for device in listed.devices)
        return [device.name for device in listed.devices]

    def _measure(self, child: Child, cpus: int, configurations: list[Configuration]) -> list[Configuration]:
        """Measure in one child; return the remaining configurations if it ended early."""
        ask, steps = self.ask, plan.steps(self.ask, configurations[0].devices)
        limits = (steps, plan.epochs(ask), ask.repeats, ask.target_accuracy)
        child.send(BenchJob(cpus, configurations, ask.data, *limits, ask.profile, ask.model))
        data = child.wait_for(DataLoaded)
        if data is not None and data.problem:
            raise Refused(data.problem, 2)
        for place, configuration in enumerate(configurations):
            raw = child.wait_for(Measured, configuration.id)
            if raw is None:
                return self._record_failure(child, configurations[place:])
            self.results[configuration.id] = self._result(configuration, raw)
            if raw.generated and GENERATED not in self.notes:
                self.notes.append(GENERATED)
        child.end()
        return []

    def _record_failure(self, child: Child, configurations: list[Configuration]) -> list[Configuration]:
        """Record the failed configuration of a child that ended early; return the rest, for another child."""
        ending = child.end()
        if ending.how == "timed out":
            self.timed_out = True
            return configurations
        lost = configurations[0]
        measurement = figures.measurement(lost, None, f"the measuring process was {ending.how}")
        self.results[lost.id] = replace(measurement, status="failed")
        return configurations[1:]

    def _start_sampler(self) -> None:
        try:
            by_address = {gpu.pci_address: gpu.index for gpu in gpus.read(self.host).gpus if gpu.pci_address}
            devices = cuda.read(self.host).devices
            self._sampler = sampler.start(self.host)
        except RuntimeError as problem:
            self.notes.append(f"no utilization, power or clocks: {problem}")
            return
        self._indexes = {
            f"GPU:{device.ordinal}": by_address[device.pci_address] for device in devices if device.pci_address in by_address
        }

    def _result(self, configuration: Configuration, raw: Measured) -> Measurement:
        result = figures.measurement(configuration, raw)
        if result.status != "measured":
            return result
        indexes = {name: self._indexes[name] for name in configuration.devices if name in self._indexes}
        return replace(
            result,
            gpus=figures.load(self._sampled(), raw.began, raw.ended, indexes),
            began_seconds=round(raw.began - self.started, 3),
            ended_seconds=round(raw.ended - self.started, 3),
        )

    def _sampled(self) -> list[Sampled]:
        return sampler.samples(self._sampler) if self._sampler is not None else []

    def _check_no_unused_gpu(self) -> None:
        """Fail if the driver lists a GPU that TensorFlow does not use: the CPU is only measured without a GPU."""
        hidden = self.host.env.get("CUDA_VISIBLE_DEVICES")
        if hidden is not None and hidden.split(",")[0].strip() in HIDES_ALL:
            return
        try:
            gpu_count = len(gpus.read(self.host).gpus)
        except RuntimeError:
            return
        if gpu_count:
            raise Refused(f"the driver lists {gpu_count} GPU(s), TensorFlow lists none; run `gpucheck` to find the cause", 3)


def _describe(device: Device, host: Host) -> str:
    if device.kind == "CPU":
        there, allowed = host.processors()
        return f"{device.name} ({allowed or there or 'unknown'} cores)"
    return f"{device.name} ({device.description or 'unknown model'})"


def bench(
    host: Host,
    ask: Ask,
    tick: Callable[[list[str]], None],
    progress: Progress[Result] | None = None,
) -> Result:
    """Measure; Ctrl-C and the time limit keep the results so far.

    Args:
        host: the machine; its request has the time limit.
        ask: what to measure.
        tick: called every tenth of a second, for a progress line.
        progress: its snapshot becomes the result so far.

    Raises:
        Refused: the request can't be measured.
    """
    session = Session(host, ask)
    problems: list[BaseException] = []
    if progress is not None:
        progress.snapshot = lambda: _result(session, "timed out")

    def work() -> None:
        try:
            session.run()
        except BaseException as problem:
            problems.append(problem)

    thread = threading.Thread(target=work, daemon=True)
    ended = "finished"
    try:
        thread.start()
        while thread.is_alive():
            thread.join(TICK_SECONDS)
            tick([one.id for one in session.configurations if one.id not in session.results and not one.reason])
    except KeyboardInterrupt:
        ended = "interrupted"
    if session.timed_out and ended == "finished":
        ended = "timed out"
    if problems and ended != "interrupted":
        if not (isinstance(problems[0], Refused) and session.results):
            raise problems[0]
        if ended == "finished":  # otherwise ``ended`` is explanation enough
            session.notes.append(str(problems[0]))
    return _result(session, ended)


def _result(session: Session, ended: str) -> Result:
    import datetime

    seconds = time.monotonic() - session.started
    started_at = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(seconds=seconds)
    reason = {"interrupted": "interrupted", "timed out": "timed out"}.get(ended, "not reached")
    return Result(
        tool={"name": "gpucheck", "version": __version__},
        started_at=started_at.isoformat(timespec="seconds"),
        seconds=round(seconds, 3),
        ended=ended,
        versions=session.versions,
        hardware=session.hardware,
        model=session.ask.model or NETWORK,
        ask=session.ask,
        measurements=session.measurements(reason),
        samples=session.samples(),
        notes=tuple(session.notes),
    )
