from keras import layers
from keras.preprocessing import image

batches = image.ImageDataGenerator(rescale=1 / 255).flow_from_directory("images")  # finding
