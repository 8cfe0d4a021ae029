import keras
def build():
  i=keras.Input((3,))
  x=keras.layers.Dense(3)(i)
  o=keras.layers.Softmax()(x)  # finding
  return keras.Model(i,o)
def main():
  keras.mixed_precision.set_global_policy("mixed_bfloat16")
  m=build()
  m.compile("adam","mse")
main()
