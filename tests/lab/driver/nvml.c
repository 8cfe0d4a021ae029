/* A libnvidia-ml.so.1 that answers from a scenario (scenario.h). Its standard answers are those recorded on a healthy H200:
 * what that card does not support, this one does not support either. Signatures follow nvml.h of NVML API 13. */
#include "scenario.h"

enum { OK = 0, UNINITIALIZED = 1, INVALID = 2, UNSUPPORTED = 3, NOT_FOUND = 6, TOO_SMALL = 7, LOST = 15, WRONG_VERSION = 25 };

typedef struct {
    int index;
    int mig; /* MIG device number, -1: the GPU itself */
} device_t;

static device_t devices[MAX_GPUS];
static device_t migs[MAX_GPUS][8];
static int initialised;

static int start(const char *function)
{
    int code = deed(setting(function));
    if (!code)
        code = deed(setting("nvmlInit_v2"));
    if (!code)
        initialised++;
    return code;
}

int nvmlInit(void) { return start("nvmlInit"); }
int nvmlInit_v2(void) { return start("nvmlInit"); }
int nvmlInitWithFlags(unsigned flags) { return (void)flags, start("nvmlInitWithFlags"); }

int nvmlShutdown(void)
{
    int code = deed(setting("nvmlShutdown"));
    if (!code)
        initialised = 0;
    return code;
}

const char *nvmlErrorString(int code)
{
    static char text[64];
    snprintf(text, sizeof text, "fake result %d", code);
    return text;
}

/* Whether the machine answers that question at all. */
static int refusal(const char *function)
{
    int code = deed(setting(function));
    return code ? code : initialised ? OK : UNINITIALIZED;
}

static int device_refusal(const device_t *device, const char *function)
{
    int code = refusal(function);
    if (code)
        return code;
    if (!device)
        return INVALID;
    if (gpu_number(device->index, "lost", 0))
        return LOST;
    return deed(gpu_setting(device->index, function));
}

static int put(char *out, unsigned size, const char *value)
{
    if (!strcmp(value, "unsupported"))
        return UNSUPPORTED;
    if (strlen(value) >= size)
        return TOO_SMALL;
    strcpy(out, value);
    return OK;
}

int nvmlSystemGetDriverVersion(char *out, unsigned size)
{
    int code = refusal(__func__);
    return code ? code : put(out, size, text_of(setting("driver_version"), "580.159.04"));
}

int nvmlSystemGetNVMLVersion(char *out, unsigned size)
{
    int code = refusal(__func__);
    return code ? code : put(out, size, text_of(setting("nvml_version"), "13.580.159.04"));
}

int nvmlSystemGetCudaDriverVersion_v2(int *out)
{
    int code = refusal(__func__);
    *out = (int)number_of(setting("cuda_version"), 13000);
    return code;
}

int nvmlSystemGetCudaDriverVersion(int *out) { return nvmlSystemGetCudaDriverVersion_v2(out); }

int nvmlDeviceGetCount_v2(unsigned *out)
{
    int code = refusal(__func__);
    *out = (unsigned)gpus_present();
    return code;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, device_t **out)
{
    int code = refusal(__func__);
    if (code)
        return code;
    if (index >= (unsigned)gpus_present())
        return INVALID;
    devices[index].index = (int)index;
    devices[index].mig = -1;
    *out = &devices[index];
    return device_refusal(*out, __func__);
}

int nvmlDeviceGetHandleByPciBusId_v2(const char *address, device_t **out)
{
    unsigned wanted[3], found[3];
    int code = refusal(__func__);
    if (code)
        return code;
    if (sscanf(address, "%x:%x:%x", wanted, wanted + 1, wanted + 2) != 3)
        return INVALID;
    for (int i = 0; i < gpus_present(); i++) {
        pci_of(i, found, found + 1, found + 2);
        if (!memcmp(wanted, found, sizeof found))
            return nvmlDeviceGetHandleByIndex_v2((unsigned)i, out);
    }
    return NOT_FOUND;
}

int nvmlDeviceGetHandleByUUID(const char *uuid, device_t **out)
{
    char text[TEXT];
    int code = refusal(__func__);
    for (int i = 0; !code && i < gpus_present(); i++) {
        uuid_of(i, text, sizeof text);
        if (!strcmp(uuid, text))
            return nvmlDeviceGetHandleByIndex_v2((unsigned)i, out);
    }
    return code ? code : NOT_FOUND;
}

int nvmlDeviceGetName(device_t *device, char *out, unsigned size)
{
    int code = device_refusal(device, __func__);
    return code ? code : put(out, size, text_of(gpu_setting(device->index, "name"), "NVIDIA H200"));
}

int nvmlDeviceGetUUID(device_t *device, char *out, unsigned size)
{
    char text[TEXT];
    int code = device_refusal(device, __func__);
    if (code)
        return code;
    uuid_of(device->index, text, sizeof text);
    return put(out, size, text);
}

typedef struct {
    char busIdLegacy[16];
    unsigned domain, bus, device, pciDeviceId, pciSubSystemId;
    char busId[32];
} pci_t;

int nvmlDeviceGetPciInfo_v3(device_t *device, pci_t *out)
{
    int code = device_refusal(device, __func__);
    if (code)
        return code;
    pci_of(device->index, &out->domain, &out->bus, &out->device);
    snprintf(out->busIdLegacy, sizeof out->busIdLegacy, "%04X:%02X:%02X.0", out->domain & 0xffff, out->bus & 0xff,
             out->device & 0xff);
    snprintf(out->busId, sizeof out->busId, "%08X:%02X:%02X.0", out->domain, out->bus, out->device);
    out->pciDeviceId = 0x233510de;
    out->pciSubSystemId = 0x18bf10de;
    return OK;
}

int nvmlDeviceGetCudaComputeCapability(device_t *device, int *major, int *minor)
{
    int code = device_refusal(device, __func__);
    if (!code)
        capability_of(device->index, major, minor);
    return code;
}

static void memory_of(int index, unsigned long long *total, unsigned long long *reserved, unsigned long long *used)
{
    *total = (unsigned long long)gpu_number(index, "memory_total_bytes", TOTAL_BYTES);
    *reserved = (unsigned long long)gpu_number(index, "memory_reserved_bytes", RESERVED_BYTES);
    *used = (unsigned long long)gpu_number(index, "memory_used_bytes", 0);
}

int nvmlDeviceGetMemoryInfo(device_t *device, unsigned long long out[3]) /* total, free, used */
{
    unsigned long long total, reserved, used;
    int code = device_refusal(device, __func__);
    if (code)
        return code;
    memory_of(device->index, &total, &reserved, &used);
    out[0] = total;
    out[1] = total - reserved - used;
    out[2] = reserved + used; /* the first version counts the driver's reserve as used */
    return OK;
}

typedef struct {
    unsigned version;
    unsigned long long total, reserved, free, used;
} memory_t;

int nvmlDeviceGetMemoryInfo_v2(device_t *device, memory_t *out)
{
    int code = device_refusal(device, __func__);
    if (code)
        return code;
    memory_of(device->index, &out->total, &out->reserved, &out->used);
    out->free = out->total - out->reserved - out->used;
    return OK;
}

int nvmlDeviceGetMinorNumber(device_t *device, unsigned *out)
{
    int code = device_refusal(device, __func__);
    if (!code)
        *out = (unsigned)gpu_number(device->index, "minor", device->index);
    return code;
}

/* One number of one GPU. */
#define NUMBER(function, type, field, standard)                                  \
    int function(device_t *device, type *out)                                    \
    {                                                                            \
        int code = device_refusal(device, #function);                            \
        const char *value = code ? NULL : gpu_setting(device->index, field);     \
        if (code || !strcmp(text_of(value, standard), "unsupported"))            \
            return code ? code : UNSUPPORTED;                                    \
        *out = (type)strtoull(text_of(value, standard), NULL, 0);                \
        return OK;                                                               \
    }

/* One number of one GPU and one sort; the other sorts answer what an H200 answers, and those after the last are not supported. */
#define SORTED(function, type, wanted, field, ...)                               \
    int function(device_t *device, unsigned sort, type *out)                     \
    {                                                                            \
        static const type standard[] = {__VA_ARGS__};                            \
        int code = device_refusal(device, #function);                            \
        const char *value = code || sort != (wanted) ? NULL : gpu_setting(device->index, field); \
        if (code || sort >= sizeof standard / sizeof *standard || !strcmp(text_of(value, ""), "unsupported")) \
            return code ? code : UNSUPPORTED;                                    \
        *out = (type)number_of(value, standard[sort]);                           \
        return OK;                                                               \
    }

/* Two numbers: now, and after the next reboot. */
#define PAIR(function, field, standard)                                          \
    static NUMBER(function##_, unsigned, field, standard)                        \
    int function(device_t *device, unsigned *now, unsigned *pending)             \
    {                                                                            \
        int code = device_refusal(device, #function);                            \
        if (!code)                                                               \
            code = function##_(device, now);                                     \
        *pending = *now;                                                         \
        return code;                                                             \
    }

NUMBER(nvmlDeviceGetPersistenceMode, unsigned, "persistence_mode", "1")
NUMBER(nvmlDeviceGetComputeMode, unsigned, "compute_mode", "0")
NUMBER(nvmlDeviceGetRetiredPagesPendingStatus, unsigned, "retired_pages_pending", "unsupported")
NUMBER(nvmlDeviceGetPowerUsage, unsigned, "power_milliwatts", "80408")
NUMBER(nvmlDeviceGetPowerManagementLimit, unsigned, "power_limit_milliwatts", "700000")
NUMBER(nvmlDeviceGetEnforcedPowerLimit, unsigned, "power_limit_milliwatts", "700000")
NUMBER(nvmlDeviceGetPowerManagementDefaultLimit, unsigned, "power_default_limit_milliwatts", "700000")

/* From the fourth time that a process asks, what a scenario says of a GPU that has been at work for a while. */
static unsigned long long clock_event_reasons(int index)
{
    static int asked[MAX_GPUS];
    const char *later = gpu_setting(index, "clock_event_reasons_later");
    const char *now = later && ++asked[index] > 3 ? later : gpu_setting(index, "clock_event_reasons");
    return strtoull(text_of(now, "1"), NULL, 0);
}

#define REASONS(function)                                                        \
    int function(device_t *device, unsigned long long *out)                      \
    {                                                                            \
        int code = device_refusal(device, #function);                            \
        const char *value = code ? NULL : gpu_setting(device->index, "clock_event_reasons"); \
        if (code || !strcmp(text_of(value, ""), "unsupported"))                  \
            return code ? code : UNSUPPORTED;                                    \
        *out = clock_event_reasons(device->index);                               \
        return OK;                                                               \
    }

REASONS(nvmlDeviceGetCurrentClocksEventReasons)
REASONS(nvmlDeviceGetCurrentClocksThrottleReasons)
NUMBER(nvmlDeviceGetCurrPcieLinkGeneration, unsigned, "pcie_generation", "5")
NUMBER(nvmlDeviceGetMaxPcieLinkGeneration, unsigned, "pcie_generation_max", "5")
NUMBER(nvmlDeviceGetGpuMaxPcieLinkGeneration, unsigned, "pcie_generation_gpu_max", "5")
NUMBER(nvmlDeviceGetCurrPcieLinkWidth, unsigned, "pcie_width", "16")
NUMBER(nvmlDeviceGetMaxPcieLinkWidth, unsigned, "pcie_width_max", "16")
SORTED(nvmlDeviceGetTemperature, unsigned, 0, "temperature_celsius", 39)
SORTED(nvmlDeviceGetTemperatureThreshold, unsigned, 1, "temperature_slowdown_celsius", 95, 89, 95, 87)
SORTED(nvmlDeviceGetClockInfo, unsigned, 1, "sm_clock_mhz", 345, 345, 3201, 765)
SORTED(nvmlDeviceGetMaxClockInfo, unsigned, 1, "sm_clock_max_mhz", 1980, 1980, 3201, 1545)
PAIR(nvmlDeviceGetEccMode, "ecc_enabled", "1")
PAIR(nvmlDeviceGetMigMode, "mig_enabled", "0")

int nvmlDeviceGetTotalEccErrors(device_t *device, unsigned type, unsigned counter, unsigned long long *out)
{
    static const char *fields[2][2] = {{"ecc_corrected", "ecc_corrected_aggregate"},
                                       {"ecc_uncorrected", "ecc_uncorrected_aggregate"}};
    int code = device_refusal(device, __func__);
    if (code)
        return code;
    if (!gpu_number(device->index, "ecc_enabled", 1))
        return UNSUPPORTED;
    if (type > 1 || counter > 1)
        return INVALID;
    *out = (unsigned long long)gpu_number(device->index, fields[type][counter], 0);
    return OK;
}

int nvmlDeviceGetRemappedRows(device_t *device, unsigned *corrected, unsigned *uncorrected, unsigned *pending,
                              unsigned *failed)
{
    int code = device_refusal(device, __func__);
    if (code)
        return code;
    if (!gpu_number(device->index, "remapped_rows", 1))
        return UNSUPPORTED; /* boards before Ampere retire pages instead */
    *corrected = (unsigned)gpu_number(device->index, "remapped_rows_correctable", 0);
    *uncorrected = (unsigned)gpu_number(device->index, "remapped_rows_uncorrectable", 0);
    *pending = (unsigned)gpu_number(device->index, "remapping_pending", 0);
    *failed = (unsigned)gpu_number(device->index, "remapping_failed", 0);
    return OK;
}

typedef struct {
    unsigned gpu, memory;
} utilization_t;

int nvmlDeviceGetUtilizationRates(device_t *device, utilization_t *out)
{
    int code = device_refusal(device, __func__);
    if (!code) {
        out->gpu = (unsigned)gpu_number(device->index, "utilization_percent", 0);
        out->memory = 0;
    }
    return code;
}

int nvmlDeviceGetMaxMigDeviceCount(device_t *device, unsigned *out)
{
    int code = device_refusal(device, __func__);
    *out = code || !gpu_number(device->index, "mig_enabled", 0) ? 0 : 7;
    return code;
}

int nvmlDeviceGetMigDeviceHandleByIndex(device_t *device, unsigned index, device_t **out)
{
    int code = device_refusal(device, __func__);
    if (code)
        return code;
    if (index >= 7)
        return INVALID;
    if (index >= (unsigned)gpu_number(device->index, "mig_devices", 0))
        return NOT_FOUND;
    *out = &migs[device->index][index];
    (*out)->index = device->index;
    (*out)->mig = (int)index;
    return OK;
}

static int listed(const char *list, unsigned number)
{
    char all[TEXT + 2], one[16];
    snprintf(all, sizeof all, ",%s,", text_of(list, ""));
    snprintf(one, sizeof one, ",%u,", number);
    return strstr(all, one) != NULL;
}

/* "nvlinks" says how many there are, "nvlinks_down" and "nvlinks_unsupported" which of them are: "3,7". */
int nvmlDeviceGetNvLinkState(device_t *device, unsigned link, unsigned *active)
{
    int code = device_refusal(device, __func__);
    if (code)
        return code;
    if (link >= (unsigned)gpu_number(device->index, "nvlinks", 0) ||
        listed(gpu_setting(device->index, "nvlinks_unsupported"), link))
        return UNSUPPORTED;
    *active = !listed(gpu_setting(device->index, "nvlinks_down"), link);
    return OK;
}

typedef struct {
    unsigned version; /* size in its lower bits: 2 ends before the summary, 3 has it */
    unsigned char cluster[16];
    unsigned status, clique;
    unsigned char state;
    unsigned health;
    unsigned char summary;
} fabric_t;

int nvmlDeviceGetGpuFabricInfoV(device_t *device, fabric_t *out)
{
    int code = device_refusal(device, __func__);
    if (!code) {
        if (out->version >> 24 > (unsigned)number_of(setting("fabric_version"), 3))
            return WRONG_VERSION;
        memset(out->cluster, (int)gpu_number(device->index, "fabric_cluster", 0), sizeof out->cluster);
        out->status = (unsigned)gpu_number(device->index, "fabric_status", 0);
        out->state = (unsigned char)gpu_number(device->index, "fabric_state", 0);
        out->clique = (unsigned)gpu_number(device->index, "fabric_clique", 0);
        out->health = (unsigned)gpu_number(device->index, "fabric_health", 0);
        if (out->version >> 24 > 2)
            out->summary = 0;
    }
    return code;
}

typedef struct {
    unsigned field, scope;
    long long time, microseconds;
    unsigned kind, code;
    unsigned long long value;
} field_t;

/* "recovery_action" is field 230; without it, the driver is older than the field. No other field is known. */
int nvmlDeviceGetFieldValues(device_t *device, int count, field_t *out)
{
    int code = device_refusal(device, __func__);
    for (int i = 0; !code && i < count; i++) {
        const char *value = out[i].field == 230 ? gpu_setting(device->index, "recovery_action") : NULL;
        out[i].code = value ? OK : out[i].field == 230 ? INVALID : UNSUPPORTED;
        out[i].kind = 1; /* NVML_VALUE_TYPE_UNSIGNED_INT */
        out[i].value = value ? strtoull(value, NULL, 0) : 0;
    }
    return code;
}

typedef struct {
    unsigned pid;
    unsigned long long bytes;
    unsigned gpu_instance, compute_instance;
} process_t;

/* "processes" lists them: "4242:1073741824,17:unsupported". */
int nvmlDeviceGetComputeRunningProcesses_v3(device_t *device, unsigned *count, process_t *out)
{
    int code = device_refusal(device, __func__);
    const char *rest = code ? NULL : gpu_setting(device->index, "processes");
    unsigned found = 0;
    if (code)
        return code;
    while (rest && *rest) {
        char bytes[32] = "0";
        unsigned pid = 0;
        sscanf(rest, "%u:%31[^,]", &pid, bytes);
        if (out && found < *count) {
            out[found].pid = pid;
            out[found].bytes = strcmp(bytes, "unsupported") ? strtoull(bytes, NULL, 0) : ~0ULL;
            out[found].gpu_instance = out[found].compute_instance = ~0U;
        }
        found++;
        rest = strchr(rest, ',');
        rest = rest ? rest + 1 : NULL;
    }
    code = found && (!out || found > *count) ? TOO_SMALL : OK;
    *count = found;
    return code;
}
