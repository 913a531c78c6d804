/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See tracepoint_child.h. A request is a header (number of the format, length, cpu) and the bytes of the record. The
 * answer is a length and the text; length UINT32_MAX: there is no text. The formats are not sent, because the child has
 * them: fork copied them.
 */
#include "model/tracepoint/tracepoint_child.h"

#include "base/memory/fail.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define NO_TEXT UINT32_MAX
#define DATA_ROOM (TRACE_DATA_MOST + 1u + TRACE_DATA_BEHIND)
#define GUARD_HINT ((void *)0x100000000000) /* so that printed addresses of the record are always the same */
#define GUARD ((size_t)1 << 35)             /* maximum distance of an index: 32 bits, times elements of 8 bytes */

struct format_question {
    uint32_t number, length, cpu;
};

/* --- in the child --- */

/* The printer has only one format at a time, so that formats with the same id are not mixed up. */
struct child_worker {
    const struct tracepoint_child *child;
    struct tracepoint_printer *printer;
    uint32_t number;
    bool usable;
};

static bool use_format(struct child_worker *w, uint32_t number) {
    const struct tracepoint_source *source = &w->child->sources[number];
    bool whole;
    if (w->printer && w->number == number)
        return w->usable;
    tracepoint_printer_free(w->printer);
    w->printer = tracepoint_printer_new(&w->child->machine);
    w->number = number;
    if (!w->printer)
        _exit(1);
    if (w->child->prepare)
        w->child->prepare(w->printer, w->child->context);
    w->usable = tracepoint_printer_add(w->printer, source->text.at, source->text.length, source->system, &whole);
    return w->usable;
}

static bool answer(struct child_worker *w, const struct format_question *q, const uint8_t *data) {
    size_t length = 0;
    const char *text =
        use_format(w, q->number) ? tracepoint_printer_text(w->printer, data, q->length, q->cpu, &length) : NULL;
    const uint32_t answer_length = text && length <= TRACE_TEXT_MOST ? (uint32_t)length : NO_TEXT;
    return confined_write(0, &answer_length, sizeof answer_length) &&
           (answer_length == NO_TEXT || confined_write(0, text, answer_length));
}

/* Maps room for a record between inaccessible pages. An index out of bounds therefore always ends the child, and never
   prints other memory. */
static void make_guarded_room(void *context) {
    struct tracepoint_child *child = context;
    uint8_t *all =
        mmap(GUARD_HINT, 2 * GUARD + DATA_ROOM, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (all != MAP_FAILED && mprotect(all + GUARD, DATA_ROOM, PROT_READ | PROT_WRITE) == 0)
        child->data = all + GUARD;
}

static void work(void *context) {
    struct child_worker w = {.child = context};
    struct format_question q;
    uint8_t *data = w.child->data;
    while (data && confined_read(0, &q, sizeof q) && q.length <= TRACE_DATA_MOST) {
        if (!confined_read(0, data, q.length) || !answer(&w, &q, data))
            break;
        memset(data, 0, q.length); /* zero again, as when it was mapped */
    }
}

/* --- in the requesting process --- */

void tracepoint_child_init(struct tracepoint_child *child, const struct tracepoint_machine *machine,
                           struct memory *memory, const struct tracepoint_source *sources) {
    *child =
        (struct tracepoint_child){.machine = *machine,
                                  .memory = memory,
                                  .sources = sources,
                                  .process = {.memory = TRACE_CHILD_MEMORY, .prepare = make_guarded_room, .fd = -1}};
}

void tracepoint_child_close(struct tracepoint_child *c) {
    confined_end(&c->process);
    mem_free(c->memory, c->text, c->room, 1);
    c->text = NULL;
}

static bool begin_child(struct tracepoint_child *c) {
    if (c->process.pid)
        return true;
    if (c->children == TRACE_CHILDREN_MOST || !confined_begin(&c->process, work, c))
        return false;
    c->children++;
    return true;
}

static bool make_room(struct tracepoint_child *c, size_t length) {
    if (length <= c->room)
        return true;
    char *grown = mem_resize(c->memory, c->text, c->room, length, 1);
    if (!grown)
        return false;
    c->text = grown;
    c->room = length;
    return true;
}

/* Sends a record and reads the answer. PFR_HOLE: the format is not usable, or the child must be killed. */
static pfr_status ask(struct tracepoint_child *c, const struct format_question *q, const uint8_t *data,
                      size_t *text_length, pfr_error *err) {
    const uint64_t start = confined_now_ms(), until = start + TRACE_CHILD_WAIT_MS;
    uint32_t length = NO_TEXT;
    pfr_status status = PFR_HOLE;
    if (confined_write(c->process.fd, q, sizeof *q) && confined_write(c->process.fd, data, q->length) &&
        confined_hear(&c->process, &length, sizeof length, until) && length == NO_TEXT) {
        status = PFR_END; /* there is no text for this record */
    } else if (length <= TRACE_TEXT_MOST) {
        if (!make_room(c, length))
            return mem_fail(c->memory, err, "trace text");
        status = confined_hear(&c->process, c->text, length, until) ? PFR_OK : PFR_HOLE;
    }
    *text_length = length;
    c->records++;
    c->waited_ms += confined_now_ms() - start;
    return status;
}

pfr_status tracepoint_child_print(struct tracepoint_child *c, uint32_t number, const uint8_t *data, uint32_t length,
                                  uint32_t cpu, const char **text, size_t *text_length, pfr_error *err) {
    const struct format_question q = {number, length, cpu};
    if (length > TRACE_DATA_MOST || !begin_child(c))
        return PFR_END;
    const pfr_status status = ask(c, &q, data, text_length, err);
    *text = c->text;
    if (status == PFR_HOLE)
        confined_end(&c->process);
    if (c->waited_ms > TRACE_CHILD_WAIT_ALL_MS + c->records) {
        confined_end(&c->process);
        c->children = TRACE_CHILDREN_MOST;
    }
    return status == PFR_END ? PFR_HOLE : status;
}
