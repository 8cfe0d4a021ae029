"""Numbers, precision, speed, and programs that end for a reason of their own.

Cause -> logs; tests/rules/test_logs_texts.py says what each table asks of them.
"""

KERAS_BAR = "117/117 ━━━━━━━━━━━━━━━━━━━━ 4s 21ms/step - accuracy: 0.8123 - loss: 0.5511"
CREATED = (
    "Created device /job:localhost/replica:0/task:0/device:GPU:0 with 9000 MB memory:  -> device: 0, name: Tesla T4,"
    " pci bus id: 0000:00:04.0, compute capability: 7.5"
)

BAR = "\x1b[1m45/500\x1b[0m ━━━━━━━━━━━━━━━━━━━━ 1:00 133ms/step - accuracy: 0.1234 - loss: 2.3012"
TQDM = " 12%|█▏        | 12/100 [00:05<00:40,  2.20it/s]"

NAMED = {
    # a progress bar has no end of its line: what stands behind it came while it ran
    "gpu-memory-exhausted": tuple(
        f"{bar}2025-01-28 23:08:09.9: W external/local_xla/xla/tsl/framework/bfc_allocator.cc:501] Allocator (GPU_0_bfc) ran out of"
        " memory trying to allocate 3.06GiB (rounded to 3286188288)requested by op"
        for bar in (BAR, TQDM)
    ),
    "host-memory-exhausted": (f"{BAR}Killed", f"{TQDM}Killed"),
    "variable-outside-scope": (
        """
        INFO:tensorflow:Using MirroredStrategy with devices ('/job:localhost/replica:0/task:0/device:GPU:0', '/job:localhost/replica:0/task:0/device:GPU:1')
        Traceback (most recent call last):
          File "/home/u/train.py", line 12, in <module>
            model.compile(loss="mse")
          File "/v/lib/python3.10/site-packages/keras/src/engine/training.py", line 3907, in _validate_compile
            raise ValueError(
        ValueError: Variable (<tf.Variable 'dense/kernel:0' shape=(8, 1) dtype=float32>) was not created in the distribution strategy scope of (<tensorflow.python.distribute.mirrored_strategy.MirroredStrategy object at 0x7f0>). It is most likely because some layers, model, or optimizer was being created outside the distribution strategy scope.
        """,
        "E cuda_driver.cc:271] failed call to cuInit: UNKNOWN ERROR (303)\n"
        "RuntimeError: Mixing different tf.distribute.Strategy objects: <mirrored_strategy.MirroredStrategy> is not <b>",
    ),
    "loss-not-finite": (
        "Warning: NaN or Inf found in input tensor.",
        "{'loss': 0.0, 'grad_norm': nan, 'learning_rate': 1e-05, 'epoch': 0.02}",
        "Epoch 3/10\n469/469 [==============================] - 2s 4ms/step - loss: nan - accuracy: 0.0987",
        "{'loss': nan, 'grad_norm': nan, 'learning_rate': 5e-05, 'epoch': 0.33}",
        "step 1200 | train_loss=inf | lr 3e-4",
        'tensorflow.python.framework.errors_impl.InvalidArgumentError: Detected Infinity or NaN in output 0 of graph op "Log" (# outputs: 1). : Tensor had NaN values',
        "ERROR:tensorflow:Model diverged with loss = NaN.\ntensorflow.python.training.basic_session_run_hooks.NanLossDuringTrainingError: NaN loss during training.",
        "Batch 12: Invalid loss, terminating training",
        """
        Epoch 1/5
        12/500 ━━━━━━━━━━━━━━━━━━━━ 10s 21ms/step - accuracy: 0.0 - loss: nan
        """,
        "[2024-01-01 00:00:00] iter 300 loss NaN ppl inf",
        "FloatingPointError: Loss became infinite or NaN at iteration=12!",
        "{'train_loss': inf, 'epoch': 1}",
    ),
    "precision-unsupported": (
        "ValueError: Your setup doesn't support bf16/gpu. You need torch>=1.10, using Ampere GPU with cuda>=11.0",
        "RuntimeError: \"LayerNormKernelImpl\" not implemented for 'Half'",
    ),
    "training-failed": (
        """
        E tensorflow/stream_executor/cuda/cuda_event.cc:29] Error polling for event status: failed to query event: CUDA_ERROR_LAUNCH_FAILED: unspecified launch failure
        E tensorflow/stream_executor/dnn.cc:613] CUDNN_STATUS_INTERNAL_ERROR in tensorflow/stream_executor/cuda/cuda_dnn.cc(1867): cudnnRNNForwardTraining( cudnn.handle(), rnn_desc.handle()
        """,
        "AttributeError: module 'tensorflow' has no attribute 'ConfigProto'",
        "F device_event_mgr.cc:223] Unexpected Event status: 1\nE cuda_event.cc:30] Error polling for event status: failed to query event: CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access was encountered",
    ),
    "training-crashed": (
        "train.sh: line 12:  4711 Segmentation fault      (core dumped) python train.py",
        "Fatal Python error: Segmentation fault\nstep 12, loss: 0.31",
    ),
}

WARNED = {
    "loss-not-falling": (
        # a loss that stays where it is: in words, and as the numbers of a guess
        "### Q3: 训练时 loss 不下降\n1. 忘记 zero_grad()",
        "\n".join(f"Epoch {epoch}/9\n32/32 [====] - 0s 2ms/step - loss: 0.6931 - accuracy: 0.5000" for epoch in (1, 2, 3)),
    ),
    "precision-unsupported": (
        "WARNING:tensorflow:Mixed precision compatibility check (mixed_float16): WARNING\nYour GPU may run slowly with dtype policy mixed_float16 because it does not have compute capability of at least 7.0.",
    ),
    "input-pipeline-bound": (
        "Your program is HIGHLY input-bound because 78.3% of the total step time sampled is waiting for input.",
        """
        WARNING:tensorflow:Your input ran out of data
        Profiler: Your program is HIGHLY input-bound because 97.0% of the total step time
        """,
        "GPU利用率低：数据加载是瓶颈",
    ),
    "cpu-quota-too-low": (
        "UserWarning: This DataLoader will create 16 worker processes in total. Our suggested max number of worker in current system is 2, which is smaller than what this DataLoader is going to create.",
    ),
    "cpu-fallback": (
        "UnimplementedError:  The Conv2D op currently only supports the NHWC tensor format on the CPU. The op was given the format: NCHW",
    ),
    "kernel-cache-unwritable": ("W0000 Failed to create CUDA cache directory /root/.nv/ComputeCache: Read-only file system",),
    "training-failed": (
        # what programs do to themselves
        "NVRM: Xid (PCI:0000:65:00): 31, pid=1443, name=python, Ch 00000008, intr 00000000. MMU Fault: ENGINE GRAPHICS",
        "NVRM: Xid (PCI:0000:65:00): 43, pid=1443, name=python, Ch 00000010\nNVRM: Xid (PCI:0000:65:00): 45, pid=1443, name=python",
        "[ 10.5] NVRM: Xid (PCI:0000:65:00): 13, pid=1443, Graphics SM Warp Exception on (GPC 0, TPC 0, SM 0): Out Of Range Address",
    ),
}

NO_ERROR = (
    "W tensorflow/core/framework/local_rendezvous.cc:404] Local rendezvous is aborting with status: OUT_OF_RANGE: End of sequence",
    "Gradient overflow. Skipping step\nLoss scaler reducing loss scale to 32768.0",
    "Warning: NaN or Inf found in input tensor.\nstep 12 loss 0.9",
    f"{CREATED}\n{KERAS_BAR}\nW local_rendezvous.cc:404] Local rendezvous is aborting with status: OUT_OF_RANGE: End of sequence",
    "Epoch 1/2 - info: no nan, no inf found - loss: 0.69",
    # it leaves the guess behind
    "\n".join(f"32/32 [====] - 0s 2ms/step - loss: {loss} - accuracy: 0.5000" for loss in (0.6931, 0.6930, 0.6931, 0.5512)),
    "banana loss financing information: 3",
    "2024-01-01 INFO saved checkpoint; 0 errors, 0 failures",
    """
        2024 INFO: retrying request, attempt 2 of 5
        117/117 ━━━━━━━━━━━━━━━━━━━━ 4s 21ms/step - accuracy: 0.8123 - loss: 0.5511
        """,
    """
        W tensorflow/core/data/root_dataset.cc:350] Optimization loop failed: CANCELLED: Operation was cancelled
        117/117 ━━━━━━━━━━━━━━━━━━━━ 4s 21ms/step - accuracy: 0.8123 - loss: 0.5511
        """,
    """
        W tensorflow/core/common_runtime/forward_type_inference.cc:332] Type inference failed. This indicates an invalid graph that escaped type checking.
        117/117 ━━━━━━━━━━━━━━━━━━━━ 4s 21ms/step - accuracy: 0.8123 - loss: 0.5511
        """,
    """
        E tensorflow/core/grappler/optimizers/meta_optimizer.cc:961] layout failed: INVALID_ARGUMENT: Size of values 0 does not match size of permutation 4 @ fanin shape
        117/117 ━━━━━━━━━━━━━━━━━━━━ 4s 21ms/step - accuracy: 0.8123 - loss: 0.5511
        """,
    "I tensorflow/core/common_runtime/executor.cc:1197] [/device:CPU:0] (DEBUG INFO) Executor start aborting (this does not indicate an error and you can ignore this message): INVALID_ARGUMENT: You must feed a value for placeholder tensor",
    "W tensorflow/core/kernels/data/cache_dataset_ops.cc:854] The calling iterator did not fully read the dataset being cached.",
    """
        Using device: cpu
        step 10 loss 2.1
        """,
)
