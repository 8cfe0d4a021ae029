/* A libcuda.so.1 that answers from a scenario (scenario.h) what is asked before any computing: initialisation, device count,
 * names, attributes, memory. It honours CUDA_VISIBLE_DEVICES. Signatures follow cuda.h of CUDA 13. */
#define _GNU_SOURCE
#include "scenario.h"

#include <dlfcn.h>

enum { SUCCESS = 0, INVALID_VALUE = 1, NOT_INITIALIZED = 3, NO_DEVICE = 100, INVALID_DEVICE = 101, NOT_FOUND = 500 };

static int initialised;
static int visible[MAX_GPUS]; /* ordinal -> index in the scenario */
static int visible_count;

/* Lost GPUs, those in prohibited mode, and those in MIG mode without an instance are no CUDA devices. */
static int usable(int index)
{
    int emptied = gpu_number(index, "mig_enabled", 0) && !gpu_number(index, "mig_devices", 0);
    return !gpu_number(index, "lost", 0) && gpu_number(index, "compute_mode", 0) != 2 && !emptied;
}

/* The first entry that names no GPU ends the list, as the driver's documentation says. Returns 0 where one is named twice. */
static int choose_visible(void)
{
    const char *wanted = getenv("CUDA_VISIBLE_DEVICES");
    char list[TEXT], *item, *state = NULL;
    visible_count = 0;
    if (!wanted) {
        for (int i = 0; i < gpus_present(); i++)
            if (usable(i))
                visible[visible_count++] = i;
        return 1;
    }
    snprintf(list, sizeof list, "%s", wanted);
    for (item = strtok_r(list, ",", &state); item && visible_count < MAX_GPUS; item = strtok_r(NULL, ",", &state)) {
        int found = -1;
        for (int i = 0; i < gpus_present(); i++) {
            char number[16], uuid[TEXT];
            snprintf(number, sizeof number, "%d", i);
            uuid_of(i, uuid, sizeof uuid);
            if (!strcmp(item, number) || (!strncmp(item, "GPU-", 4) && !strncmp(item, uuid, strlen(item))))
                found = i;
        }
        if (found < 0 || !usable(found))
            break;
        for (int i = 0; i < visible_count; i++)
            if (visible[i] == found)
                return 0;
        visible[visible_count++] = found;
    }
    return 1;
}

static int refusal(const char *function)
{
    int code = deed(setting(function));
    return code ? code : initialised ? SUCCESS : NOT_INITIALIZED;
}

static int device_refusal(const char *function, int device)
{
    int code = refusal(function);
    if (code)
        return code;
    if (device < 0 || device >= visible_count)
        return INVALID_DEVICE;
    return deed(gpu_setting(visible[device], function));
}

int cuInit(unsigned flags)
{
    int code = deed(setting("cuInit"));
    const char *order = getenv("CUDA_DEVICE_ORDER");
    if (code || flags)
        return code ? code : INVALID_VALUE;
    if (order && *order && strcmp(order, "FASTEST_FIRST") && strcmp(order, "PCI_BUS_ID"))
        return INVALID_DEVICE; /* as an H200's driver 580 answers */
    if (!choose_visible())
        return INVALID_DEVICE;
    if (!visible_count)
        return NO_DEVICE;
    initialised = 1;
    return SUCCESS;
}

int cuDriverGetVersion(int *out)
{
    *out = (int)number_of(setting("cuda_version"), 13000);
    return deed(setting("cuDriverGetVersion"));
}

int cuDeviceGetCount(int *out)
{
    int code = refusal(__func__);
    *out = code ? 0 : visible_count;
    return code;
}

int cuDeviceGet(int *out, int ordinal)
{
    int code = device_refusal(__func__, ordinal);
    *out = ordinal;
    return code;
}

int cuDeviceGetName(char *out, int size, int device)
{
    int code = device_refusal(__func__, device);
    if (!code)
        snprintf(out, (size_t)size, "%s", text_of(gpu_setting(visible[device], "name"), "NVIDIA H200"));
    return code;
}

int cuDeviceGetPCIBusId(char *out, int size, int device)
{
    unsigned domain, bus, slot;
    int code = device_refusal(__func__, device);
    if (code)
        return code;
    pci_of(visible[device], &domain, &bus, &slot);
    snprintf(out, (size_t)size, "%04X:%02X:%02X.0", domain, bus, slot);
    return SUCCESS;
}

int cuDeviceGetUuid(unsigned char out[16], int device)
{
    int code = device_refusal(__func__, device);
    memset(out, 0, 16);
    out[15] = (unsigned char)(code ? 0 : visible[device]);
    return code;
}

int cuDeviceGetUuid_v2(unsigned char out[16], int device) { return cuDeviceGetUuid(out, device); }

int cuDeviceTotalMem_v2(size_t *out, int device)
{
    int code = device_refusal(__func__, device), index = code ? 0 : visible[device];
    *out = (size_t)(gpu_number(index, "memory_total_bytes", TOTAL_BYTES) -
                    gpu_number(index, "memory_reserved_bytes", RESERVED_BYTES));
    return code;
}

int cuMemGetInfo_v2(size_t *available, size_t *total)
{
    int index = visible_count ? visible[0] : 0;
    *total = (size_t)(gpu_number(index, "memory_total_bytes", TOTAL_BYTES) -
                      gpu_number(index, "memory_reserved_bytes", RESERVED_BYTES));
    *available = *total - (size_t)gpu_number(index, "memory_used_bytes", 0);
    return refusal(__func__);
}

int cuDeviceComputeCapability(int *major, int *minor, int device)
{
    int code = device_refusal(__func__, device);
    if (!code)
        capability_of(visible[device], major, minor);
    return code;
}

/* CUdevice_attribute of what TensorFlow reads when it describes a device; the values are an H200's. */
static int attribute_of(int index, int attribute)
{
    unsigned domain, bus, slot;
    int major, minor;
    pci_of(index, &domain, &bus, &slot);
    capability_of(index, &major, &minor);
    switch (attribute) {
    case 1: case 2: case 3: return 1024; /* threads of a block, x, y */
    case 4: return 64;
    case 5: return 2147483647; /* blocks of a grid, x */
    case 6: case 7: return 65535;
    case 8: return 49152; /* shared memory of a block */
    case 10: return 32; /* warp */
    case 12: return 65536; /* registers of a block */
    case 13: return (int)(gpu_number(index, "sm_clock_max_mhz", 1980) * 1000);
    case 16: return (int)gpu_number(index, "multiprocessors", 132);
    case 20: return (int)gpu_number(index, "compute_mode", 0);
    case 32: return 1; /* ECC */
    case 33: return (int)bus;
    case 34: return (int)slot;
    case 36: return 3201000; /* memory clock, kHz */
    case 37: return 6016; /* bus width, bits */
    case 38: return 62914560; /* L2 */
    case 39: return 2048; /* threads of a multiprocessor */
    case 41: return 1; /* unified addressing */
    case 50: return (int)domain;
    case 75: return major;
    case 76: return minor;
    case 81: return 233472; /* shared memory of a multiprocessor */
    case 82: return 65536;
    case 97: return 232448; /* shared memory of a block, on request */
    default: return 0;
    }
}

int cuDeviceGetAttribute(int *out, int attribute, int device)
{
    int code = device_refusal(__func__, device);
    if (!code)
        *out = attribute_of(visible[device], attribute);
    return code;
}

static struct { int code; const char *name; } names[] = {
    {0, "CUDA_SUCCESS"}, {1, "CUDA_ERROR_INVALID_VALUE"}, {2, "CUDA_ERROR_OUT_OF_MEMORY"},
    {3, "CUDA_ERROR_NOT_INITIALIZED"}, {34, "CUDA_ERROR_STUB_LIBRARY"}, {46, "CUDA_ERROR_DEVICE_UNAVAILABLE"},
    {100, "CUDA_ERROR_NO_DEVICE"}, {101, "CUDA_ERROR_INVALID_DEVICE"}, {500, "CUDA_ERROR_NOT_FOUND"},
    {802, "CUDA_ERROR_SYSTEM_NOT_READY"}, {803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"},
    {804, "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE"}, {999, "CUDA_ERROR_UNKNOWN"},
};

int cuGetErrorName(int code, const char **out)
{
    *out = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].code == code)
            *out = names[i].name;
    return *out ? SUCCESS : INVALID_VALUE;
}

int cuGetErrorString(int code, const char **out) { return cuGetErrorName(code, out); }

/* Contexts and streams are handles nobody looks into. */
static int something;

int cuDevicePrimaryCtxRetain(void **out, int device) { return *out = &something, device_refusal(__func__, device); }
int cuCtxCreate_v2(void **out, unsigned flags, int device)
{
    return (void)flags, *out = &something, device_refusal(__func__, device);
}
int cuCtxPushCurrent_v2(void *context) { return (void)context, refusal(__func__); }
int cuCtxPopCurrent_v2(void **out) { return *out = &something, refusal(__func__); }
int cuDevicePrimaryCtxRelease_v2(int device) { return device_refusal(__func__, device); }
int cuCtxGetCurrent(void **out) { return *out = &something, SUCCESS; }
int cuCtxGetDevice(int *out) { return *out = 0, SUCCESS; }
int cuDevicePrimaryCtxGetState(int device, unsigned *flags, int *active)
{
    *flags = 0;
    *active = 0;
    return device_refusal(__func__, device);
}
int cuStreamCreate(void **out, unsigned flags) { return (void)flags, *out = &something, SUCCESS; }
int cuStreamCreateWithPriority(void **out, unsigned flags, int priority)
{
    return (void)flags, (void)priority, *out = &something, SUCCESS;
}
int cuEventCreate(void **out, unsigned flags) { return (void)flags, *out = &something, SUCCESS; }
int cuCtxGetStreamPriorityRange(int *least, int *greatest) { return *least = 0, *greatest = -5, SUCCESS; }
int cuDeviceCanAccessPeer(int *out, int device, int peer)
{
    int code = device_refusal(__func__, device);
    if (!code)
        *out = gpu_number(visible[device], "peer_access", 1) && gpu_number(visible[peer], "peer_access", 1);
    return code;
}

static int nothing(void) { return SUCCESS; }

static int find(const char *name, void **out)
{
    char versioned[160];
    Dl_info self;
    const char *what = setting(name);
    void *library;
    if (what && !strcmp(what, "absent"))
        return *out = NULL, NOT_FOUND;
    dladdr((void *)&something, &self);
    library = dlopen(self.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    snprintf(versioned, sizeof versioned, "%s_v2", name);
    *out = library ? dlsym(library, versioned) : NULL;
    if (!*out && library)
        *out = dlsym(library, name);
    if (!*out)
        *out = (void *)nothing;
    return SUCCESS;
}

int cuGetProcAddress(const char *name, void **out, int version, unsigned long long flags)
{
    return (void)version, (void)flags, find(name, out);
}

int cuGetProcAddress_v2(const char *name, void **out, int version, unsigned long long flags, int *status)
{
    int code = find(name, out);
    (void)version, (void)flags;
    if (status)
        *status = code ? 1 : 0;
    return code;
}
