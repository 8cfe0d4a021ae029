import json, sys, types
import tensorflow as tf
def known(plain):
    status = plain["status"]
    return types.SimpleNamespace(
        metadata=types.SimpleNamespace(name=plain["metadata"]["name"]),
        status=types.SimpleNamespace(phase=status["phase"], host_ip=status["hostIP"]),
    )
pods = [known(plain) for plain in json.load(sys.stdin)]
client = types.SimpleNamespace(list_pod_for_all_namespaces=lambda label_selector: types.SimpleNamespace(items=pods))
resolver = tf.distribute.cluster_resolver.KubernetesClusterResolver({"worker": ["job-name=train"]}, override_client=client)
print(json.dumps(resolver.cluster_spec().as_dict()["worker"]))
