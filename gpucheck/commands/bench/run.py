"""Run a benchmark; an interrupted one returns the results so far."""

import threading
import time
from collections.abc import Callable

from gpucheck import __version__
from gpucheck.commands.bench.measure import Session
from gpucheck.commands.bench.model import NETWORK, Ask, Result
from gpucheck.commands.bench.plan import Refused
from gpucheck.core.host import Host
from gpucheck.core.model.progress import Progress

TICK_SECONDS = 0.1


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
        if ended == "finished":  # otherwise ``ended`` says enough
            session.notes.append(str(problems[0]))
    return _result(session, ended)


def _result(session: Session, ended: str) -> Result:
    import datetime

    seconds = time.monotonic() - session.started
    started_at = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(seconds=seconds)
    reason = {"interrupted": "interrupted", "timed out": "out of time"}.get(ended, "not reached")
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
