"""Reports that try a format's limits: long multi-byte text everywhere, control characters, injections, secrets."""

import msgspec
from reports.builders import eight, found, report, rule, with_garbage

from gpucheck.core.model import Evidence, Fix, Scope, Severity
from gpucheck.core.reports.redaction import redact

LONG = "größer als 显存 🔥 " * 400
CONTROL = "a\x00b\x07c\x1b[31md\x9be\u202ef\ufeffg\ufffeh\r\ni\rj"
INJECTION = "NVIDIA ::error title=x::pwned\n::set-output name=a::b | 'x'=1 <script>alert(1)</script> `code` @somebody #12 %0A"


def many(count, text, severity=Severity.ERROR):
    """A report with a number of root causes, each with this text."""
    return report(
        "h200",
        judgements=[
            found(
                rule(f"cause-of-trouble-{number}", severity, Scope.HARDWARE),
                summary=f"{number}: {text}",
                evidence=(Evidence(fact="gpus", field="gpus[0].name", value=text),),
                fix=(Fix(text=text, command=f"echo {text}"), Fix(text="or not")),
                affects=(text,),
            )
            for number in range(count)
        ],
    )


def long():
    return many(30, LONG)


def dirty():
    return with_garbage(many(2, CONTROL + " replaced below " + INJECTION))


def named(name):
    """Eight GPUs with this name, one of them lost, and a failed training run with the name in its reason."""
    from reports.builders import PASSED, gpu

    failed = {**PASSED, "status": "failed", "stage": "first step", "reason": f"{name} is gone", "devices": [f"GPU:{name}:0"]}
    return eight(
        runs=[PASSED, failed, {**failed, "status": "timed_out"}, {**failed, "status": "skipped"}],
        gpus=[gpu(index, name=name) for index in range(8)],
        judgements=[found(rule("gpu-lost"), summary=f"{name} has fallen off the bus.", affects=(name,))],
    )


HOST, USER, OTHER_USER = "trainbox-17", "alicia", "roberta"
UUID = "8932f937-d72c-4106-c12f-20bd9faed9f6"
SECRETS = {
    "host": HOST,
    "domain": "corp.example.net",
    "peer": "sidekick-04",
    "user": USER,
    "other user": OTHER_USER,
    "uuid": UUID,
    "short uuid": "8932f937",
    "mig": "5c3a0d8e-1111-2222-3333-444455556666",
    "serial": "1320220012345",
    "ip": "10.20.30.40",
    "public ip": "203.0.113.77",
    "ipv6": "fe80::a00:27ff:fe4e:66a1",
    "mac": "02:42:ac:11:00:02",
    "token": "hf_ABCDEFGHIJKLMNOPQRSTUV",
    "password": "hunter2hunter2",
    "key": "AKIAABCDEFGHIJKLMNOP",
    "unknown variable": "open-sesame-9",
    "container": "3f2a9c1b7d5e4f60a1b2c3d4e5f60718293a4b5c6d7e8f901234567890abcdef",
}
LINES = (
    f"Nov 21 03:04:05 {HOST} kernel: NVRM: Xid (PCI:0000:3b:00): 79, pid=12, GPU has fallen off the bus. Serial: 1320220012345",
    f"{HOST}:1234:1250 [0] NCCL INFO NET/Socket : Using [0]eth0:10.20.30.40<0> peer sidekick-04",
    f"hostname: {HOST}.corp.example.net",
    f"GPU 0: NVIDIA H200 (UUID: GPU-{UUID}), MIG 1g (UUID: MIG-{SECRETS['mig']})",
    f"{USER}@{HOST}:~$ python /home/{USER}/train.py --token hf_ABCDEFGHIJKLMNOPQRSTUV",
    f"cannot open /home/{OTHER_USER}/.keras/keras.json, -I/home/{OTHER_USER}/include, C:\\Users\\{OTHER_USER}\\x",
    "export MY_PHRASE=open-sesame-9 DB_PASSWORD=hunter2hunter2 AWS=AKIAABCDEFGHIJKLMNOP",
    f"https://{USER}:hunter2hunter2@203.0.113.77:8443/repo via fe80::a00:27ff:fe4e:66a1 and 02:42:ac:11:00:02",
    f"docker container {SECRETS['container']} on {HOST}",
)


def secretive():
    """A report with secrets in facts, log lines, evidence, summaries, fixes, training runs, gaps and probes' problems."""
    home = f"/home/{USER}"
    runs = [
        {
            "strategy": "one_device",
            "devices": ["GPU:0"],
            "replicas": 1,
            "precision": "float32",
            "status": "failed",
            "reason": f"{LINES[4]} {LINES[6]}",
        }
    ]
    made = report(
        "h200",
        [
            ("limits.home", home),
            ("limits.kernel_cache", f"{home}/.nv/ComputeCache"),
            ("gpus.gpus[0].uuid", f"GPU-{UUID}"),
            ("environment.variables.CUDA_VISIBLE_DEVICES", "GPU-8932f937"),
            ("environment.variables.LD_LIBRARY_PATH", f"/scratch/{USER}/lib:{home}/lib"),
            ("environment.variables.SLURM_JOB_NODELIST", "sidekick-[03-05],trainbox-17"),
            ("environment.variables.TF_CONFIG", '{"cluster": {"worker": ["sidekick-04:2222", "10.20.30.40:2222"]}}'),
            ("interpreter.executable", f"{home}/.venv/bin/python"),
            ("tensorflow.mapped_libraries", {f"{home}/lib/libcudnn.so.9": f"{home}/lib/libcudnn.so.9"}),
            ("log.events", [{"kind": "xid", "line": n, "text": text, "fields": {}} for n, text in enumerate(LINES)]),
            ("training.runs", runs),
            ("driver.problem", f"asked as {OTHER_USER} from 203.0.113.77"),
        ],
        [
            found(
                rule("gpu-lost", scope=Scope.HARDWARE),
                summary=f"GPU-{UUID} on {HOST} is lost; its serial number is 1320220012345.",
                evidence=(
                    *(Evidence(fact="log", field=f"events[{n}].text", value=text) for n, text in enumerate(LINES)),
                    Evidence(fact="environment", field="variables.CUDA_VISIBLE_DEVICES", value="GPU-8932f937"),
                    Evidence(fact="environment", field="variables.MY_OWN", value="open-sesame-9"),
                    Evidence(fact="limits", field="home", value=home),
                ),
                fix=(Fix(text=f"Ask {USER} to reboot {HOST}", command=f"ssh {USER}@{HOST}.corp.example.net sudo reboot"),),
                affects=(f"GPU-{UUID}",),
            )
        ],
    )
    variables = {**made.facts["environment"].variables, "MY_OWN_VARIABLE": "open-sesame-9"}
    facts = {**made.facts, "environment": msgspec.structs.replace(made.facts["environment"], variables=variables)}
    return msgspec.structs.replace(made, facts=facts, unknown_because=(f"training on {HOST}: {home} is full",))


def redacted():
    return redact(secretive(), hosts=[HOST], users=[USER])


def leaks(text):
    """Names of the secrets in a text."""
    return [name for name, secret in SECRETS.items() if secret.lower() in text.lower()]
