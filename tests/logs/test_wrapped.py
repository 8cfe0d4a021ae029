"""A log inside something else (a quotation, a list, a table, a mail, a notebook's file) says what it says on its own."""

import html
import json
import textwrap

import pytest

from gpucheck.engine.explain import explain

LOGS = {
    "driver-library-mismatch": """\
Failed to initialize NVML: Driver/library version mismatch
NVML library version: 580.95""",
    "cuda-libraries-missing": """\
2026-11-20 17:28:29.082674: W tensorflow/stream_executor/platform/default/dso_loader.cc:64] Could not load dynamic library \
'libcudart.so.11.0'; dlerror: libcudart.so.11.0: cannot open shared object file: No such file or directory
2026-11-20 17:28:29.090102: W tensorflow/core/common_runtime/gpu/gpu_device.cc:1850] Cannot dlopen some GPU libraries. Please \
make sure the missing libraries mentioned above are installed properly. Skipping registering GPU devices...""",
    "gpu-memory-exhausted": """\
Traceback (most recent call last):
  File "/home/ada/model/train.py", line 81, in <module>
    model.fit(data, epochs=9)
tensorflow.python.framework.errors_impl.ResourceExhaustedError: Graph execution error:
OOM when allocating tensor with shape[512,64,224,224] and type float on /job:localhost/replica:0/task:0/device:GPU:0 by \
allocator GPU_0_bfc [Op:Conv2D]""",
    "shared-memory-too-small": """\
ERROR: Unexpected bus error encountered in worker. This might be caused by insufficient shared memory (shm).""",
    "input-pipeline-bound": """\
Your program is HIGHLY input-bound because 68.8% of the total step time sampled is waiting for input.""",
    "nccl-failed": """\
node-1:257714:257731 [0] NCCL WARN NET/IB : Got completion from peer 10.0.3.4<41237> with status=IBV_WC_RETRY_EXC_ERR(12)
node-1:257714:257731 [0] NCCL INFO bootstrap.cc:328 -> 6
torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:2251, remote process exited or there was a network error""",
    "peer-access-unavailable": """\
 \tGPU0\tGPU1\t
 GPU0\tX\tCNS\t
 GPU1\tCNS\tX\t""",
    "no-nvidia-gpu": """\
No devices were found""",
    "host-memory-exhausted": """\
Epoch 1/20
Killed""",
    "tensorflow-not-installed": """\
Traceback (most recent call last):
  File "train.py", line 1, in <module>
    import tensorflow as tf
ModuleNotFoundError: No module named 'tensorflow'""",
    "tensorflow-import-failed": """\
Traceback (most recent call last):
  File "/opt/env/lib/python3.11/site-packages/tensorflow/python/pywrap_tensorflow.py", line 62, in <module>
    from tensorflow.python._pywrap_tensorflow_internal import *
ImportError: DLL load failed while importing _pywrap_tensorflow_internal: A dynamic link library (DLL) initialization routine failed.""",
    "driver-missing": """\
2026-11-20 17:28:29.082674: E external/local_xla/xla/stream_executor/cuda/cuda_platform.cc:51] failed call to cuInit: INTERNAL: CUDA error: \
Failed call to cuInit: UNKNOWN ERROR (303)
2026-11-20 17:28:29.082700: I external/local_xla/xla/stream_executor/cuda/cuda_diagnostics.cc:145] kernel driver does not appear to be \
running on this host (node7): /proc/driver/nvidia/version does not exist
bash: nvidia-smi: command not found""",
    "loss-not-finite": """\
Epoch 1/20
98/98 [==============================] - 4s 31ms/step - loss: 2.1911 - accuracy: 0.2104
Epoch 2/20
98/98 [==============================] - 3s 30ms/step - loss: nan - accuracy: 0.1000""",
    "tpu-busy": """\
jax.errors.JaxRuntimeError: ABORTED: The TPU is already in use by process with pid 4121. Not attempting to load libtpu.so in \
this process.""",
    "worker-unreachable": """\
2026-11-20 17:29:11.551102: I tensorflow/core/distributed_runtime/master.cc:267] CreateSession still waiting for response from \
worker: /job:worker/replica:0/task:1""",
    "gpu-lost": """\
[81231.551120] NVRM: GPU at PCI:0000:65:00: GPU-5f1c9f2e-1111-2222-3333-444455556666
[81231.551131] NVRM: Xid (PCI:0000:65:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.""",
    "python-unsupported": """\
ERROR: Could not find a version that satisfies the requirement tensorflow==2.10.0 (from versions: 2.16.1, 2.17.0, 2.18.0)
ERROR: No matching distribution found for tensorflow==2.10.0""",
    "cuda-stub-loaded": """\
2026-11-20 17:28:29.082674: E tensorflow/stream_executor/cuda/cuda_driver.cc:271] failed call to cuInit: UNKNOWN ERROR (34)""",
}


def _each(before, after=""):
    return lambda text: "\n".join(f"{before}{line}{after}" for line in text.split("\n"))


def _numbered(form):
    return lambda text: "\n".join(form % number + line for number, line in enumerate(text.split("\n"), 9))


def _within(before, after):
    return lambda text: f"{before}{text}{after}"


def _mail(width, quote=""):
    def wrapped(text):
        lines = [part for line in text.split("\n") for part in textwrap.wrap(line, width, break_long_words=False) or [""]]
        return "\n".join(quote + line for line in lines)

    return wrapped


WRAPPINGS = {
    # Markdown and its kin
    "quotation": _each("> "),
    "tight quotation": _each(">"),
    "quotation of a quotation": _each("> > "),
    "mail's quotations": _each(">> "),
    "initials": _each("AL> "),
    "list": _each("- "),
    "list of stars": _each("* "),
    "list of bullets": _each("\u2022 "),
    "numbered list": _numbered("%d. "),
    "quoted list": _each("> - "),
    "indented": _each("    "),
    "indented by tabs": _each("\t\t"),
    "fence": _within("I get this:\n\n```\n", "\n```\n\nWhat is wrong?"),
    "fence of a language": _within("```shell\n", "\n```"),
    "quoted fence": lambda text: _each("> ")(f"```\n{text}\n```"),
    "code": _each("`", "`"),
    "bold": _each("**", "**"),
    "bold code": _each("- **`", "`**"),
    "Slack": _within("```", "```"),
    "Slack, with a name": _within("Ada Lovelace  10:12 AM\n```", "```"),
    "cell of a table": _each("| node7 | ", " | 3 |"),
    "only cell of a table": _each("|", "|"),
    "cell with code": _each("| fails | `", "` |"),
    # HTML
    "details": _within("<details><summary>Log</summary>\n<pre>\n", "\n</pre>\n</details>"),
    "pre and code": _within("<pre><code>", "</code></pre>"),
    "pre with classes": _within('<pre class="lang-py s-code-block"><code class="hljs">', "</code></pre>"),
    "HTML's entities": lambda text: html.escape(text),
    "HTML": lambda text: "<p>" + html.escape(text).replace("\n", "<br/>\n") + "</p>",
    "list in HTML": _each("<li>", "</li>"),
    # forums and trackers
    "Jira's code": _within("{code:java}\n", "\n{code}"),
    "Jira's code, tight": _within("{code}", "{code}"),
    "Jira's noformat": _within("{noformat}", "{noformat}"),
    "Jira's quotation": _within("{quote}\n", "\n{quote}"),
    "BBCode": _within("[code]", "[/code]"),
    "BBCode's quotation": _within('[QUOTE="ada, post: 41, member: 7"]', "[/QUOTE]"),
    "Discourse's quotation": _within('[quote="ada, post:2, topic:51"]\n', "\n[/quote]"),
    "reStructuredText": lambda text: "::\n\n" + _each("   ")(text),
    # data
    "JSON": lambda text: json.dumps({"body": text}),
    "JSON's list": lambda text: json.dumps(
        {"output_type": "stream", "text": [f"{line}\n" for line in text.split("\n")]}, indent=1
    ),
    "JSON in JSON": lambda text: json.dumps({"event": json.dumps({"log": text})}),
    "representation": lambda text: f"CompletedProcess(args=['train'], returncode=1, stdout=b'', stderr={text.encode()!r})",
    "logfmt": _each('time="2026-11-20T17:28:29Z" level=error msg="', '"'),
    "YAML": lambda text: "stderr: |\n" + _each("  ")(text),
    # numbers, times and names before each line
    "numbers and a bar": _numbered("%4d | "),
    "numbers and an arrow": _numbered("%6d\u2192"),
    "numbers and a colon": _numbered("%d:"),
    "numbers, a colon and a blank": _numbered("%d: "),
    "numbers and a tab": _numbered("%6d\t"),
    "grep": _numbered("train.log:%d:"),
    "grep's neighbours": _numbered("%d-"),
    "GitHub Actions": _each("2026-11-20T17:30:01.1234567Z "),
    "GitHub Actions, of a job": _each("train (3.12)\tRun tests\t2026-11-20T17:30:01.1234567Z "),
    "GitHub Actions, an error": _each("2026-11-20T17:30:01.1234567Z ##[error]"),
    "GitHub's annotation": _each("::error::"),
    "GitLab": _each("2026-11-20T17:30:01.123456Z 01O "),
    "Kubernetes": _each("2026-11-20T17:30:01.123456789Z "),
    "Kubernetes, by stern": _each("train-0 main "),
    "Jenkins": _each("[2026-11-20T17:30:01.123Z] "),
    "Azure": _each("2026-11-20T17:30:01.1234567Z [stderr]"),
    "Airflow": _each("[2026-11-20, 17:30:01 UTC] {subprocess.py:93} INFO - "),
    "Google Cloud": _each("ERROR 2026-11-20T17:30:01.123456Z [resource.labels.taskName: workerpool0-0] "),
    "CloudWatch": _each("2026-11-20T17:30:01.123+01:00\t"),
    "Docker's build": _each("#14 12.41 "),
    "Compose": _each("train-1  | "),
    "syslog": _each("Nov 20 17:30:01 node7 train[4121]: "),
    "loguru": _each("2026-11-20 17:30:01.123 | ERROR    | train:main:41 - "),
    "tagged": _each("[stderr] "),
    "pytest": _each("E   "),
    "clock": _each("(17:30:01) "),
    # a terminal
    "after a prompt": _within("(venv) ada@node7:~/model$ python train.py\n", "\n(venv) ada@node7:~/model$ "),
    "after a root's prompt": _within("[root@node7 model]# python train.py\n", ""),
    "after PowerShell's": _within("PS D:\\model> python train.py\n", ""),
    "after Python's": _within(">>> train()\n", "\n>>> "),
    "after IPython's": _within("In [3]: train()\n", "\n\nIn [4]: "),
    "after fish's": _within("ada@node7 ~/model> python train.py\n", ""),
    "after an arrow": _within("\u279c  model git:(main) \u2717 python train.py\n", ""),
    "comment": _each("# "),
    "comment of code": _each("// "),
    "Windows": lambda text: text.replace("\n", "\r\n") + "\r\n",
    "colours": _each("\x1b[31m", "\x1b[0m"),
    "colours without escape": _each("[31m", "[0m"),
    "hard blanks": lambda text: text.replace("  ", "\u00a0 ").replace(": ", ":\u00a0"),
    "curly quotes": lambda text: text.replace("'", "\u2019").replace('"', "\u201d"),
    "line of a diff": _each("+"),
    # mails
    "mail of 80 columns": _mail(80),
    "mail of 72 columns, quoted": _mail(72, "> "),
    "mail of 66 columns, indented": _mail(66, "    "),
}
# advice in a comment is no alarm, which hearsay says of it; the cause is the same
_SOURCE = {"comment of code"}


def first(text):
    findings = [finding for finding in explain(text.split("\n"), "test").findings if finding.explained_by is None]
    return (findings[0].code, findings[0].severity.value) if findings else ("nothing", "")


@pytest.mark.parametrize("wrapping", WRAPPINGS)
@pytest.mark.parametrize("code", LOGS)
def test_wrapped(code, wrapping):
    plain = first(LOGS[code])
    wrapped = first(WRAPPINGS[wrapping](LOGS[code]))
    assert plain[0] == code
    assert wrapped == plain or (wrapping in _SOURCE and wrapped[0] == code)
