/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See trace_child.h. A question is a head (number of the format, length, cpu) and the bytes of the record; an answer is
 * a length and the text, length UINT32_MAX: there is none. The formats need not be sent: fork has copied them.
 */
#include "model/trace_child.h"

#include "base/fail.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NO_TEXT UINT32_MAX
#define DATA_ROOM (TRACE_DATA_MOST + 1u + TRACE_DATA_BEHIND)
#define GUARD_HINT ((void *)0x100000000000) /* so that an address that is printed is the same each time */
#define GUARD ((size_t)1 << 35)             /* 32 bits of elements of 8 bytes */

#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

struct question {
    uint32_t number, length, cpu;
};

/* --- in the child --- */

static bool read_all(int fd, void *to, size_t length) {
    for (size_t got = 0; got < length;) {
        const ssize_t n = read(fd, (char *)to + got, length - got);
        if (n <= 0 && !(n < 0 && errno == EINTR))
            return false;
        got += n > 0 ? (size_t)n : 0;
    }
    return true;
}

static bool write_all(int fd, const void *from, size_t length) {
    for (size_t put = 0; put < length;) {
        const ssize_t n = send(fd, (const char *)from + put, length - put, MSG_NOSIGNAL);
        if (n < 0 && errno != EINTR)
            return false;
        put += n > 0 ? (size_t)n : 0;
    }
    return true;
}

/* Nothing but to read, write and allocate. The numbers are those of this machine; a process that cannot change its
   machine's calling convention needs no check of it. Sanitizers want more, and run without. */
static void forbid_calls(void) {
    static const unsigned allowed[] = {
        __NR_read,   __NR_write,   __NR_recvfrom, __NR_sendto,     __NR_brk,          __NR_mmap,          __NR_munmap,
        __NR_mremap, __NR_madvise, __NR_futex,    __NR_exit_group, __NR_rt_sigreturn, __NR_clock_gettime,
    };
    enum { CALLS = sizeof allowed / sizeof *allowed };
    struct sock_filter rules[CALLS + 3];
    rules[0] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (unsigned i = 0; i < CALLS; i++)
        rules[1 + i] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, allowed[i], (uint8_t)(CALLS - i), 0);
    rules[1 + CALLS] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
    rules[2 + CALLS] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    const struct sock_fprog program = {CALLS + 3, rules};
    if (!SANITIZED && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0)
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

/* Bytes of address space the process has. */
static uint64_t space_used(void) {
    char text[32] = {0};
    const int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    if (fd < 0 || read(fd, text, sizeof text - 1) <= 0)
        text[0] = '0';
    if (fd >= 0)
        close(fd);
    return strtoull(text, NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void confine(void) {
    const struct rlimit no_core = {0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    const uint64_t most = space_used() + TRACE_CHILD_MEMORY;
    const struct rlimit space = {most, most};
    if (!SANITIZED)
        setrlimit(RLIMIT_AS, &space);
    for (int s = 1; s < 32; s++)
        signal(s, SIG_DFL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_DUMPABLE, 0);
}

/* Only the socket stays open, as descriptor 0: what libraries say to standard error goes nowhere. */
static void keep_socket(int fd) {
    dup2(fd, 0);
    syscall(__NR_close_range, 1u, ~0u, 0u);
}

/* The printer knows one format at a time, so that formats of one id are not mixed up. */
struct worker {
    const struct trace_child *child;
    struct trace_printer *printer;
    uint32_t number;
    bool usable;
};

static bool use_format(struct worker *w, uint32_t number) {
    const struct trace_source *source = &w->child->sources[number];
    bool whole;
    if (w->printer && w->number == number)
        return w->usable;
    trace_printer_free(w->printer);
    w->printer = trace_printer_new(&w->child->machine);
    w->number = number;
    if (!w->printer)
        _exit(1);
    if (w->child->prepare)
        w->child->prepare(w->printer, w->child->context);
    w->usable = trace_printer_add(w->printer, source->text.at, source->text.length, source->system, &whole);
    return w->usable;
}

static bool answer(struct worker *w, const struct question *q, const uint8_t *data) {
    size_t length = 0;
    const char *text =
        use_format(w, q->number) ? trace_printer_text(w->printer, data, q->length, q->cpu, &length) : NULL;
    const uint32_t told = text && length <= TRACE_TEXT_MOST ? (uint32_t)length : NO_TEXT;
    return write_all(0, &told, sizeof told) && (told == NO_TEXT || write_all(0, text, told));
}

/* Room for a record amid addresses that nobody may touch: an index out of it ends the child, always, and does not print
   what lies there. */
static uint8_t *guarded_room(void) {
    uint8_t *all =
        mmap(GUARD_HINT, 2 * GUARD + DATA_ROOM, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (all == MAP_FAILED)
        return NULL;
    return mprotect(all + GUARD, DATA_ROOM, PROT_READ | PROT_WRITE) == 0 ? all + GUARD : NULL;
}

_Noreturn static void work(const struct trace_child *child, int fd) {
    struct worker w = {.child = child};
    struct question q;
    keep_socket(fd);
    uint8_t *data = guarded_room();
    confine();
    forbid_calls();
    while (data && read_all(0, &q, sizeof q) && q.length <= TRACE_DATA_MOST) {
        if (!read_all(0, data, q.length) || !answer(&w, &q, data))
            break;
        memset(data, 0, q.length); /* 0 again, as mapped */
    }
    _exit(0);
}

/* --- in the process that asks --- */

void trace_child_init(struct trace_child *child, const struct trace_machine *machine, struct memory *memory,
                      const struct trace_source *sources) {
    *child = (struct trace_child){.machine = *machine, .memory = memory, .sources = sources, .fd = -1};
}

static void end_child(struct trace_child *c) {
    if (c->pid == 0)
        return;
    close(c->fd);
    kill(c->pid, SIGKILL);
    while (waitpid(c->pid, NULL, 0) < 0 && errno == EINTR) {
    }
    c->pid = 0;
    c->fd = -1;
}

void trace_child_close(struct trace_child *c) {
    end_child(c);
    mem_free(c->memory, c->text, c->room, 1);
    c->text = NULL;
}

static bool begin_child(struct trace_child *c) {
    int fds[2];
    if (c->pid)
        return true;
    if (c->children == TRACE_CHILDREN_MOST || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0)
        return false;
    const pid_t pid = fork();
    if (pid == 0)
        work(c, fds[1]);
    close(fds[1]);
    if (pid < 0) {
        close(fds[0]);
        return false;
    }
    c->pid = pid;
    c->fd = fds[0];
    c->children++;
    return true;
}

static uint64_t now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* Reads before the deadline; false: late, or the child is gone. */
static bool hear(struct trace_child *c, void *to, size_t length, uint64_t until) {
    for (size_t got = 0; got < length;) {
        const uint64_t now = now_ms();
        struct pollfd p = {.fd = c->fd, .events = POLLIN};
        const int ready = now < until ? poll(&p, 1, (int)(until - now)) : 0;
        if (ready < 0 && errno == EINTR)
            continue;
        if (ready <= 0)
            return false;
        const ssize_t n = recv(c->fd, (char *)to + got, length - got, MSG_DONTWAIT);
        if (n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN))
            return false;
        got += n > 0 ? (size_t)n : 0;
    }
    return true;
}

static bool make_room(struct trace_child *c, size_t length) {
    if (length <= c->room)
        return true;
    char *grown = mem_resize(c->memory, c->text, c->room, length, 1);
    if (!grown)
        return false;
    c->text = grown;
    c->room = length;
    return true;
}

/* PFR_HOLE also when the child must be ended. */
static pfr_status ask(struct trace_child *c, const struct question *q, const uint8_t *data, size_t *text_length,
                      pfr_error *err) {
    const uint64_t start = now_ms(), until = start + TRACE_CHILD_WAIT_MS;
    uint32_t length = NO_TEXT;
    pfr_status status = PFR_HOLE;
    if (write_all(c->fd, q, sizeof *q) && write_all(c->fd, data, q->length) && hear(c, &length, sizeof length, until) &&
        length == NO_TEXT) {
        status = PFR_END; /* for this record only */
    } else if (length <= TRACE_TEXT_MOST) {
        if (!make_room(c, length))
            return mem_fail(c->memory, err, "trace text");
        status = hear(c, c->text, length, until) ? PFR_OK : PFR_HOLE;
    }
    *text_length = length;
    c->records++;
    c->waited_ms += now_ms() - start;
    return status;
}

pfr_status trace_child_print(struct trace_child *c, uint32_t number, const uint8_t *data, uint32_t length, uint32_t cpu,
                             const char **text, size_t *text_length, pfr_error *err) {
    const struct question q = {number, length, cpu};
    if (length > TRACE_DATA_MOST || !begin_child(c))
        return PFR_END;
    const pfr_status status = ask(c, &q, data, text_length, err);
    *text = c->text;
    if (status == PFR_HOLE)
        end_child(c);
    if (c->waited_ms > TRACE_CHILD_WAIT_ALL_MS + c->records) {
        end_child(c);
        c->children = TRACE_CHILDREN_MOST;
    }
    return status == PFR_END ? PFR_HOLE : status;
}
