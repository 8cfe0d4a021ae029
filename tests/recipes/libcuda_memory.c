// A libcuda.so.1 whose devices have memory, in the process' own: FAKE_GPUS of them. FAKE_FLIP=1: bits of GPU 1 change when they are
// read, FAKE_PEER: bits change on the way to another GPU, FAKE_FAIL=cuMemAlloc_v2: that function fails.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static __thread uintptr_t current;
static int set(const char *name, long value) { return getenv(name) && atol(getenv(name)) == value; }
static int fails(const char *name) { return getenv("FAKE_FAIL") && !strcmp(getenv("FAKE_FAIL"), name) ? 719 : 0; }

int cuInit(unsigned flags) { return (void)flags, fails(__func__); }
int cuGetErrorName(int code, const char **out) { return (void)code, *out = "CUDA_ERROR_LAUNCH_FAILED", 0; }
int cuDeviceGetCount(int *out) { return *out = atoi(getenv("FAKE_GPUS")), 0; }
int cuDeviceGet(int *out, int ordinal) { return *out = ordinal, 0; }
int cuDevicePrimaryCtxRetain(void **out, int device) { return *out = (void *)(uintptr_t)(device + 1), 0; }
int cuCtxSetCurrent(void *context) { return current = (uintptr_t)context, 0; }
int cuCtxSynchronize(void) { return fails(__func__); }
int cuMemGetInfo_v2(size_t *available, size_t *total) { return *available = *total = 1, 0; }
int cuMemAlloc_v2(uint64_t *out, size_t bytes) { return *out = (uintptr_t)malloc(bytes), fails(__func__); }
int cuMemsetD32_v2(uint64_t to, unsigned value, size_t count)
{
    for (size_t i = 0; i < count; i++)
        ((unsigned *)(uintptr_t)to)[i] = value;
    return 0;
}
int cuMemcpyDtoD_v2(uint64_t to, uint64_t from, size_t bytes)
{
    memcpy((void *)(uintptr_t)to, (void *)(uintptr_t)from, bytes);
    return fails(__func__);
}
int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t bytes)
{
    memcpy(to, (void *)(uintptr_t)from, bytes);
    if (set("FAKE_FLIP", (long)current - 1))
        ((char *)to)[bytes - 1] ^= 1;
    return 0;
}
int cuMemcpyPeer(uint64_t to, void *there, uint64_t from, void *here, size_t bytes)
{
    memcpy((void *)(uintptr_t)to, (void *)(uintptr_t)from, bytes);
    if (set("FAKE_PEER", (long)(uintptr_t)here - 1))
        ((char *)(uintptr_t)to)[0] ^= 1;
    return (void)there, 0;
}
