from tensorflow import contrib, estimator  # finding

classifier = estimator.DNNClassifier([10], columns)  # finding
