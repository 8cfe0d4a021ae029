/* What the fake driver does, read once from the file named by FAKE_DRIVER: "key=value" lines, "#" comments.
 *
 * <function>=<deed>            every call of that function: a result code, or hang, segv, abort, bus, kill, exit:N, slow:SECONDS
 * gpu.<n>.<function>=<deed>    the same for one GPU (NVML's index)
 * gpu.<n>.<field>=<value>      a value of one GPU; gpu.*.<field> of all; "unsupported" makes NVML answer 3
 * anything else                a value of the whole machine
 *
 * Later lines win; gpu.<n> wins over gpu.*. Strings take \xHH for bytes that text cannot hold. Without a file: one healthy
 * H200. tests/lab/fake_driver.py lists the fields.
 */
#ifndef SCENARIO_H
#define SCENARIO_H

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define MAX_GPUS 16
#define MAX_ENTRIES 1024
#define TEXT 512

static struct {
    char key[TEXT];
    char value[TEXT];
} entries[MAX_ENTRIES];
static int entry_count = -1;

static void unescape(char *text)
{
    char *to = text;
    unsigned byte;
    for (; *text; text++)
        if (text[0] == '\\' && text[1] == 'x' && sscanf(text + 2, "%2x", &byte) == 1) {
            *to++ = (char)byte;
            text += 3;
        } else
            *to++ = *text;
    *to = 0;
}

static void read_scenario(void)
{
    const char *path = getenv("FAKE_DRIVER");
    FILE *file = path ? fopen(path, "r") : NULL;
    char line[TEXT];
    entry_count = 0;
    while (file && entry_count < MAX_ENTRIES && fgets(line, sizeof line, file)) {
        char *equals = strchr(line, '=');
        line[strcspn(line, "\r\n")] = 0;
        if (line[0] == '#' || !equals)
            continue;
        *equals = 0;
        snprintf(entries[entry_count].key, sizeof entries[0].key, "%s", line);
        snprintf(entries[entry_count].value, TEXT, "%s", equals + 1);
        unescape(entries[entry_count++].value);
    }
    if (file)
        fclose(file);
}

static const char *setting(const char *key)
{
    if (entry_count < 0)
        read_scenario();
    for (int i = entry_count - 1; i >= 0; i--)
        if (!strcmp(entries[i].key, key))
            return entries[i].value;
    return NULL;
}

static const char *gpu_setting(int index, const char *field)
{
    char key[TEXT];
    const char *value;
    snprintf(key, sizeof key, "gpu.%d.%s", index, field);
    value = setting(key);
    if (value)
        return value;
    snprintf(key, sizeof key, "gpu.*.%s", field);
    return setting(key);
}

static const char *text_of(const char *value, const char *standard) { return value ? value : standard; }

static long long number_of(const char *value, long long standard) { return value ? strtoll(value, NULL, 0) : standard; }

static long long gpu_number(int index, const char *field, long long standard)
{
    return number_of(gpu_setting(index, field), standard);
}

static int gpus_present(void)
{
    int count = (int)number_of(setting("gpus"), 1);
    return count > MAX_GPUS ? MAX_GPUS : count;
}

/* The deed's result code; 0: go on as if nothing had been asked. */
static int deed(const char *what)
{
    if (!what)
        return 0;
    if (!strcmp(what, "hang"))
        for (;;)
            pause();
    if (!strcmp(what, "segv")) {
        signal(SIGSEGV, SIG_DFL);
        raise(SIGSEGV);
    }
    if (!strcmp(what, "bus")) {
        signal(SIGBUS, SIG_DFL);
        raise(SIGBUS);
    }
    if (!strcmp(what, "kill"))
        raise(SIGKILL);
    if (!strcmp(what, "abort")) {
        fprintf(stderr, "fake driver: assertion failed, aborting\n");
        abort();
    }
    if (!strncmp(what, "exit:", 5))
        _exit(atoi(what + 5));
    if (!strncmp(what, "slow:", 5)) {
        usleep((useconds_t)(atof(what + 5) * 1e6));
        return 0;
    }
    return atoi(what);
}

static void pci_of(int index, unsigned *domain, unsigned *bus, unsigned *slot)
{
    const char *address = gpu_setting(index, "pci_address");
    *domain = 0;
    *bus = 0;
    *slot = (unsigned)(6 + index);
    if (address)
        sscanf(address, "%x:%x:%x", domain, bus, slot);
}

static void capability_of(int index, int *major, int *minor)
{
    *major = 9;
    *minor = 0;
    sscanf(text_of(gpu_setting(index, "compute_capability"), "9.0"), "%d.%d", major, minor);
}

static void uuid_of(int index, char *text, size_t size)
{
    const char *given = gpu_setting(index, "uuid");
    if (given)
        snprintf(text, size, "%s", given);
    else
        snprintf(text, size, "GPU-00000000-0000-0000-0000-%012d", index);
}

#define TOTAL_BYTES 150754820096LL
#define RESERVED_BYTES 644939776LL

#endif
