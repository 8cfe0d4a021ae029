import types
__version__ = "2.99.0"
class Device:
    name, device_type = "/physical_device:CPU:0", "CPU"
config = types.SimpleNamespace(
    list_physical_devices=lambda kind=None: [Device] if kind in (None, "CPU") else [],
    list_logical_devices=lambda kind=None: [Device], set_visible_devices=lambda *_: None,
    set_logical_device_configuration=lambda *_: None, LogicalDeviceConfiguration=object,
    get_visible_devices=lambda kind: [])
sysconfig = types.SimpleNamespace(get_build_info=lambda: {"is_cuda_build": True, "is_rocm_build": False})
keras = types.SimpleNamespace(__version__="3.0.0")
