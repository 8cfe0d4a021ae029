"""What TensorFlow's allocator prints of itself after a failure.

Kind of event -> lines of different versions that must give it, and lines close by that must not.
"""

MEANT = {
    # kind: (line, fields that must be among the event's), ...
    "allocator-dump": (
        ("I bfc_allocator.cc:1039] BFCAllocator dump for GPU_1_bfc", {"allocator": "gpu", "device": "GPU:1"}),
        ("I bfc_allocator.cc:1039] BFCAllocator dump for gpu_host_bfc", {"allocator": "cpu"}),
        ("I tensorflow/core/common_runtime/bfc_allocator.cc:683] Sum Total of in-use chunks: 198.75MiB", {}),
        ("I bfc_allocator.cc:1109] Total bytes in pool: 4096 memory_limit_: 4096 available bytes: 0 curr_region: 8192", {}),
        ("I bfc_allocator.cc:647] Stats:\nLimit:                 15545312871\nInUse:                 14912008192", {}),
        (f"W bfc_allocator.cc:271] ****_*_*{'*' * 92}", {}),
    ),
}
NOT_MEANT = {
    "allocator-dump": (
        f"I train.py:12] {'*' * 100}",
        f"I bfc_allocator.cc:271] {'_' * 100}",
        "I bfc_allocator.cc:266] Creating new BFCAllocator named: GPU_0_bfc",
        "Limit:                 15545312871\nInUse:                 14912008192",
    ),
}
