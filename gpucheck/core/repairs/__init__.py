"""What findings advise: commands and fixes that several rules use, and variables, which are proved before they are printed."""
