"""Reports: each file renders the report in one format, without reading the machine or judging."""
