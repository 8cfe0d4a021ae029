"""What pyproject.toml can't say: the package index shows README.md, and there its links must be whole."""

import pathlib
import re

HERE = pathlib.Path(__file__).resolve().parent


def readme() -> str:
    """README.md with each link to a file of the repository made absolute."""
    repository = re.findall(r'^Repository = "(.+)"', HERE.joinpath("pyproject.toml").read_text(encoding="utf-8"), re.MULTILINE)[0]
    text = HERE.joinpath("README.md").read_text(encoding="utf-8")
    text = re.sub(r"(!\[[^\]]*\]\()(?!https?:)", rf"\g<1>{repository}/raw/main/", text)
    return re.sub(r"\]\((?!https?:|#)", f"]({repository}/blob/main/", text)


if __name__ == "__main__":
    from setuptools import setup  # tests import this file, and old releases of setuptools replace distutils with a warning

    setup(long_description=readme(), long_description_content_type="text/markdown")
