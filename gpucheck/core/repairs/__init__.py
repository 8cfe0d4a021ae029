"""The advice in findings: commands and fixes that several rules use, and variables, which are verified before printing."""
