"""How a run works: plugins are found, probes observe, rules judge, findings are folded into one report."""
