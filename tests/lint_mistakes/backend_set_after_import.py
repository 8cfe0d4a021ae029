"""KERAS_BACKEND set after Keras, or what imports it, was imported."""

PROGRAMS = {
    "update dict": """
        import os
        import keras
        os.environ.update({"KERAS_BACKEND": "jax"})
    """,
    "update kw": """
        import os
        import keras
        os.environ.update(KERAS_BACKEND="jax")
    """,
    "|=": """
        import os
        import keras
        os.environ |= {"KERAS_BACKEND": "jax"}
    """,
    "in main": """
        import os, argparse
        import keras
        def main():
          a = argparse.ArgumentParser().parse_args()
          os.environ["KERAS_BACKEND"] = a.backend
        if __name__ == "__main__":
          main()
    """,
    "from keras.models": """
        import os
        from keras.models import Sequential
        os.environ["KERAS_BACKEND"]="torch"
    """,
    "tf compat alias": """
        import os
        from tensorflow import keras
        os.environ["KERAS_BACKEND"]="jax"
    """,
    "fstring/format": """
        import os as o
        import keras as K
        o.environ["KERAS_BACKEND"] = str("jax")
    """,
    "in class": """
        import os
        import keras
        class T:
          def __init__(self, b="jax"):
            os.environ["KERAS_BACKEND"] = b
        T()
    """,
    "try import": """
        import os
        try:
          import keras
        except ImportError:
          raise
        os.environ["KERAS_BACKEND"] = "jax"
    """,
}
