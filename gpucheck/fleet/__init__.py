"""The reports of many nodes as one: read in parallel, folded by root cause, configuration and speed."""
