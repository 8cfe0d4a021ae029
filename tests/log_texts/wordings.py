"""Logs, notes and tables that need a second look: the same words beside others mean another cause, or none.

Cause -> logs; tests/rules/test_logs_texts.py says what each table asks of them.
"""

NO_LIBCUDA = """
W tensorflow/stream_executor/platform/default/dso_loader.cc:64] Could not load dynamic library 'libcuda.so.1'; dlerror: libcuda.so.1: cannot open shared object file: No such file or directory
W tensorflow/stream_executor/cuda/cuda_driver.cc:269] failed call to cuInit: UNKNOWN ERROR (303)
"""
NOUVEAU = (
    "41:00.0 VGA compatible controller: NVIDIA Corporation GP106\n\tKernel driver in use: nouveau\n\tKernel modules: nouveau"
)

NAMED = {
    "cudnn-missing": (
        "UnimplementedError: Graph execution error:\nDNN library is not found.\n\t [[{{node model/conv2d/Conv2D}}]]",
    ),
    "cudnn-init-failed": (
        """
        E tensorflow/compiler/xla/stream_executor/cuda/cuda_dnn.cc:437] Could not create cudnn handle: CUDNN_STATUS_INTERNAL_ERROR
        W tensorflow/core/framework/op_kernel.cc:1830] OP_REQUIRES failed at conv_ops_impl.h:770 : UNIMPLEMENTED: DNN library is not found.
        """,
    ),
    "cudnn-version-mismatch": (
        """
        E cuda_dnn.cc:429] Loaded runtime CuDNN library: 8.2.1 but source was compiled with: 8.6.0.  CuDNN library needs to have
        UNIMPLEMENTED: DNN library is not found.
        """,
    ),
    "driver-not-loaded": (NOUVEAU,),
    "driver-missing": (
        f"{NOUVEAU}\n$ nvidia-smi\nbash: nvidia-smi: command not found",
        "Encountered problems while solving:\n  - nothing provides __cuda needed by jaxlib-0.4.23-cuda118py310h_200",
    ),
    "no-nvidia-gpu": (
        f"{NO_LIBCUDA}Num GPUs Available:  0",
        '      "No devices were found\\n",',
    ),
    "driver-library-missing": (
        "slurmd: We were configured with nvml functionality, but that lib wasn't found on the system.\nslurmd: gres/gpu count 0 < 4",
    ),
    "driver-too-old": ("  - nothing provides __cuda >=12.4 needed by pytorch-2.6.0-cuda126_generic",),
    "cuda-libraries-missing": ("  - nothing provides cudatoolkit 11.0.* needed by tensorflow-gpu-2.4.1-h30adc30_0",),
    "python-unsupported": ("  - nothing provides requested tensorflow-base ==2.15.0 cuda120py311h_3",),
    "platform-unsupported": ("pip: `is not a supported wheel on this platform` nach dem Kopieren der Pakete",),
    "keras-version-conflict": ("ModuleNotFoundError: No module named 'keras_applications'",),
    "gpu-too-old": (
        "RuntimeError: CUDA error: no kernel image is available for execution on the device\nunser Tesla P100 geht also nicht",
    ),
    "gpu-too-new": (
        "RTX 5070 Ti: RuntimeError: CUDA error: no kernel image is available for execution on the device",
        # several GPUs are named: PyTorch's own word decides
        "tested on a GTX 1080 and an RTX 5090\nRuntimeError: CUDA error: no kernel image is available for execution",
        # a ptxas that does not know a GPU is older than it
        "ptxas fatal   : Value 'sm_75' is not defined for option 'gpu-name'\nUnknownError: compilation failed",
    ),
    "wsl-misconfigured": (
        """
        it finds the Linux driver that somebody installed inside WSL2
        cuInit: no CUDA-capable device is detected, /dev/nvidia0 does not exist
        """,
        "$ uname -r\n5.15.90.1-microsoft-standard-WSL2\nls: cannot access '/dev/dxg': No such file or directory",
    ),
    "rocm-gpu-unsupported": (
        "Ignoring visible gpu device (device: 0, name: AMD Radeon RX 7800 XT, pci bus id: 0000:0a:00.0) with AMDGPU version : gfx1101. The supported",
    ),
    "tensorflow-cpu-build": (
        "RuntimeError: Unable to initialize backend 'cuda': Backend 'cuda' is not in the list of known backends: ['cpu']",
    ),
    "devices-hidden": (
        "RuntimeError: CUDA error: invalid device ordinal",
        "Cannot assign a device to node 'b': Could not satisfy explicit device specification '/device:GPU:2'",
    ),
    "container-without-gpu": (
        "INFO:    Could not find any nv files on this host!\nRuntimeError: Found no NVIDIA driver on your system.",
    ),
}

NO_ERROR = (
    # another card, or the same one later, has its driver
    f"{NOUVEAU}\n42:00.0 3D controller: NVIDIA Corporation GH100 [H100 PCIe]\n\tKernel driver in use: nvidia\n\tKernel modules: nouveau, nvidia",
    f"{NOUVEAU}\n# after the reboot\n| NVIDIA-SMI 550.90.07    Driver Version: 550.90.07    CUDA Version: 12.4 |",
    # nothing asks for a GPU
    NO_LIBCUDA,
    f"{NO_LIBCUDA}Epoch 1/10\n79/79 [====] - 5s 60ms/step - loss: 0.91",
    # Apptainer, on a machine that has no GPU
    "INFO:    Could not find any nv files on this host!\nhello world",
    # no WSL at all
    "ls: cannot access '/dev/dxg': No such file or directory",
    # an operation without code for GPUs
    "Could not satisfy explicit device specification '/device:GPU:1' because no supported kernel for GPU devices is available.",
    # an extension of something else
    "ImportError: DLL load failed while importing win32api: The specified module could not be found.",
    # a GPU that a text names, and nothing wrong with it
    "Trained on an RTX 4090 and four A100 in two days.",
    "Ignoring visible gpu device (device: 1, name: AMD Radeon Graphics, pci bus id: 0000:14:00.0) with AMDGPU version : gfx1036.",
)
