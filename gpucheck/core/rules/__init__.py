"""The troubleshooting table: one folder per row, one file per diagnosis. A rule touches nothing but the facts it is handed."""
