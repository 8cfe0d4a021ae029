import keras
keras.mixed_precision.set_global_policy("mixed_float16")
i=keras.Input((3,))
x=keras.layers.Dense(3)(i)
x=keras.layers.Activation("softmax")(x)  # finding
m=keras.models.Model(i,x)
m.compile("adam","mse")
