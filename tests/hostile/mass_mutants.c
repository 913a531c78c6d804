/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mass_mutants.c - feeds damaged recordings to the printers of the library, in process; run_mass.py drives it.
 *
 * Standard input is a sequence of mutants: three 32-bit integers in host order (number, 1 for structural damage,
 * length), then the bytes. A child process runs BATCH of them, so that a crash ends the child and not the run. Shared
 * memory records what the child was doing, and the next child continues after that. Leaks are detected when a child
 * exits; then each mutant of the batch is run in its own child. Each of `printers` must process each mutant within
 * SECONDS. Mutants are read alternately from memory, where the block ends with the recording so that sanitizers detect
 * reads beyond it, and from a file. Three of four mutants use options drawn from their numbers (fuzz_drawn.h), and two
 * of three use sizes of buffers and batches drawn in the same way (base/memory/sizes.h).
 *
 * Arguments are names of printers to run; without arguments all are run.
 *
 * Prints one line on standard output per finding,
 *
 *     NUMBER PRINTER crash|hang|raw|json|silent TEXT<tab>OPTIONS<tab>SIZES
 *
 * and at the end `done MUTANTS STRUCTURAL SLOWEST_US SLOWEST_NUMBER`. `silent` is structural damage that was not
 * reported.
 */
#include "fuzz_drawn.h"
#include "fuzz_print.h"
#include "mass_printers.h"

#include "base/memory/sizes.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { BATCH = 200, SECONDS = 10, WAIT = 12 };

struct mutant {
    uint32_t number, structural, length;
    uint8_t *bytes;
};

struct batch {
    struct mutant at[BATCH];
    uint32_t count;
};

/* Shared with the child processes. */
struct ledger {
    uint32_t at, printer; /* mutant and printer that the child is running */
    uint64_t slowest_us;
    uint32_t slowest;
    struct drawn drawn; /* its options */
    char sizes[SIZES_TEXT_ROOM];
};

static struct ledger *ledger;
static char **wanted; /* names of printers, NULL-terminated */
static int output_fd, error_fd;

const char *__asan_default_options(void);
const char *__asan_default_options(void) {
    return "max_allocation_size_mb=1024:allocator_may_return_null=0";
}

static void report(const struct mutant *m, const char *what, const char *text) {
    dprintf(STDOUT_FILENO, "%u %s %s %s\t%s\t%s\n", m->number, printers[ledger->printer].name, what, text,
            ledger->drawn.words, ledger->sizes);
}

/* --- Reported damage, from the same sources as the messages of the command: see tool/damage.c. */

static void hear_features(pfr_reader *reader, struct said *said) {
    pfr_error err;
    for (uint32_t i = 0; i < pfr_feature_count(reader); i++) {
        const pfr_feature *feature = pfr_get_feature(reader, i, &err);
        if (feature && pfr_check_feature(reader, feature, &err) == PFR_HOLE)
            hear(said, &err);
    }
}

static void hear_reader(pfr_reader *reader, struct said *said) {
    const pfr_header *header = pfr_get_header(reader);
    const pfr_quality *quality = pfr_get_quality(reader);
    if (header->not_finalised || (header->container != PFR_PIPE && header->data_size < header->data_size_said))
        said->anything = true;
    if (printers[ledger->printer].compare_rebuilt_record)
        return;
    if (quality->holes || quality->truncated_bytes || quality->unknown_ids)
        said->anything = true;
    hear_features(reader, said);
}

/* --- One mutant, one printer. */

static void judge_text(const struct mutant *m, const char *text, size_t length, bool is_json_wanted) {
    char byte[40];
    const size_t shown = printers[ledger->printer].is_binary ? length : shown_length(text, length);
    if (shown < length) {
        snprintf(byte, sizeof byte, "%#x at %zu", (unsigned char)text[shown], shown);
        report(m, "raw", byte);
    } else if (is_json_wanted && !is_json(text, length)) {
        report(m, "json", "the output is no JSON");
    }
}

static void judge_output(const struct mutant *m, bool is_json_wanted) {
    const off_t length = lseek(output_fd, 0, SEEK_END);
    if (length <= 0)
        return;
    char *text = mmap(NULL, (size_t)length, PROT_READ, MAP_SHARED, output_fd, 0);
    LAW(text != MAP_FAILED, "%jd bytes of output cannot be mapped", (intmax_t)length);
    judge_text(m, text, (size_t)length, is_json_wanted);
    munmap(text, (size_t)length);
    LAW(ftruncate(output_fd, 0) == 0 && lseek(output_fd, 0, SEEK_SET) == 0, "no output: %s", strerror(errno));
}

/* Returns false if the printer failed. */
static bool print_all(pfr_reader *reader, struct said *said) {
    pfr_error err = {.offset = PFR_NO_OFFSET};
    pfr_output *out = pfr_output_open(output_fd, false, &err);
    LAW(out, "no output: %s", err.text);
    const pfr_status status = printers[ledger->printer].print(reader, out, said, &err);
    if (status < 0)
        hear(said, &err);
    said->anything |= status == PFR_HOLE;
    hear_reader(reader, said);
    LAW(pfr_output_close(out, &err) == PFR_OK, "the output cannot be written: %s", err.text);
    return status >= 0;
}

static pfr_reader *open_mutant(const struct mutant *m, bool as_file, struct fuzz_file *file, pfr_error *err) {
    const pfr_open_options options = {.size = sizeof options, .spool = true};
    file->fd = -1;
    if (!as_file)
        return pfr_open_bytes(m->bytes, m->length, &options, err);
    fuzz_file_open(file, m->bytes, m->length);
    return pfr_open(file->path, &options, err);
}

static bool is_wanted(const char *name) {
    for (char **w = wanted; *w; w++)
        if (strcmp(*w, name) == 0)
            return true;
    return !*wanted;
}

static bool is_asked(const pfr_reader *reader) {
    const enum subject subject = printers[ledger->printer].subject;
    return subject == OF_ALL || (subject == OF_TRACES) == (pfr_get_trace_point(reader) != NULL);
}

static void run_printer(const struct mutant *m, bool as_file) {
    struct said said = {.drawn = &ledger->drawn, .is_json = printers[ledger->printer].is_json};
    struct fuzz_file file;
    pfr_error err = {.offset = PFR_NO_OFFSET};
    ledger->drawn = (struct drawn){.number = m->number % 4 ? drawn_distribution(m->number) : 0};
    sizes_draw(m->number % 3 ? drawn_distribution(m->number * printer_count + ledger->printer) : 0, ledger->sizes);
    pfr_reader *reader = open_mutant(m, as_file, &file, &err);
    const bool is_left_out = reader && !is_asked(reader);
    const bool is_complete = reader && !is_left_out && print_all(reader, &said);
    if (!reader)
        hear(&said, &err);
    pfr_close(reader);
    if (file.fd >= 0)
        fuzz_file_close(&file);
    judge_output(m, is_complete && said.is_json);
    if (said.bad[0])
        report(m, "raw", said.bad);
    if (m->structural && !said.anything && !is_left_out)
        report(m, "silent", "no message");
}

/* --- Children. */

static uint64_t used_us(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

/* Limits CPU time, so that a busy machine does not look like a hang. For a child that only waits, limits real time to a
 * multiple of that. */
static void limit_time(unsigned seconds) {
    const struct itimerval limit = {.it_value = {.tv_sec = seconds}};
    LAW(setitimer(ITIMER_PROF, &limit, NULL) == 0, "no timer: %s", strerror(errno));
    alarm(seconds * WAIT);
}

static void run_mutant(const struct mutant *m) {
    const uint64_t start = used_us();
    for (ledger->printer = 0; ledger->printer < printer_count; ledger->printer++)
        if (is_wanted(printers[ledger->printer].name)) {
            limit_time(SECONDS);
            run_printer(m, (m->number + ledger->printer) % 2);
        }
    limit_time(0);
    const uint64_t took = used_us() - start;
    if (took > ledger->slowest_us) {
        ledger->slowest_us = took;
        ledger->slowest = m->number;
    }
}

/* Exits normally, so that leaks are detected. */
_Noreturn static void run_child(const struct batch *b, uint32_t from, uint32_t to) {
    if (dup2(error_fd, STDERR_FILENO) < 0)
        _exit(1);
    for (ledger->at = from; ledger->at < to; ledger->at++)
        run_mutant(&b->at[ledger->at]);
    exit(0);
}

static int run_range(const struct batch *b, uint32_t from, uint32_t to) {
    int status = 0;
    LAW(ftruncate(error_fd, 0) == 0 && lseek(error_fd, 0, SEEK_SET) == 0 && ftruncate(output_fd, 0) == 0 &&
            lseek(output_fd, 0, SEEK_SET) == 0,
        "no files: %s", strerror(errno));
    ledger->printer = 0;
    const pid_t child = fork();
    LAW(child >= 0, "no child: %s", strerror(errno));
    if (child == 0)
        run_child(b, from, to);
    while (waitpid(child, &status, 0) < 0)
        LAW(errno == EINTR, "the child is gone: %s", strerror(errno));
    return status;
}

/* Finds the line of the child's error output with the cause of its death. */
static void find_reason(char *reason, size_t room) {
    static const char *const marks[] = {"runtime error:", "AddressSanitizer", "LeakSanitizer", "does not hold"};
    static char text[1 << 16];
    const ssize_t length = pread(error_fd, text, sizeof text - 1, 0);
    text[length > 0 ? length : 0] = 0;
    snprintf(reason, room, "no reason given");
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        const char *found = strstr(text, marks[i]);
        if (found) {
            snprintf(reason, room, "%.*s", (int)strcspn(found, "\n"), found);
            return;
        }
    }
}

static void report_death(const struct mutant *m, int status) {
    char reason[300];
    find_reason(reason, sizeof reason);
    if (ledger->printer >= printer_count) /* the child died at exit: a leak */
        ledger->printer = (uint32_t)printer_count - 1;
    const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    const bool is_late = signal == SIGALRM || signal == SIGPROF;
    report(m, is_late ? "hang" : "crash", is_late ? "the time is over" : reason);
}

static void find_leaks(const struct batch *b) {
    for (uint32_t i = 0; i < b->count; i++) {
        const int status = run_range(b, i, i + 1);
        if (status != 0 && ledger->at > i) /* otherwise reported before */
            report_death(&b->at[i], status);
    }
}

static void run_batch(const struct batch *b) {
    uint32_t from = 0;
    while (from < b->count) {
        const int status = run_range(b, from, b->count);
        if (status == 0)
            return;
        if (ledger->at >= b->count) {
            find_leaks(b);
            return;
        }
        report_death(&b->at[ledger->at], status);
        from = ledger->at + 1;
    }
}

/* --- Input. */

static bool read_mutant(struct mutant *m) {
    if (fread(m, sizeof(uint32_t), 3, stdin) != 3)
        return false;
    m->bytes = malloc(m->length ? m->length : 1);
    LAW(m->bytes && fread(m->bytes, 1, m->length, stdin) == m->length, "mutant %u is cut short", m->number);
    return true;
}

static bool read_batch(struct batch *b) {
    b->count = 0;
    while (b->count < BATCH && read_mutant(&b->at[b->count]))
        b->count++;
    return b->count > 0;
}

static uint32_t free_batch(struct batch *b) {
    uint32_t structural = 0;
    for (uint32_t i = 0; i < b->count; i++) {
        structural += b->at[i].structural != 0;
        free(b->at[i].bytes);
    }
    return structural;
}

int main(int argc, char **argv) {
    static struct batch b;
    uint64_t mutants = 0, structural = 0;
    ledger = mmap(NULL, sizeof *ledger, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    wanted = argv + (argc > 0);
    output_fd = memfd_create("output", MFD_CLOEXEC);
    error_fd = memfd_create("errors", MFD_CLOEXEC);
    LAW(ledger != MAP_FAILED && output_fd >= 0 && error_fd >= 0, "no room: %s", strerror(errno));
    while (read_batch(&b)) {
        run_batch(&b);
        mutants += b.count;
        structural += free_batch(&b);
    }
    dprintf(STDOUT_FILENO, "done %ju %ju %ju %u\n", (uintmax_t)mutants, (uintmax_t)structural,
            (uintmax_t)ledger->slowest_us, ledger->slowest);
    return 0;
}
