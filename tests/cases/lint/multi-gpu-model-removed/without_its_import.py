parallel_model = multi_gpu_model(model, gpus=4)  # finding
parallel_model.fit(x, y)
