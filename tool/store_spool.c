/* SPDX-License-Identifier: Apache-2.0 */
#include "store_spool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "outcome.h"

#define PROGRAM "perfray store"
#define PATH_ROOM 4096u

static bool failed(const char *path) {
    complain_as(PROGRAM, "--spool: %s: %s", path, strerror(errno));
    return false;
}

/* --- Keeping. */

static bool copy_bytes(int from, int to) {
    static char buffer[1 << 16];
    ssize_t got;
    while ((got = read(from, buffer, sizeof buffer)) != 0) {
        if (got < 0 && errno == EINTR)
            continue;
        for (ssize_t put = 0; got > 0 && put < got;) {
            const ssize_t n = write(to, buffer + put, (size_t)(got - put));
            if (n < 0 && errno != EINTR)
                return false;
            put += n > 0 ? n : 0;
        }
        if (got < 0)
            return false;
    }
    return fsync(to) == 0;
}

static bool copy_file(const char *file, const char *path) {
    const int from = open(file, O_RDONLY | O_CLOEXEC);
    if (from < 0)
        return failed(file);
    const int to = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    const bool copied = to >= 0 && copy_bytes(from, to);
    const int why = errno;
    if (to >= 0)
        close(to);
    close(from);
    errno = why;
    return copied || failed(path);
}

static bool write_labels(const char *path, const struct spooled *s) {
    FILE *const f = fopen(path, "wxe");
    if (!f)
        return failed(path);
    fchmod(fileno(f), 0600);
    fprintf(f, "service=%s\nversion=%s\nslot=%" PRIu64 "\nended=%" PRIu64 "\ngiven=%d\n", s->service, s->version,
            s->slot, s->ended, s->ended_is_given);
    if (s->has_host)
        fprintf(f, "host=%s\n", s->host);
    const bool written = fflush(f) == 0 && fsync(fileno(f)) == 0;
    return (fclose(f) == 0 && written) || failed(path);
}

static bool has_line_end(const struct spooled *s) {
    return strchr(s->service, '\n') || strchr(s->version, '\n') || strchr(s->host, '\n');
}

bool spool_keep(const char *folder, const char *file, const struct spooled *labels) {
    char data[PATH_ROOM], made[PATH_ROOM + 8], push[PATH_ROOM];
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    const int length = snprintf(data, sizeof data, "%s/%020" PRIu64 "-%ld.data", folder,
                                (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec, (long)getpid());
    if (length < 0 || length >= (int)sizeof data || has_line_end(labels)) {
        complain_as(PROGRAM, "--spool: cannot keep recordings with line breaks in labels, or with long paths");
        return false;
    }
    snprintf(push, sizeof push, "%.*s.push", length - 5, data);
    snprintf(made, sizeof made, "%s.new", push);
    if (mkdir(folder, 0700) < 0 && errno != EEXIST)
        return failed(folder);
    if (copy_file(file, data) && write_labels(made, labels) && (rename(made, push) == 0 || failed(push)))
        return true;
    unlink(made);
    unlink(data);
    return false;
}

/* --- Draining. */

static void read_line(char *line, struct spooled *s) {
    char *const value = strchr(line, '=');
    line[strcspn(line, "\n")] = '\0';
    if (!value)
        return;
    *value = '\0';
    const char *const text = value + 1;
    if (strcmp(line, "service") == 0)
        snprintf(s->service, sizeof s->service, "%s", text);
    else if (strcmp(line, "version") == 0)
        snprintf(s->version, sizeof s->version, "%s", text);
    else if (strcmp(line, "slot") == 0)
        s->slot = strtoull(text, NULL, 10);
    else if (strcmp(line, "ended") == 0)
        s->ended = strtoull(text, NULL, 10);
    else if (strcmp(line, "given") == 0)
        s->ended_is_given = *text == '1';
    else if (strcmp(line, "host") == 0)
        s->has_host = snprintf(s->host, sizeof s->host, "%s", text) >= 0;
}

static bool read_labels(const char *path, struct spooled *s) {
    char line[SPOOL_LABEL + 32];
    FILE *const f = fopen(path, "re");
    *s = (struct spooled){.slot = 0};
    if (!f)
        return failed(path);
    while (fgets(line, sizeof line, f))
        read_line(line, s);
    fclose(f);
    return true;
}

static int is_waiting(const struct dirent *entry) {
    const size_t length = strlen(entry->d_name);
    return length > 5 && strcmp(entry->d_name + length - 5, ".push") == 0;
}

/* Pushes one recording. Returns false if it was not pushed; later recordings then wait too. */
static bool drain_one(const char *folder, const char *name, spool_push *push, void *context) {
    char labels[PATH_ROOM], data[PATH_ROOM];
    struct spooled s;
    const int length = snprintf(labels, sizeof labels, "%s/%s", folder, name);
    if (length >= (int)sizeof labels)
        return false;
    snprintf(data, sizeof data, "%.*s.data", length - 5, labels);
    if (!read_labels(labels, &s) || !push(context, data, &s))
        return false;
    unlink(labels);
    unlink(data);
    return true;
}

bool spool_drain(const char *folder, spool_push *push, void *context) {
    struct dirent **entries;
    const int count = scandir(folder, &entries, is_waiting, alphasort);
    bool goes_on = true;
    if (count < 0)
        return errno == ENOENT || failed(folder);
    for (int i = 0; i < count; i++) {
        goes_on = goes_on && drain_one(folder, entries[i]->d_name, push, context);
        free(entries[i]);
    }
    free(entries);
    return true;
}
