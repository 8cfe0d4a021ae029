/* Faults of a child that is loaded as a library or run as a program; CHAOS_FAULT names the fault. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FORGED "{\"end\": \"Done\", \"job\": \"\", \"value\": {}}\n{\"end\": \"Devices\", \"job\": 7, \"value\": []}\n[[[\n"

static char block[1 << 16];

static void hang(void)
{
    for (;;)
        pause();
}

static void flood(int file)
{
    memset(block, 'x', sizeof block);
    for (int written = 0; written < 1 << 14; written++) /* 1 GiB */
        if (write(file, block, sizeof block) < 0)
            return;
}

static void leave_a_child_behind(void)
{
    if (fork())
        return;
    setsid();
    if (fork())
        _exit(0);
    setsid();
    alarm(120); /* nothing of a test runs for ever */
    signal(SIGALRM, SIG_DFL);
    hang();
}

static void fill_the_disk(void)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/filled", getenv("TMPDIR"));
    int file = open(path, O_CREAT | O_WRONLY, 0600);
    while (write(file, block, sizeof block) > 0)
        ;
}

__attribute__((constructor)) static void act(void)
{
    const char *fault = getenv("CHAOS_FAULT");
    if (!fault)
        return;
    if (!strcmp(fault, "raises"))
        _exit(3);
    else if (!strcmp(fault, "hangs"))
        hang();
    else if (!strcmp(fault, "ignores signals")) {
        for (int number = 1; number < 32; number++)
            signal(number, SIG_IGN);
        hang();
    } else if (!strcmp(fault, "segfaults"))
        raise(SIGSEGV);
    else if (!strcmp(fault, "is OOM-killed"))
        for (;;) {
            char *taken = malloc(1 << 20);
            if (taken)
                memset(taken, 1, 1 << 20);
        }
    else if (!strcmp(fault, "floods stdout"))
        flood(1);
    else if (!strcmp(fault, "floods stderr"))
        flood(2);
    else if (!strcmp(fault, "leaves a child"))
        leave_a_child_behind();
    else if (!strcmp(fault, "forges")) {
        for (int file = 1; file < 64; file++)
            if (write(file, FORGED, strlen(FORGED)) < 0)
                continue;
        _exit(0);
    } else if (!strcmp(fault, "closes its pipes")) {
        for (int file = 0; file < 64; file++)
            close(file);
        hang();
    } else if (!strcmp(fault, "fills the disk"))
        fill_the_disk();
}

int main(void)
{
    return 0;
}
