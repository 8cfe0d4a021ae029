"""Training itself: that it goes on, that its loss is a number, and what it waits for.

Kind of event -> lines of different versions that must give it, and lines close by that must not.
"""

MEANT = {
    # kind: (line, fields that must be among the event's), ...
    "variable-outside-scope": (
        # Keras 2, as an f-string over several lines, and its first one
        (
            "ValueError: Variable (<tf.Variable 'dense/kernel:0' shape=(8, 1) dtype=float32, numpy=\n"
            "array([[0.1],\n       [0.2]], dtype=float32)>) was not created in the distribution strategy scope of"
            " (<tensorflow.python.distribute.mirrored_strategy.MirroredStrategy object at 0x7f>). It is most likely because"
            " some layers, model, or optimizer was being created outside the distribution strategy scope.",
            {},
        ),
        ("ValueError: Variable (%s) was not created in the distribution strategy scope of (%s).", {}),
        (
            "ValueError: Metric (<keras.src.metrics.Mean>) passed to `model.compile` was created inside a different"
            " distribution strategy scope than the model.",
            {},
        ),
        (
            "ValueError: `colocate_vars_with` must only be passed a variable created in this tf.distribute.Strategy.scope(),"
            " not: <tf.Variable 'w:0' shape=() dtype=float32, numpy=1.0>",
            {},
        ),
        ("RuntimeError: Mixing different tf.distribute.Strategy objects: <a.MirroredStrategy> is not <b.OneDeviceStrategy>", {}),
        ("RuntimeError: Mismatching tf.distribute.Strategy objects: <a> is not <b>.", {}),
        ('RuntimeError: Need to be inside "with strategy.scope()" for <tensorflow.python.distribute.mirrored_strategy>', {}),
        (
            "ValueError: Trying to create optimizer slot variable under the scope for tf.distribute.Strategy (<a>), which is"
            " different from the scope used for the original variable",
            {},
        ),
    ),
    "loss-stuck": (
        ("- Result: training loss never decreases", {"message": "loss never decreases"}),
        ("**Loss stuck at 2.303**: the labels are shuffled", {}),
        ("### Q5: 训练时 loss 一直不下降", {}),
        ("lossが下がらない", {}),
        ("loss가 줄어들지 않는 문제", {}),
        ("loss не падает", {}),
        ("La loss no baja de 3", {}),
        ("Der Loss sinkt nicht", {}),
    ),
    "loss-at-chance": (
        ("42/42 [=====] - 1s 3ms/step - loss: 0.6931 - accuracy: 0.5000", {"classes": "2"}),
        ("42/42 ━━━━ 1s 3ms/step - accuracy: 0.1003 - loss: 2.3027", {"classes": "10"}),
    ),
    "replicas-diverged": (
        (
            "RuntimeError: DDP expects same model across all ranks, but Rank 1 has 7 params, while rank 0 has inconsistent 9 params.",
            {},
        ),
        ("FloatingPointError: Fatal error: gradients are inconsistent between workers. Try --ddp-backend=legacy_ddp.", {}),
        ("AssertionError: parameter checksums not matching across DP replicas", {}),
        ("ERROR: model weights differ between ranks after step 400", {}),
    ),
    "cpu-workers-excessive": (
        (
            "UserWarning: This DataLoader will create 16 worker processes in total. Our suggested max number of worker in current "
            "system is 4, which is smaller than what this DataLoader is going to create.",
            {"asked": "16", "suggested": "4"},
        ),
        ("This DataLoader will create 8 worker processes in total. Suggested max is 2", {"suggested": "2"}),
    ),
    "input-bound": (
        (
            "Your program is HIGHLY input-bound because 55.1% of the total step time sampled is waiting for input.",
            {"percent": "55.1"},
        ),
        ("Your program is MODERATELY input-bound because 12.0 % of the total step time", {"degree": "MODERATELY"}),
    ),
    "kernel-cache-unwritable": (
        ("could not write /home/me/.nv/ComputeCache/index: Permission denied", {"path": "/home/me/.nv/ComputeCache/index"}),
        ("CUDA_CACHE_PATH=/ro/cache is not writable", {}),
    ),
    "loss-not-finite": (
        ("WARNING: non-finite loss, ending training", {}),
        ("100/100 [=====] - 3s 30ms/step - loss: nan - accuracy: 0.1", {"value": "nan"}),
        ("{'loss': inf, 'epoch': 0.5}", {"value": "inf"}),
        ("Step 200: train_loss=nan lr=0.1", {"value": "nan", "step": "200"}),
        ("ERROR:tensorflow:Model diverged with loss = NaN.", {"value": "nan"}),
        ("InvalidArgumentError: gradients/grad_0 : Tensor had NaN values [[CheckNumerics]]", {"value": "nan"}),
        ("Batch 7: Invalid loss, terminating training", {"step": "7"}),
    ),
    "program-started": (
        ("Epoch 1/20", {}),
        ("+ srun python train.py --resume", {}),
        ("$ CUDA_VISIBLE_DEVICES=0 python3 train.py", {}),
        ("INFO:tensorflow:Restoring parameters from /ckpt/model-9", {}),
        ("Resuming from checkpoint /ckpt/9", {}),
    ),
    "training-progress": (
        (
            "182/182 [==============================] - 73s 198ms/step - loss: 0.1955 - val_loss: 0.1574",
            {"step": "182", "loss": "0.1955"},
        ),
        ("53/53 ━━━━━━━━━━━━━━━━━━━━ 81s 1s/step - accuracy: 0.3260 - loss: 2.3886", {"loss": "2.3886"}),
        ("2017-08-18 10:38:58.800137: step 1310, loss = 6.65 (1100.5 examples/sec)", {"step": "1310"}),
        ("{'loss': 0.3412, 'learning_rate': 2e-05, 'epoch': 1.5}", {"loss": "0.3412"}),
        ("Epoch 2/10", {"step": "2"}),
        ("INFO:tensorflow:global_step/sec: 4.5", {}),
        (" 12%|█▏        | 12/100 [00:10<01:20,  1.10it/s]", {"step": "12"}),
        ("8/8 - 1s - 165ms/step - loss: 0.5", {"loss": "0.5"}),
    ),
    "shuffle-buffer-filling": (
        (
            "shuffle_dataset_op.cc:390] Filling up shuffle buffer (this may take a while): 1201 of 10000",
            {"filled": "1201", "size": "10000"},
        ),
        (
            "shuffle_dataset_op.cc:450] ShuffleDatasetV3:12: Filling up shuffle buffer (this may take a while): 3 of 9",
            {"filled": "3", "size": "9"},
        ),
    ),
}

NOT_MEANT = {
    "variable-outside-scope": (
        "INFO:tensorflow:Using MirroredStrategy with devices ('/job:localhost/replica:0/task:0/device:GPU:0',)",
        "NameError: name 'x' was not created in this scope",
        "with strategy.scope(): model = create_model()",
    ),
    "loss-stuck": (
        "Epoch 3: val_loss did not improve from 0.21",
        "# stop if the loss is not decreasing",
        "early stopping as the loss did not decrease",
        "packet loss is not reduced",
        "lossless mode is stuck",
    ),
    "loss-at-chance": (
        "42/42 [=====] - 1s 3ms/step - loss: 0.6931 - accuracy: 0.7300",
        "42/42 [=====] - 1s 3ms/step - loss: 0.4000 - accuracy: 0.5000",
    ),
    "cpu-workers-excessive": ("DataLoader with 4 workers",),
    "input-bound": ("Your program is NOT input-bound because only 0.1% of the total step time",),
    "kernel-cache-unwritable": ("CUDA_CACHE_PATH=/tmp/cache",),
    "loss-not-finite": (
        "loss: 0.001 - info: finance",
        "INFO: loss information follows",
        "val_loss did not improve from inf",
        "grad_norm: nan_to_num applied",
        "Epoch 1: val_loss improved from inf to 0.41, saving model",
    ),
    "replicas-diverged": (
        "checked: no weights differ between replicas",
        "weights match across ranks",
        "AssertionError: shapes differ between encoder and decoder",
    ),
    "program-started": ("Epoch 10/20", "the python process was killed", "saved checkpoint 9", "1/1 [====] - loss: 0.3 python "),
    "training-progress": (
        "Epoch 1/10",
        "INFO:tensorflow:global_step/sec: 0",
        "12/12 - 1s - 165ms/step - loss: nan",
        "  0%|          | 0/100 [00:00<?, ?it/s]",
    ),
    "shuffle-buffer-filling": ("shuffle_dataset_op.cc:480] Shuffle buffer filled.", "dataset.shuffle(buffer_size=1000)"),
}
