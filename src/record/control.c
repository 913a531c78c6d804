/* SPDX-License-Identifier: Apache-2.0 */
/* Control commands, one per line, from a descriptor or FIFO. Each executed command is answered with "ack". */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "record/control.h"
#include "record/rings/counters.h"
#include "record/rings/recorder_note.h"

static pfr_status wrong_control(const char *text, pfr_error *err) {
    return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "control",
                    "'%.60s' is not fd:N[,N] or fifo:PATH[,PATH] of existing descriptors or FIFOs", text);
}

static bool open_descriptors(pfr_recorder *r, const char *text) {
    char *end;
    r->control.in = dup((int)strtol(text, &end, 10));
    if (end == text || r->control.in < 0)
        return false;
    if (*end == ',')
        r->control.out = dup((int)strtol(end + 1, &end, 10));
    return *end == '\0';
}

static int open_fifo(const char *path, size_t length) {
    char name[4096];
    struct stat facts;
    snprintf(name, sizeof name, "%.*s", (int)length, path);
    const int fd = open(name, O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (fd >= 0 && (fstat(fd, &facts) != 0 || !S_ISFIFO(facts.st_mode))) {
        close(fd);
        return -1;
    }
    return fd;
}

static bool open_fifos(pfr_recorder *r, const char *text) {
    const size_t first = strcspn(text, ",");
    r->control.in = open_fifo(text, first);
    if (text[first] == ',')
        r->control.out = open_fifo(text + first + 1, strlen(text + first + 1));
    return r->control.in >= 0 && (text[first] == '\0' || r->control.out >= 0);
}

pfr_status control_open(pfr_recorder *r, pfr_error *err) {
    const char *const text = r->options.control;
    if (!text)
        return PFR_OK;
    const bool fds = strncmp(text, "fd:", 3) == 0, fifos = strncmp(text, "fifo:", 5) == 0;
    if ((!fds && !fifos) || !(fds ? open_descriptors(r, text + 3) : open_fifos(r, text + 5)))
        return wrong_control(text, err);
    const int flags = fcntl(r->control.in, F_GETFL);
    fcntl(r->control.in, F_SETFL, flags | O_NONBLOCK);
    if (r->kernel->watch(r->kernel->context, r->control.watch, r->control.in) < 0)
        return pfr_fail_errno(err, errno, "watch", text);
    return PFR_OK;
}

void control_close(pfr_recorder *r) {
    if (r->control.in >= 0)
        close(r->control.in);
    if (r->control.out >= 0)
        close(r->control.out);
}

static void enable(pfr_recorder *r) {
    counters_switch(r, true);
}
static void disable(pfr_recorder *r) {
    counters_switch(r, false);
}
static void snapshot(pfr_recorder *r) {
    r->control.snapshots++;
}
static void stop(pfr_recorder *r) {
    r->control.stops++;
}
static void nothing(pfr_recorder *r) {
    (void)r;
}

static void obey(pfr_recorder *r, const char *line, size_t length) {
    static const struct {
        const char *order;
        void (*obey)(pfr_recorder *r);
    } orders[] = {{"enable", enable}, {"disable", disable}, {"snapshot", snapshot}, {"stop", stop}, {"ping", nothing}};
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++)
        if (strlen(orders[i].order) == length && strncmp(orders[i].order, line, length) == 0) {
            orders[i].obey(r);
            if (r->control.out >= 0 && write(r->control.out, "ack\n", 4) != 4)
                recorder_note(r, "a control command could not be answered: %s", strerror(errno));
            return;
        }
    recorder_note(r, "unknown control command '%.*s'; commands: enable, disable, snapshot, stop, ping", (int)length,
                  line);
}

void control_obey(pfr_recorder *r) {
    char text[512];
    if (r->control.in < 0)
        return;
    const ssize_t got = read(r->control.in, text, sizeof text - 1);
    if (got <= 0)
        return;
    text[got] = '\0';
    for (const char *line = text; *line; line += *line == '\n') {
        const size_t length = strcspn(line, "\n");
        if (length)
            obey(r, line, length);
        line += length;
    }
}
