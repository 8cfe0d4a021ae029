"""Several workers: TF_CONFIG, the network between them, and versions that differ."""

from gpucheck.logs.events import Kind
from gpucheck.logs.reading.patterns import Pattern, fixed

_TASK = r"(?P<address>/job:\w+/(?:replica:\d+/)?task:\d+)"

PATTERNS = (
    # -- TF_CONFIG --
    Pattern(
        Kind.TF_CONFIG_MALFORMED,
        ("tf_config",),
        r"(?P<message>TF_CONFIG\b[^\n]{0,80}(?i:\binvalid\b|malformed|not valid|could not (?:be )?pars"
        r"|cannot (?:be )?pars|failed to parse|must have|(?:\bit|task (?:type|index)) must be|missing|no \W?task"
        r"|not set correctly)[^\n]{0,80})",
        continuation_lines=1,
    ),
    Pattern(
        Kind.TF_CONFIG_MALFORMED,
        ("tfconfig_cluster_resolver",),
        r"tfconfig_cluster_resolver\.py.{0,1500}?\b(?P<message>(?:json\.(?:decoder\.)?)?(?:JSONDecodeError|ValueError"
        r"|KeyError|TypeError)\b[^\n]{0,160})",
        continuation_lines=30,
    ),
    Pattern(
        Kind.TF_CONFIG_MALFORMED,
        ("valid task_type", "task_type", "task type", "task_id", "task index", "cluster_spec"),
        r"(?P<message>is not a valid task_(?:type|id)\b[^\n]{0,40}? in the cluster_spec"
        r"|[`'\"]?task[_ ]type[`'\"]?[^\n]{0,60}(?:not in|is not (?:a )?(?:valid|in|one of)"
        r"|[Uu]nrecognized)[^\n]{0,60}"
        r"|[Uu]nrecognized task[_ ]type[^\n]{0,60}|[`'\"]?task[_ ](?:id|index)[`'\"]?[^\n]{0,60}(?:exceeds"
        r"|out of range|not (?:in|defined)|is invalid)[^\n]{0,60}"
        r"|No (?:task|job|cluster)[^\n]{0,40}(?:in|defined in) (?:the )?cluster(?:_spec| spec)?)",
        continuation_lines=1,
    ),
    # tf.train.Server, of the cluster that it is given
    Pattern(
        Kind.TF_CONFIG_MALFORMED,
        ("was not defined in job", "was not defined in cluster"),
        r"\bTask \d+ was not defined in job \W?\"\w+\W?\"|\bJob \W?\"\w+\W{1,2} was not defined in cluster\b",
        lambda match: {"message": match[0].replace("\\", ""), "source": "server"},
    ),
    Pattern(
        Kind.CLUSTER_NAMED,
        (
            "grpcchannelcache",
            "job_name",
            "ps_hosts",
            "worker_hosts",
            "clusterspec",
            "tf_config",
            "/job:worker",
            "/job:ps",
            "parameterserver",
            "parameter server",
            "multiworkermirroredstrategy with",
            "collective_all_reduce_strategy",
        ),
        r"GrpcChannelCache for job|\bMultiWorkerMirroredStrategy with \w+ = |\bcollective_all_reduce_strategy\.py\b"
        r"|\bjob_name\b|\b(?:ps|worker)_hosts\b|\bClusterSpec\b|\bTF_CONFIG\b|/job:(?:worker|ps|chief)\b"
        r"|(?i:\bparameter ?server)",
        fixed(),
    ),
    # -- nobody answers --
    # gRPC's words up to 2018, of whatever it is used for
    Pattern(
        Kind.WORKER_UNREACHABLE,
        ("connect failed:", "failed to connect to channel"),
        r"[Cc]onnect failed: \{.{0,600}?\"(?:os_error|description)\":\"(?P<message>[^\"{]+)\"(?!.{0,400}:84[37]\d)"
        r"(?:.{0,300}?\"target_address\":\"(?:ipv[46]:)?(?P<address>[^\"]+)\")?"
        r"|(?P<retrying>Failed to connect to channel, retrying)",
        fixed(needs="cluster"),
        continuation_lines=1,
    ),
    Pattern(Kind.WORKER_UNREACHABLE, ("still waiting for response from worker",), r"waiting for response from worker: " + _TASK),
    Pattern(Kind.WORKER_UNREACHABLE, ("still waiting for response",), r"CreateSession still waiting for response\W*$", fixed()),
    Pattern(Kind.SESSION_STARTED, ("start master session",), r"Start master session \w+", fixed()),
    Pattern(
        Kind.WORKER_UNREACHABLE,
        (
            "unexpectedly disconnected",
            "heartbeat timeout",
            "error connecting to",
            "timed out task",
            "error polled",
            "remote target",
        ),
        _TASK + r"[^\n]{0,60}(?:unexpectedly disconnected|heartbeat timeout)|(?:[Ee]rror connecting to"
        r"|timed out task names)\W.{0,40}?(?P<second>/job:\S+)"
        r"|(?:from remote target|polled from remote)(?!.{0,200}:84[37]\d)\W.{0,20}?(?P<third>/job:\w+/\S*task:\d+)",
        lambda match: {"address": next(group for group in match.groups() if group).strip(":'\",")},
        continuation_lines=3,
    ),
    Pattern(
        Kind.WORKER_UNREACHABLE,
        ("failed to connect to all addresses", "failed to connect to remote host", "connections to all backends failing"),
        r"(?P<message>failed to connect to (?:all addresses|remote host)|[Cc]onnections to all backends failing)"
        r"(?!.{0,200}:84[37]\d)(?:.{0,160}?ipv[46]:(?P<address>[\w.:\[\]-]+:\d+))?",
        continuation_lines=1,
    ),
    Pattern(
        Kind.WORKER_UNREACHABLE,
        ("failed to connect to", "connection to", "socketstartconnect", "connect to"),
        r"(?:client socket has (?:failed to connect|timed out)[^\n]{0,60}? to|Connect to"
        r"|failed to connect to '?(?:ipv[46]:)?|Connection to) "
        r"?\[?(?P<address>(?:[\w.-]+\]?[:<, ]+|[\w.:%-]+<)\d{2,5})\b[^\n]{0,80}?(?i:refused|no route|timed? ?out|unreachable"
        r"|errno: 1\d\d|failed)",
        continuation_lines=1,
    ),
    # an address of the wrong family (errno 97 and 99, 10049 on Windows) is tried first, and then another
    Pattern(
        Kind.WORKER_UNREACHABLE,
        ("client socket has",),
        r"(?P<message>client socket has (?:failed to connect|timed out))(?!.{0,160}(?:errno: 9[79]|error: 10049))"
        r"(?:[^\n]{0,80}? to[: (\[]+(?P<address>[\w.-]+\]?[:, ]+\d{2,5}))?",
        continuation_lines=1,
    ),
    Pattern(
        Kind.WORKER_UNREACHABLE,
        ("gloo",),
        r"(?P<message>unsupported gloo device"
        r"|gloo/transport/tcp/\S+\] (?:Read|Write|Connect)\w* error[^\n]{0,80}|Gloo connectFullMesh failed)",
    ),
    # gRPC's words for a peer that went away
    Pattern(
        Kind.WORKER_UNREACHABLE,
        ("unavailableerror",),
        r"(?P<message>UnavailableError: (?:.{0,80}\}\} )?(?:OS Error|Endpoint read failed|Transport closed|Socket closed"
        r"|Connection reset by peer))(?!.{0,300}(?::84[37]\d|(?i:tpu)))",
        continuation_lines=2,
    ),
    # PyTorch's store, Open MPI's daemons and the ssh that starts them
    Pattern(
        Kind.WORKER_UNREACHABLE,
        ("failed on socketimpl", "complete a tcp connection", "lost communication with", "ssh: connect to host"),
        r"(?P<message>(?:recv|send)\w+ failed on SocketImpl[^\n]{0,120}|unable to complete a TCP connection"
        r"|(?:ORTE|PRTE)[^\n]{0,40}lost communication with[^\n]{0,80}"
        r"|ssh: connect to host (?!\S*(?:github|gitlab|bitbucket|huggingface))\S+ port \d+: [^\n]{0,60})",
    ),
    Pattern(Kind.WORKER_UNREACHABLE, ("jax distributed service",), r"(?P<message>JAX distributed service detected fatal errors)"),
    Pattern(
        Kind.WORKER_UNREACHABLE, ("store has failed",), r"(?P<message>connection to the (?:C10d|etcd|TCP) ?store has failed)"
    ),
    Pattern(
        Kind.WORKER_UNREACHABLE,
        ("coordination service", "barrier timed out", "coordinationserviceerror", "deadline exceeded", "deadline_exceeded"),
        r"(?i:(?P<message>(?:connect|register)\w* (?:to|with) (?:the )?coordination service[^\n]{0,40}(?:fail"
        r"|time|deadline)\w*|barrier timed out[^\n]{0,60}"
        r"|coordination service[^\n]{0,60}(?:unavailable|timed out|failed|unreachable)[^\n]{0,40}"
        r"|DEADLINE_?\W?EXCEEDED[^\n]{0,40}(?:barrier|WaitForAllTasks|coordinat\w+)))",
        continuation_lines=2,
    ),
    Pattern(
        Kind.WORKER_UNREACHABLE,
        ("health of peer", "collective ops is aborted by"),
        r"[Cc]heck health of peer " + _TASK + r" failed|Collective ops is aborted by: (?P<message>[^\n]{0,40}"
        r"(?i:socket closed|connection reset|unavailable|unreachable|deadline))",
        continuation_lines=1,
    ),
    Pattern(
        Kind.WORKER_UNREACHABLE,
        ("unavailable",),
        r"\b(?P<message>(?:UNAVAILABLE|Unavailable)\W{1,3}"  # the latter before TensorFlow 2.9
        r"(?:Socket closed|Connection reset by peer|Endpoint read failed|Transport closed))"
        r"(?!.{0,300}(?::84[37]\d|(?i:tpu)))",
    ),
    Pattern(
        Kind.WORKER_UNREACHABLE,
        ("grpc_message", "details ="),
        r"^(?!.*:84[37]\d).*\b(?:grpc_message|details)\W{1,6}"
        r"(?P<message>Socket closed|Connection reset by peer|failed to connect to all addresses)",
    ),
    Pattern(
        Kind.WORKER_ADDRESS_IN_USE,
        ("could not start grpc server", "address already in use"),
        r"[Cc]ould not start gRPC server|(?i:address already in use)",
        fixed(),
    ),
    # -- what Keras 3 cannot do --
    Pattern(
        Kind.MULTI_WORKER_FIT_UNSUPPORTED,
        ("perreplica",),
        r"unsupported type \(<class '[\w.]*\bPerReplica'>\)|convert a value \(PerReplica:",
        fixed(),
    ),
    # a reduction in the wrong place: fit's own, unless the program trains on one machine and reduces in a step of its own
    Pattern(
        Kind.MULTI_WORKER_FIT_UNSUPPORTED,
        ("trainer.py",),
        r"keras[/\\]src[/\\]backend[/\\]tensorflow[/\\]trainer\.py\W{1,3}line \d+, in \w+\b.{0,3000}?"
        r"\bRuntimeError: [^\n]{0,40}cross-replica context",
        fixed(needs="cluster"),
        continuation_lines=40,
    ),
    Pattern(
        Kind.MULTI_WORKER_FIT_UNSUPPORTED,
        ("multiworkermirroredstrategy",),
        r"MultiWorkerMirroredStrategy[^\n]{0,60}(?:is )?not (?:yet )?supported|not support[^\n]{0,40}MultiWorkerMirroredStrategy",
        fixed(),
        continuation_lines=1,
    ),
)
