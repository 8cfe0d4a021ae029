"""Thresholds that a rule shares with a report or a command, so that no sentence contradicts a finding."""

# TensorFlow's Profiler calls a program highly input-bound from 20 % of the step time on
# (op_stats_to_input_pipeline_analysis.cc in tensorflow/core/profiler/convert), and moderately from 5 % on.
INPUT_WAIT_SHARE_HIGH = 0.2
# TensorFlow's and NVIDIA's published results for one machine are above 0.9 if each step has enough work. Below 0.8, one GPU of
# five is wasted.
SCALING_EFFICIENCY_EXPECTED = 0.8
WORKER_SKEW_TOLERATED = frozenset({"driver", "python"})  # a rolling update changes them; every worker can still train
