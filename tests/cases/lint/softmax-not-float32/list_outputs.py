import keras
keras.mixed_precision.set_global_policy("mixed_bfloat16")
i=keras.Input((3,))
o=keras.layers.Dense(3,"softmax")(i)  # finding
m=keras.Model(inputs=[i],outputs=[o])
m.compile("adam","mse")
