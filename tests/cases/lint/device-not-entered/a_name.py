from tensorflow import device, ones

device("/cpu:0")  # finding
table = ones((1000, 1000))
