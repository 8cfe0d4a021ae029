"""Reports: each file renders the one report model into one format. None of them looks at the machine or judges."""
