"""The generated page docs/setup.md: the answers of `gpucheck setup` for typical machines, as a table. docs/build.py writes it."""

from gpucheck.commands.setup.full_answer import solve
from gpucheck.core.compat import versions
from gpucheck.core.solver import commands
from gpucheck.core.solver.answer import Answer
from gpucheck.core.solver.machine import Gpu, Machine, Python

INTRODUCTION = """\
# What to install

`gpucheck setup` checks this machine (driver, GPUs, system, Pythons; TensorFlow installed or not). It prints the newest TensorFlow
that works here, the commands that install it, why each newer one does not (with the source), and what would change that.

```sh
gpucheck setup                                  # this machine
gpucheck setup --apply ~/tensorflow-env         # create the environment in a new folder, and train in it
gpucheck setup --for "RTX 4090, driver 535, WSL2, Python 3.12"      # another machine
gpucheck setup --tensorflow ">=2.16,<2.20"      # only these releases
gpucheck setup --backend jax                    # Keras on JAX or PyTorch
gpucheck setup --with jax --with torch          # TensorFlow, JAX and PyTorch in one environment
gpucheck setup --format dockerfile              # or json, requirements, pyproject, conda, pixi
```

It also prints how much is downloaded, how to activate and remove the environment, whether an installed TensorFlow already works,
and what to change in the requirements.txt, pyproject.toml, environment.yml, pixi.toml, Pipfile or lock file of the current
folder.

`--for` takes words or `key=value`, a JSON report of gpucheck, or what nvidia-smi prints (a file, or `-` for standard input):

| part | examples |
| --- | --- |
| GPU | `RTX 5090`, `2x A100`, `8.9`, `GH200`, `MI300X`, `Jetson Orin`, `TPU v5e`, `no GPU` |
| driver, Python | `driver 535`, `driver=470.57`, `Python 3.12` |
| system | `Ubuntu 22.04`, `RHEL 8`, `glibc 2.28`, `Alpine`, `WSL2`, `Windows 11`, `MacBook M2`, `aarch64` |

An unknown word is an error. If you don't give a property, a typical value is assumed, and the answer lists it:
`Depends on: glibc (2.17 or newer)`.

The packages of `tensorflow[and-cuda]` contain CUDA and cuDNN, so the machine needs no CUDA toolkit. It does need the NVIDIA
driver, which no package contains.

`--apply` creates a new folder and changes nothing else. It uses uv if it is installed, else venv and pip. It succeeds only
after gpucheck has trained in the environment. After an error, `--timeout` or Ctrl-C, the folder is removed.

uv and pip read your own settings (`~/.config/uv/uv.toml`, `pip.conf`) and variables (`UV_*`, `PIP_*`, with absolute paths).
They do not read a project's `uv.toml` or `[tool.uv]`: they start in `/`, because another user may have
written those files in a shared folder.

A release with a known defect is listed after those without. TensorFlow 2.21 does not search the folder of libcusolver.so.11. So
with a GPU, 2.20 is the first choice, and 2.21 is listed with the variable that it needs. On the CPU, 2.21 is the first choice.

## Which TensorFlow for which driver, GPU and Python

This table is generated from the tables in `gpucheck/core/compat`. A driver with three digits means the whole branch.

| driver | compute capability | Python | system | answer | newer releases |
| --- | --- | --- | --- | --- | --- |
"""
_LINUX = "Linux x86_64"


def _gpu(driver: str, capability: str, python: str) -> Machine:
    major, minor = map(int, capability.split("."))
    return Machine(driver=driver, gpus=(Gpu(capability=(major, minor)),), pythons=_pythons(python))


def _pythons(version: str) -> tuple[Python, ...]:
    return (Python(version=version, executable=f"python{version}"),)


MACHINES: tuple[tuple[str, Machine], ...] = (
    *(
        (_LINUX, _gpu(*words))
        for words in (
            ("470.57", "8.0", "3.11"),
            ("470.57", "3.7", "3.10"),
            ("470.57", "8.0", "3.13"),
            ("525.60", "6.1", "3.12"),
            ("535.183", "7.5", "3.11"),
            ("535", "8.6", "3.13"),
            ("535.183", "9.0", "3.12"),
            ("580.159", "5.2", "3.12"),
            ("580.159", "7.0", "3.12"),
            ("580.159", "9.0", "3.12"),
            ("580.159", "12.0", "3.12"),
            ("580.159", "12.1", "3.12"),
            ("580.159", "3.5", "3.11"),
            ("590.44", "7.0", "3.12"),
        )
    ),
    (_LINUX, Machine(pythons=_pythons("3.12"))),
    (_LINUX, Machine(pythons=_pythons("3.9"))),
    (_LINUX, Machine(pythons=_pythons("3.14"))),
    ("Linux x86_64, glibc 2.17", Machine(glibc="2.17", pythons=_pythons("3.11"))),
    ("Linux aarch64", Machine(architecture="aarch64", pythons=_pythons("3.12"))),
    (
        "Linux aarch64",
        Machine(architecture="aarch64", driver="580.159", gpus=(Gpu(capability=(9, 0)),), pythons=_pythons("3.12")),
    ),
    ("WSL2", Machine(wsl=True, driver="552.22", gpus=(Gpu(capability=(8, 9)),), pythons=_pythons("3.12"))),
    ("WSL2", Machine(wsl=True, driver="472.50", gpus=(Gpu(capability=(8, 6)),), pythons=_pythons("3.11"))),
    ("Windows", Machine(system="win32", driver="552.22", gpus=(Gpu(capability=(8, 9)),), pythons=_pythons("3.12"))),
    ("macOS arm64", Machine(system="darwin", architecture="arm64", pythons=_pythons("3.12"))),
    ("macOS x86_64", Machine(system="darwin", architecture="x86_64", pythons=_pythons("3.12"))),
    ("TPU v5e", Machine(tpu="v5e", pythons=_pythons("3.12"))),
)


def page() -> str:
    """Return the page as Markdown."""
    return INTRODUCTION + "".join(f"| {' | '.join(_row(system, machine))} |\n" for system, machine in MACHINES)


def _row(system: str, machine: Machine) -> list[str]:
    answer = solve(machine)
    capability = ".".join(map(str, machine.kinds[0][0])) if machine.kinds else "no GPU"
    python = machine.pythons[0].version if machine.pythons else "any"
    return [machine.driver or "–", capability, python, system, _what(answer), _newer(answer)]


def _what(answer: Answer) -> str:
    best = answer.best
    if best is None:
        return "nothing fits: " + "; ".join(answer.advice)
    if best.image is not None:
        return f"TensorFlow {best.tensorflow} in the image `{best.image}`"
    packages = " ".join(package for step, _ in commands.installs(best) for package in step)
    python = versions.minor(best.python.version)
    other = f", with Python {python}" if answer.machine.pythons and best.python not in answer.machine.pythons else ""
    built = f", CUDA {best.cuda}" if best.cuda else " for the CPU" if commands.trains_on_cpu(best) else ""
    return f"**{best.tensorflow}**{built}{other}: `{packages}`"


def _newer(answer: Answer) -> str:
    """Return why the newest release does not fit, and what would change that."""
    if not answer.excluded:
        return "2.21 needs a variable" if any(choice.assignments for choice in answer.choices) else ""
    newest = answer.excluded[0]
    reason = newest.reasons[0]
    text = f"{newest.tensorflow}: [{reason.text}]({reason.source})"
    return "; ".join([text, *(limit.text for limit in answer.limits)])
