"""The benchmark: what is measured (plan), by whom (measure), what follows from it (figures), and how it is shown (report, plot)."""
