import os, argparse
import keras
def main():
  a = argparse.ArgumentParser().parse_args()
  os.environ["KERAS_BACKEND"] = a.backend  # finding
if __name__ == "__main__":
  main()
