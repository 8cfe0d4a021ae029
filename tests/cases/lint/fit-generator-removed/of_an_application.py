from tensorflow.keras.applications import ResNet50

ResNet50(weights=None).fit_generator(flow)  # finding
