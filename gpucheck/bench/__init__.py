"""The benchmark: what is measured (plan), by whom (measure, run), what follows (figures), how it is shown (report, plot)."""
