"""What every command builds on: look at the machine, derive, judge, train, report. Nothing in here imports a command."""
