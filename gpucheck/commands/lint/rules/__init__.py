"""One file, one rule: ``check(script)`` yields findings; the module's docstring is its page, its name the code."""
