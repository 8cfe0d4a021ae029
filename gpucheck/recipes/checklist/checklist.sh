#!/bin/sh
# A repeatable checklist of a training environment: a baseline, an edge case and a failure case, and when to roll back.
# It writes checklist.md (results), expected.toml (the current versions, GPUs and speeds, unless the file exists) and report.json
# (everything, including flags and environment variables). Keep them with the code. Exit code 1: a result differs from the expected one.
# On a machine without a GPU, set OPTIONS=--allow-cpu.
set -u
OPTIONS=${OPTIONS:-}
wrong=0

run() { # TITLE EXPECTED-EXIT-CODE COMMAND...
    title=$1 expected=$2
    shift 2
    "$@" >/dev/null 2>&1
    code=$?
    [ "$code" -eq "$expected" ] && result=ok || { result="**differs**" wrong=1; }
    printf '| %s | `%s` | %s | %s | %s |\n' "$title" "$*" "$expected" "$code" "$result" >>checklist.md
}

[ -e expected.toml ] || gpucheck snapshot $OPTIONS expected.toml || exit
printf '# Checklist, %s\n\n| case | command | expected exit code | exit code | result |\n| --- | --- | --- | --- | --- |\n' \
    "$(date -u +%Y-%m-%d)" >checklist.md
run "baseline: every device trains" 0 gpucheck $OPTIONS --format json --output report.json
run "edge case: each device divided into two" 0 gpucheck $OPTIONS --logical-devices 2
run "failure case: hidden GPUs are a fault" 1 env CUDA_VISIBLE_DEVICES=-1 gpucheck --quick
run "rollback, if it differs: versions, GPUs, speeds" 0 gpucheck $OPTIONS --expect expected.toml
cat >>checklist.md <<'END'

Roll back the last change of the driver, the image or the packages if a case differs, or if your own training is more than 10 %
slower: `gpucheck compare fit1.json fit2.json` compares two files of `gpucheck.keras.Watch(report="fit2.json")`. If the new result is
intended, change expected.toml in the same commit.
END
exit "$wrong"
