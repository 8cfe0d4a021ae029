"""What pip, conda and uv say: nothing for this Python, installed elsewhere, or removed.

Cause -> logs; tests/rules/test_logs_texts.py says what each table asks of them.
"""

NAMED = {
    "tensorflow-not-installed": (
        """
        Using TensorFlow backend.
        File "/usr/lib/python3.6/site-packages/keras/backend/__init__.py", line 83, in <module>
        from .tensorflow_backend import *
        ModuleNotFoundError: No module named 'tensorflow'
        """,
        "Keras runs on top of TensorFlow, CNTK, or Theano.\nUsing TensorFlow backend.\nImportError: No module named 'tensorflow'",
        """
        Traceback (most recent call last):
        File "<string>", line 1, in <module>
        ImportError: No module named tensorflow
        """,
        """
        ModuleNotFoundError: No module named 'tensorflow'
        srun: error: node12: task 0: Exited with exit code 1
        """,
        """
        Traceback (most recent call last):
        File "a.py", line 1
        import tensorflow as tf
        ImportError: No module named 'tensorflow'
        """,
        "/usr/bin/python3: No module named tensorflow",
    ),
    "wrong-environment": (
        """
        Requirement already satisfied: tensorflow in ./venv/lib/python3.10/site-packages (2.15.0)
        $ sudo python3 train.py
        ModuleNotFoundError: No module named 'tensorflow'
        """,
        """
        Successfully installed gast-0.6.0 tensorflow-2.19.0
        In [1]: import tensorflow as tf
        ModuleNotFoundError: No module named 'tensorflow'
        """,
        """
        $ pip show tensorflow
        Name: tensorflow
        Version: 2.16.1
        Location: /home/u/.local/lib/python3.10/site-packages
        $ python3.11 a.py
        ModuleNotFoundError: No module named 'tensorflow'
        """,
        """
        Defaulting to user installation because normal site-packages is not writeable
        Requirement already satisfied: tensorflow in /home/u/.local/lib/python3.8/site-packages (2.13.1)
        Jupyter: ModuleNotFoundError: No module named 'tensorflow'
        """,
    ),
    "tensorflow-gpu-package-removed": (
        """
        ERROR: Could not find a version that satisfies the requirement tensorflow-gpu==2.14.0 (from versions: 2.12.0)
        ERROR: No matching distribution found for tensorflow-gpu==2.14.0
        """,
        """
        Collecting tensorflow-gpu
        error: subprocess-exited-with-error
        The "tensorflow-gpu" package has been removed!
        Please install "tensorflow" instead.
        """,
        """
        Collecting tensorflow-gpu
        Downloading tensorflow-gpu-2.12.0.tar.gz (2.6 kB)
        Preparing metadata (setup.py) ... error
        error: subprocess-exited-with-error
        × python setup.py egg_info did not run successfully.
        │ exit code: 1
        ╰─> [39 lines of output]
        Traceback (most recent call last):
        File "/tmp/pip-install-x/tensorflow-gpu_6f/setup.py", line 37, in <module>
        raise Exception("TensorFlow GPU removed")
        =========================================================
        The "tensorflow-gpu" package has been removed!
        note: This error originates from a subprocess, and is likely not a problem with pip.
        error: metadata-generation-failed
        """,
        "ERROR: No matching distribution found for tensorflow_gpu",
    ),
    "python-unsupported": (
        """
        ERROR: Could not find a version that satisfies the requirement tensorflow-gpu==1.15.0 (from versions: 2.2.0, 2.3.0, 2.11.0)
        ERROR: No matching distribution found for tensorflow-gpu==1.15.0
        """,
        """
        ERROR: Ignored the following versions that require a different python version: 2.18.0 Requires-Python >=3.9; 2.19.0 Requires-Python >=3.9
        ERROR: Could not find a version that satisfies the requirement tensorflow==2.18.0 (from versions: 2.10.0, 2.13.1)
        """,
        """
        × No solution found when resolving dependencies:
        ╰─▶ Because tensorflow==2.17.1 has no wheels with a matching Python ABI tag (e.g., `cp313`), we can conclude that tensorflow==2.17.1 cannot be used.
        """,
        "ERROR: tensorflow-2.15.0-cp311-cp311-manylinux_2_17_x86_64.manylinux2014_x86_64.whl is not a supported wheel on this platform.",
        "ERROR: Package 'tensorflow' requires a different Python: 3.14.0 not in '>=3.9,<3.14'",
        """
        ERROR: Could not find a version that satisfies the requirement tensorflow>=2.0 (from -r requirements.txt (line 3)) (from versions: none)
        ERROR: No matching distribution found for tensorflow>=2.0 (from -r requirements.txt (line 3))
        """,
        """
        ERROR: Could not find a version that satisfies the requirement tensorflow==1.14 (from versions: 2.2.0rc1, 2.2.0, 2.5.0)
        ERROR: No matching distribution found for tensorflow==1.14
        """,
        """
        error: Distribution `tensorflow==2.20.0 @ registry+https://pypi.org/simple` can't be installed because it doesn't have a source distribution or wheel for the current platform
        hint: You're using CPython 3.14 (`cp314`), but `tensorflow` (v2.20.0) only has wheels with the following Python ABI tags: `cp39`, `cp310`
        """,
        "Because no versions of tensorflow match >2.15 and the current Python version (3.13.0) does not satisfy Python>=3.9,<3.12, we can conclude that tensorflow cannot be used.",
        """
        Could not solve for environment specs
        The following packages are incompatible
        └─ tensorflow 2.15**  is installable with the potential options
        └─ python 3.13.*  conflicts with any installable versions previously reported.
        """,
        """
        ERROR: Ignored the following versions that require a different python version: 0.36.0 Requires-Python >=3.6,<3.12
        ERROR: Could not find a version that satisfies the requirement tensorflow<2.11 (from versions: 2.16.1, 2.20.0)
        """,
    ),
}

NO_ERROR = (
    "Successfully installed keras-3.12.0 nvidia-cudnn-cu12-9.3.0.75 tensorflow-2.20.0",
    """
        WARNING: Retrying (Retry(total=0)) after connection broken by 'NewConnectionError('Failed to establish a new connection')': /simple/tensorflow/
        ERROR: Could not find a version that satisfies the requirement tensorflow (from versions: none)
        """,
    "ERROR: Could not find a version that satisfies the requirement leftpad==9 (from versions: none)",
    "WARNING: pip's dependency resolver does not currently take into account all the packages that are installed.",
    """
        conda activate tf
        (tf) me@box:~$ pip install tensorflow
        Collecting tensorflow
        Successfully installed tensorflow-2.16.1
        """,
    "tests/test_import.py::test_missing PASSED - expects ModuleNotFoundError when tensorflow is not there",
)
