"""What findings have in common in what they say and advise: sentences, commands, and fixes that several rules give."""
