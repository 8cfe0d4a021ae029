import requests, tensorflow as tf
session = requests.Session()
from onnxruntime import InferenceSession as Session
Session("a")
