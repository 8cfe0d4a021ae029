"""The troubleshooting table: one folder per row, one file per diagnosis. A rule uses only the facts that it receives."""
