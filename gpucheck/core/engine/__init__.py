"""How a run works: load the plugins, observe with probes, judge with rules, and assemble one report."""
