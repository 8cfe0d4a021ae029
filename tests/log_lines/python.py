"""Python's tracebacks and imports, and the signals that end an interpreter.

Kind of event -> lines of different versions that must give it, and lines close by that must not.
"""

MEANT = {
    # kind: (line, fields that must be among the event's), ...
    "cpu-instructions-missing": (
        (
            "The TensorFlow library was compiled to use AVX instructions, but these aren't available on your machine.",
            {"instructions": "AVX"},
        ),
        ("This version of jaxlib was built using AVX instructions, which your CPU and/or operating system do not support.", {}),
    ),
    "import-failed": (
        (
            "ImportError: DLL load failed while importing _pywrap_tensorflow_internal: The specified module could not be found.",
            {"module": "tensorflow"},
        ),
        ("Failed to load the native TensorFlow runtime.", {"module": "tensorflow"}),
        ("TypeError: Descriptors cannot be created directly.", {"module": "google.protobuf"}),
        (
            "ImportError: cannot import name 'abs' from 'keras.ops' (/usr/lib/python3/dist-packages/keras/ops.py)",
            {"module": "keras.ops"},
        ),
    ),
    "killed": (
        ("Segmentation fault (core dumped)", {"signal": "SIGSEGV"}),
        ("/var/spool/slurmd/job1/slurm_script: line 9: 12345 Killed                  python train.py", {"signal": "SIGKILL"}),
        ("subprocess.CalledProcessError: Command died with <Signals.SIGABRT: 6>.", {"signal": "SIGABRT"}),
        ("worker exited with code 137", {"signal": "SIGKILL"}),
        ("Fatal Python error: Bus error", {"signal": "SIGBUS"}),
    ),
    "module-hidden": (
        ("ModuleNotFoundError: No module named 'tensorflow.keras'; 'tensorflow' is not a package", {"module": "tensorflow"}),
        (
            "ImportError: cannot import name 'DEBUG' from 'logging' (C:\\Users\\me\\proj\\logging.py)",
            {"module": "logging", "file": "C:\\Users\\me\\proj\\logging.py"},
        ),
        (
            "AttributeError: module 'random' has no attribute 'Random' (consider renaming '/home/u/my job/random.py' since it has the"
            " same name as the standard library module named 'random' and the import system gives it precedence)",
            {"module": "random", "file": "/home/u/my job/random.py"},
        ),
    ),
    "own-file": (
        (
            'File "/home/u/proj/tensorflow.py", line 3, in <module>',
            {"module": "tensorflow", "file": "/home/u/proj/tensorflow.py"},
        ),
        ('File "D:\\job\\keras.py", line 1, in <module>', {"module": "keras"}),
    ),
    "module-missing": (
        ("ModuleNotFoundError: No module named 'tensorflow'", {"module": "tensorflow"}),
        ("ImportError: No module named tensorflow.python", {"module": "tensorflow.python"}),
        ("/usr/bin/python3: No module named keras", {"module": "keras"}),
    ),
    "traceback": (
        ("ValueError: bad shape", {"type": "ValueError", "message": "bad shape"}),
        (
            "tensorflow.python.framework.errors_impl.InternalError: Graph execution error:",
            {"type": "tensorflow.python.framework.errors_impl.InternalError"},
        ),
        ("KeyboardInterrupt", {"type": "KeyboardInterrupt"}),
        ("[rank3]: RuntimeError: no", {"type": "RuntimeError"}),
    ),
}

NOT_MEANT = {
    "cpu-instructions-missing": ("Your CPU supports instructions that this TensorFlow binary was not compiled to use: AVX2 FMA",),
    "import-failed": ("import error handling tests passed", "numpy 2.0 imported"),
    "killed": ("Killed 3 stale workers before start", "process exited with code 0", "Aborted the upload, retrying"),
    "module-hidden": (
        "ImportError: cannot import name 'Random' from 'random' (/usr/lib/python3.11/random.py)",
        "ImportError: cannot import name 'helper' from 'utils' (/home/u/proj/utils.py)",
        "ModuleNotFoundError: No module named 'models.net'; 'models' is not a package",
        "AttributeError: partially initialized module 'cv2' has no attribute 'gapi' (most likely due to a circular import)",
    ),
    "own-file": (
        'File "/opt/v/lib/python3.11/site-packages/keras/src/backend/numpy.py", line 3, in <module>',
        'File "/home/u/proj/train.py", line 3, in <module>',
    ),
    "module-missing": ("no module is missing",),
    "traceback": ("raise RuntimeError(err_msg)", "UserWarning: deprecated", "ERROR: Could not find a version", "Error: exit"),
}
