/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The separate process for demangling (base/threads/confined.h), shared by all demanglers. It starts at the first name
 * that needs it or in demangler_prepare, answers one name at a time, and ends with the last demangler. Simple names are
 * demangled in the calling process (plain_mangling.h). A request is a packet with flags and name; the answer is a
 * packet with the text, which is empty if there is no result. A forked child does not use the process of its parent.
 */
#include "base/threads/confined.h"
#include "symbol/demangle/demangle.h"
#include "symbol/demangle/fold_templates.h"
#include "symbol/demangle/plain_mangling.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#define MEMORY ((uint64_t)64 << 20)
#define CPU_SECONDS 120u
#define WAIT_MS 500u        /* CPU time for one name */
#define WAIT_LONG_MS 10000u /* elapsed time for one name, if the process gets no CPU time */
#define WAIT_ALL_MS 3000u   /* CPU time for all names, plus 1 ms per name */

struct demangle_question {
    uint32_t flags;
    char name[MANGLED_MOST + 1];
};

static struct {
    pthread_mutex_t lock;
    struct confined process;
    pid_t owner;
    unsigned users, made;
    uint64_t names, used_ms, waited_ms;
} shared = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* --- In the separate process. */

static void work(void *context) {
    static struct demangle_question q;
    static char text[DEMANGLED_MOST];
    ssize_t got;
    (void)context;
    while ((got = recv(0, &q, sizeof q, 0)) > (ssize_t)sizeof q.flags) {
        q.name[got - (ssize_t)sizeof q.flags - 1] = '\0';
        const size_t length = demangle_here(q.name, q.flags, text);
        if (send(0, length ? text : "", length ? length : 1, MSG_NOSIGNAL) < 0)
            break;
    }
}

/* --- In the calling process. */

void demangler_init(struct demangler *demangler, struct memory *memory) {
    *demangler = (struct demangler){.memory = memory};
    pthread_mutex_lock(&shared.lock);
    shared.users++;
    pthread_mutex_unlock(&shared.lock);
}

/* A forked child closes its copy of the parent's socket. */
static void disown(void) {
    if (shared.process.pid && shared.owner != getpid()) {
        close(shared.process.fd);
        shared.process.pid = 0;
    }
}

static void leave(void) {
    pthread_mutex_lock(&shared.lock);
    disown();
    if (--shared.users == 0) {
        confined_end(&shared.process);
        shared.made = 0;
        shared.names = shared.used_ms = shared.waited_ms = 0;
    }
    pthread_mutex_unlock(&shared.lock);
}

void demangler_free(struct demangler *demangler) {
    if (!demangler->memory)
        return;
    mem_free(demangler->memory, demangler->text, demangler->capacity, 1);
    *demangler = (struct demangler){0};
    leave();
}

static bool begin(void) {
    static const struct timeval wait = {.tv_usec = WAIT_MS * 1000};
    disown();
    if (shared.process.pid)
        return true;
    if (shared.made == DEMANGLERS_MOST)
        return false;
    shared.process = (struct confined){.memory = MEMORY, .seconds = CPU_SECONDS, .in_packets = true};
    if (!confined_begin(&shared.process, work, NULL))
        return false;
    setsockopt(shared.process.fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
    shared.owner = getpid();
    shared.used_ms = 0;
    shared.made++;
    return true;
}

void demangler_prepare(void) {
    pthread_mutex_lock(&shared.lock);
    begin();
    pthread_mutex_unlock(&shared.lock);
}

/* Limits the total CPU time: names that exceed it were probably made to be slow. Time spent waiting on a busy machine
   is not counted. */
static void count_wait(uint64_t ms) {
    uint64_t used;
    shared.names++;
    if (ms && confined_used_ms(&shared.process, &used) && used > shared.used_ms) {
        shared.waited_ms += used - shared.used_ms;
        shared.used_ms = used;
    }
    if (shared.waited_ms > WAIT_ALL_MS + shared.names)
        shared.made = DEMANGLERS_MOST;
}

/* Called when recv has timed out: returns true if the process is still working on the name, or was not scheduled.
 *used: the CPU time of the process at the first such check. */
static bool may_wait_on(uint64_t start, uint64_t *used) {
    uint64_t now;
    if (errno != EAGAIN || !confined_used_ms(&shared.process, &now))
        return errno == EINTR;
    if (*used > now)
        *used = now;
    return now - *used < WAIT_MS && confined_now_ms() - start < WAIT_LONG_MS;
}

/* Returns the length of the answer; < 0: the process has ended or is too slow. */
static ssize_t ask(const struct demangle_question *q, size_t length, char *to) {
    const uint64_t start = confined_now_ms();
    uint64_t used = UINT64_MAX;
    ssize_t got = -1;
    if (confined_write(shared.process.fd, q, sizeof q->flags + length + 1))
        do
            got = recv(shared.process.fd, to, DEMANGLED_MOST, 0);
        while (got < 0 && may_wait_on(start, &used));
    count_wait(confined_now_ms() - start);
    if (got <= 0)
        confined_end(&shared.process);
    return got > 0 ? got : -1;
}

/* Asks for one name at a time, under the lock. */
static ssize_t ask_any(const struct demangle_question *q, size_t length, char *to) {
    ssize_t got = -1;
    pthread_mutex_lock(&shared.lock);
    if (begin())
        got = ask(q, length, to);
    pthread_mutex_unlock(&shared.lock);
    return got;
}

static bool make_room(struct demangler *demangler) {
    if (demangler->text)
        return true;
    demangler->text = mem_alloc(demangler->memory, DEMANGLED_MOST + 1, 1);
    demangler->capacity = demangler->text ? DEMANGLED_MOST + 1 : 0;
    return demangler->text;
}

static size_t demangle_elsewhere(struct demangler *demangler, const char *name, size_t length, unsigned flags) {
    char *const to = demangler->text;
    struct demangle_question q; /* 16 KB, but only flags and name are written */
    q.flags = flags;
    memcpy(q.name, name, length + 1);
    const ssize_t got = ask_any(&q, length, to);
    demangler->unanswered += got < 0;
    return got > 0 && *to ? (size_t)got : 0;
}

const char *demangle(struct demangler *demangler, const char *name, unsigned flags) {
    const size_t length = demangle_looks_mangled(name) ? strnlen(name, MANGLED_MOST + 1) : 0;
    if (length == 0 || length > MANGLED_MOST || !make_room(demangler))
        return NULL;
    size_t made = flags & DEMANGLE_PARAMETERS ? 0 : plain_demangle(name, demangler->text);
    if (made == 0)
        made = demangle_elsewhere(demangler, name, length, flags);
    if (flags & (DEMANGLE_FOLD_TEMPLATES | DEMANGLE_OMIT_TEMPLATES))
        made = fold_templates(demangler->text, made, flags & DEMANGLE_OMIT_TEMPLATES);
    demangler->text[made] = '\0';
    return made ? demangler->text : NULL;
}
