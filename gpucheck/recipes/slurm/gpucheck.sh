#!/bin/sh
# The common script of prolog.sh, epilog.sh and health_check.sh. Copy it to /etc/gpucheck/slurm.sh on every node; the settings are below.
# Usage: slurm.sh prolog|epilog|health_check|recover. Prints "refuse" if a job must not start here, else "start". The journal gets one
# line of JSON for each check with a new result (journalctl -t gpucheck). A node that someone else drained or set down is not changed.

# monitor: log and count what would be drained, and drain nothing. enforce: drain.
mode=enforce
# gpucheck drains at most this many nodes within an hour: a number, or a share of the cluster (at least one). Others are only logged.
budget=10%
# Warnings that drain too: '--strict', or '--strict --expect /etc/gpucheck/allowed_warnings.toml' to allow those in the file.
warnings=
# yes: a node that this script drained is resumed after prove_node.sh has passed there. no: an administrator resumes it.
recover=no

prove=/etc/gpucheck/prove_node.sh
state=/var/lib/gpucheck # node_exporter's textfile collector can read this folder
runtime=/run/gpucheck
PATH=/opt/gpucheck/bin:/usr/sbin:/usr/bin:/sbin:/bin
export PATH
umask 022
hook=${1:-}
node=${SLURMD_NODENAME:-$(hostname -s)}
decision=none
action=

# Succeeds if only root can change these files.
only_root_writes() {
  [ -z "$(find -L "$@" -maxdepth 0 ! \( -user 0 ! -perm /022 \) 2>&1)" ]
}

# Prints the path of slurm.conf. slurmd does not pass it to its programs (slurmd -f). A user's process may also be called slurmd, and a
# setuid program has the effective user root: hence -U.
configuration() {
  file=$(for pid in $(pgrep -x -u 0 -U 0 slurmd); do
    only_root_writes "/proc/$pid/exe" || continue
    tr '\0' '\n' <"/proc/$pid/cmdline" | sed -n '/^-f$/{n;p;}; s/^-f\(.\)/\1/p'
    tr '\0' '\n' <"/proc/$pid/environ" | sed -n 's/^SLURM_CONF=//p'
  done 2>/dev/null | head -n 1)
  # Only root may have written it: scontrol loads the plugins that it lists.
  case $file in /*) ;; *) return ;; esac
  file=$(readlink -f "$file")
  if only_root_writes "$file" "${file%/*}/"; then
    printf '%s\n' "$file"
  else
    logger -t gpucheck -p daemon.warning -- "$file is ignored: users other than root can change it or its folder"
  fi
}

# Sets verdict (healthy, fault, unknown), reason and action. Only the line "gpucheck CODE: ..." on standard output is a fault, because a
# broken Python also exits with 1. Only the report's line "PASS: ..." or "WARN ..." is healthy, because a truncated program exits with 0.
check() {
  # shellcheck disable=SC2086 # $warnings is several words
  answer=$({ {
    timeout -k 1 $(($1 + 5)) gpucheck node --gres slurm $warnings --timeout "$1" --drain-reason --report npd=/dev/fd/1 3>&-
    echo "exit $?"
  } 2>&1 >&3 3>&- | sed 's/^/error: /'; } 3>&1)
  reason=$(printf '%s\n' "$answer" | sed -n '/^gpucheck [a-z0-9-]*: /{p;q;}')
  action=$(printf '%s\n' "$reason" | sed -n 's/.*\[\([a-z-]*\)\]$/\1/p')
  if [ "${reason#gpucheck }" != "$reason" ]; then
    verdict=fault
  elif [ "$(printf '%s\n' "$answer" | grep '^exit ')" = 'exit 0' ] && printf '%s\n' "$answer" | grep -qE '^(PASS|WARN)[ :]'; then
    verdict=healthy
  else
    verdict=unknown
    # The line about a wrong option, else the last line.
    reason=$(printf '%s\n' "$answer" | sed -n 's/^error: //p' | sed -n '/^Error: /{p;q;}; $p' | cut -c 1-300)
    reason=${reason:-gpucheck ended with $answer}
    # A missing file of --expect must not hide a fault.
    if [ -n "$warnings" ] && printf '%s\n' "$answer" | grep -qx 'exit 2'; then
      wrong=$reason
      warnings=
      check "$1"
      [ "$verdict" = fault ] || { verdict=unknown && reason=$wrong; }
    fi
  fi
}

# Sets nodes (one line each), and this node's status and because (its reason).
look_up() {
  nodes=$(TZ=UTC0 SLURM_TIME_FORMAT=standard timeout 5 scontrol --oneliner show node) || return 1
  own=$(printf '%s\n' "$nodes" | awk -v name="NodeName=$node" '$1 == name { print; exit }')
  status=${own#* State=}
  status=${status%% *}
  because=
  case $own in *' Reason='*) because=$(printf '%s\n' "${own#* Reason=}" | sed 's/\(\[[^][]*@[0-9T:-]*\]\).*/\1/') ;; esac
  [ -n "$own" ]
}

# Succeeds if this node may be drained, or may stay drained: gpucheck has drained fewer nodes than the budget within an hour. Once this
# node is drained, only those before it are counted. Drains of the same second are ordered by node name.
within_budget() {
  printf '%s\n' "$nodes" | awk -v budget="$budget" -v own="NodeName=$node" -v since="$since" '
    { all++ }
    / State=[A-Z_+*]*DRAIN/ && / Reason=gpucheck [a-z0-9-]+: / && match($0, /@[0-9-]+T[0-9:]+\]/) {
      place = substr($0, RSTART + 1, 19) " " $1
      if (place >= since) recent[place]
      if ($1 == own) mine = place
    }
    END {
      for (place in recent) before += mine == "" || place < mine
      most = budget ~ /%$/ ? int(all * budget / 100) : budget + 0
      if (most < 1 && budget + 0 > 0) most = 1
      exit !(before < most)
    }'
}

# Sets decision: drained; kept (it was already drained or down); monitor or budget (it would have been drained); failed.
drain() {
  decision=failed
  look_up || return
  case $status in
    *DRAIN* | DOWN* | *FAIL*) # but not POWERING_DOWN
      decision=kept
      case $mode$because in # Slurm's own reason gives no cause
        enforce'Prolog error'* | enforce'Epilog error'*) timeout 5 scontrol update nodename="$node" state=drain reason="$reason" ;;
      esac
      return
      ;;
  esac
  decision=monitor
  [ "$mode" = enforce ] || return
  decision=budget
  # The drains have the controller's time, and this node's clock may be wrong. Without the controller's time, use this node's.
  now=$(TZ=UTC0 SLURM_TIME_FORMAT=standard timeout 2 scontrol show config | sed -n 's/^Configuration data as of //p')
  since=$(date -u -d "$now UTC 1 hour ago" +%Y-%m-%dT%H:%M:%S)
  within_budget || return
  decision=failed
  timeout 5 scontrol update nodename="$node" state=drain reason="$reason" || return
  decision=drained
  # Other nodes may drain at the same time; the last ones undo their drain. After one second, no other drain can get this time.
  sleep 1
  look_up || return
  [ "${because% \[*}" = "$reason" ] || return 0 # someone else has just set another reason
  if within_budget; then
    printf '%s\n' "$because" >"$state/drained"
  else
    timeout 5 scontrol update nodename="$node" state=undrain && decision=budget
  fi
}

quoted() {
  printf '%s' "$1" | LC_ALL=C tr '\n[:cntrl:]' ' ' | sed 's/[\\"]/\\&/g'
}

# Logs a line of JSON for each action; otherwise only if it differs from the hook's last line.
note() {
  line="{\"hook\": \"$hook\", \"node\": \"$node\", \"verdict\": \"$verdict\", \"decision\": \"$decision\", \"action\": \"$action\", \"reason\": \"$(quoted "$reason")\""
  case $decision in
    drained | resumed) ;;
    *) [ "$line" != "$(cat "$runtime/$node.$hook" 2>/dev/null)" ] || return ;;
  esac
  printf '%s\n' "$line" >"$runtime/$node.$hook"
  [ "$verdict" = healthy ] && level=info || level=err
  logger -t gpucheck -p "daemon.$level" -- "$line${SLURM_JOB_ID:+, \"job\": \"$SLURM_JOB_ID\"}}"
}

# For Prometheus: sum by (decision) (gpucheck_drain) counts the nodes that were drained, or would have been.
count() {
  { printf '# HELP gpucheck_drain What the last health check decided.\n# TYPE gpucheck_drain gauge\ngpucheck_drain{decision="%s"} 1\n' "$decision" \
    >"$state/slurm.$$" && mv "$state/slurm.$$" "$state/slurm.prom"; } || rm -f "$state/slurm.$$" # a full disk
}

# Succeeds if the node still has exactly the drain that this script set, and no job.
ours() {
  [ -s "$state/drained" ] && look_up && [ "$because" = "$(cat "$state/drained")" ] || return 1
  case $status in *COMPLETING*) return 1 ;; IDLE*DRAIN*) return 0 ;; esac
  return 1
}

# Without its folders, the script still checks and drains, but forgets what it drained, and repeats its lines in the journal.
problem=$(mkdir -p "$state" "$runtime" 2>&1) || logger -t gpucheck -p daemon.err -- "$problem"
[ -n "${SLURM_CONF:-}" ] || SLURM_CONF=$(configuration)
[ -n "$SLURM_CONF" ] || [ "$hook" != health_check ] || {
  SLURM_CONF=$(timeout 5 scontrol show config | sed -n 's/^SLURM_CONF *= *//p')
  [ -r "$SLURM_CONF" ] || SLURM_CONF= # "configless": it is the controller's file
}
if [ -n "$SLURM_CONF" ]; then export SLURM_CONF; else unset SLURM_CONF; fi
started=$runtime/job.${SLURM_JOB_ID:-none}

case $hook in
  prolog)
    check 8
    [ "$verdict" != fault ] || drain
    note
    case $mode$decision in enforcedrained | enforcekept) echo refuse; exit 0 ;; esac
    [ "$verdict" != healthy ] || true >"$started" # not ":", whose failed redirection ends the script
    ;;
  epilog)
    check 8
    # Name the job only if the node was healthy when the job started.
    [ ! -e "$started" ] || reason="$reason${reason:+ (after job $SLURM_JOB_ID of user ${SLURM_JOB_USER:-$SLURM_JOB_UID})}"
    rm -f "$started"
    [ "$verdict" != fault ] || drain
    note
    ;;
  health_check)
    check 30
    if [ "$verdict" = fault ]; then
      drain
    elif [ "$verdict$recover" = healthyyes ] && ours && [ -z "$(find "$state/proof-failed" -mmin -60 2>/dev/null)" ]; then
      decision=proving # longer than Slurm waits for a health check
      setsid flock -n "$runtime/$node.proof" sh "$0" recover </dev/null >/dev/null 2>&1 &
    fi
    note
    count
    ;;
  recover)
    verdict=unknown
    reason=$(timeout -k 10 1800 sh "$prove" slurm 2>&1) && [ -n "$reason" ] && verdict=healthy
    reason=$(printf '%s\n' "$reason" | tail -n 1)
    decision=kept
    if [ "$verdict" != healthy ]; then
      true >"$state/proof-failed"
    elif ours && timeout 5 scontrol update nodename="$node" state=resume; then
      decision=resumed
      rm -f "$state/drained"
    fi
    note
    ;;
esac
echo start
