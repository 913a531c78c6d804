/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes an XRay trace like `llvm-xray convert -f yaml`, with its peculiarities (docs/xray-format.md): events are
 * sorted only by time, even those of a thread whose clock steps back; every line has the type of the thread's last
 * typed event and the function of its last call; in version 2 the thread is also the process; custom events of versions
 * 1 to 3 have CPU 0. One peculiarity is not reproduced: an exit with an argument remains an exit, whereas llvm-xray
 * turns it into an entry.
 *
 * At most HELD_MOST events wait for earlier events. If an earlier event arrives too late for this, it is written when
 * it arrives.
 */
#include "view/xray/xray_script.h"

#include "view/xray/llvm_yaml.h"

#include <inttypes.h>
#include <stdio.h>

#define HELD_MOST 4096u

/* Values that later lines of a thread repeat. */
struct yaml_thread {
    uint32_t function;
    uint16_t type;
};

struct held_event {
    struct xray_event event;
    uint64_t number; /* order of arrival */
};

struct yaml_state {
    struct yaml_thread *threads;
    uint64_t came;
    size_t nr_held; /* a heap, earliest event first */
    uint8_t *payload;
    size_t payload_room;
    bool any;
    struct held_event held[HELD_MOST];
};

/* --- Start and end of the document. */

static void out_flag(struct xray_script *s, const char *key, bool value) {
    out_text(s->out, key);
    out_text(s->out, value ? "true\n" : "false\n");
}

static void yaml_begin(struct xray_script *s) {
    const pfr_header *h = pfr_get_header(s->reader);
    const uint32_t threads = xray_order_facts(s->order)->threads;
    struct yaml_state *y = s->yaml = mem_zeroed(s->memory, 1, sizeof *y);
    if (y)
        y->threads = mem_zeroed(s->memory, threads, sizeof *y->threads);
    if (!y || !y->threads) {
        xray_script_fail(s, mem_fail(s->memory, s->err, "yaml"));
        return;
    }
    out_text(s->out, "---\nheader:\n  version:         ");
    out_u64(s->out, h->version);
    out_text(s->out, "\n  type:            ");
    out_u64(s->out, h->format == PFR_XRAY_FDR);
    out_char(s->out, '\n');
    out_flag(s, "  constant-tsc:    ", h->constant_tsc);
    out_flag(s, "  nonstop-tsc:     ", h->nonstop_tsc);
    out_text(s->out, "  cycle-frequency: ");
    out_u64(s->out, h->cycle_frequency);
    out_text(s->out, "\nrecords:");
}

/* --- One line. */

/* Removes the blank in "> >", as LLVM closes templates by ">>". */
static size_t close_up(const struct function_name *name, char *to) {
    size_t length = 0;
    for (uint32_t i = 0; i < name->length; i++)
        if (!(name->text[i] == ' ' && name->text[i + 1] == '>' && length > 0 && to[length - 1] == '>'))
            to[length++] = name->text[i];
    return length;
}

/* Ensures room for `length` bytes; on failure returns false and sets s->failed. */
static bool make_room(struct xray_script *s, size_t length) {
    struct yaml_state *y = s->yaml;
    if (length <= y->payload_room)
        return true;
    uint8_t *grown = mem_resize(s->memory, y->payload, y->payload_room, length, 1);
    if (!grown) {
        xray_script_fail(s, mem_fail(s->memory, s->err, "yaml"));
        return false;
    }
    y->payload = grown;
    y->payload_room = length;
    return true;
}

static void out_named(struct xray_script *s, const struct function_name *name) {
    if (!make_room(s, name->length))
        return;
    const size_t length = close_up(name, (char *)s->yaml->payload);
    out_llvm_scalar(s->out, s->yaml->payload, length, s->to->raw_names);
}

static void out_function(struct xray_script *s, const struct xray_event *e) {
    char text[40];
    const struct function_name *name = NULL;
    if (s->names.options.naming.instr_maps && !(name = xray_script_name(s, e)))
        return;
    if (name && name->named) {
        out_named(s, name);
        return;
    }
    const int length = !name          ? snprintf(text, sizeof text, "%" PRId32, (int32_t)e->function)
                       : name->mapped ? snprintf(text, sizeof text, "@(%" PRIx64 ")", name->address)
                                      : snprintf(text, sizeof text, "#%" PRId32, (int32_t)e->function);
    out_llvm_scalar(s->out, text, (size_t)length, false);
}

static void out_arguments(struct xray_script *s, const struct xray_event *e) {
    uint64_t value = 0;
    if (!xray_is_call(e) || e->count == 0)
        return;
    out_text(s->out, ", args: [ ");
    for (uint32_t i = 0; i < e->count && s->failed >= 0; i++) {
        xray_script_fail(s, xray_order_argument(s->order, e, i, &value, s->err));
        out_text(s->out, i ? ", " : "");
        out_u64(s->out, value);
    }
    out_text(s->out, " ]");
}

static void out_payload(struct xray_script *s, const struct xray_event *e) {
    const uint32_t length = xray_is_call(e) ? 0 : e->count;
    size_t got = 0;
    if (!make_room(s, length))
        return;
    if (length)
        xray_script_fail(s, xray_order_payload(s->order, e, 0, s->yaml->payload, length, &got, s->err));
    if (s->failed >= 0 && !out_llvm_scalar(s->out, got ? s->yaml->payload : (const uint8_t *)"", got, s->to->raw_names))
        s->cut_payloads++;
}

static const char *kind_of(const struct xray_event *e) {
    static const char *const kinds[TRACE_EVENT_KINDS] = {
        [TRACE_ENTER] = "function-enter",         [TRACE_EXIT] = "function-exit",
        [TRACE_TAIL_EXIT] = "function-tail-exit", [TRACE_ENTER_ARGUMENT] = "function-enter-arg",
        [TRACE_CUSTOM_EVENT] = "custom-event",    [TRACE_TYPED_EVENT] = "typed-event",
        [TRACE_ARGUMENT] = "function-enter-arg",
    };
    return kinds[e->kind == TRACE_ENTER && e->count ? TRACE_ENTER_ARGUMENT : e->kind];
}

static void out_number(struct xray_script *s, const char *key, int64_t value) {
    out_text(s->out, key);
    out_i64(s->out, value);
}

static void out_who(struct xray_script *s, const struct xray_event *e) {
    const pfr_header *h = pfr_get_header(s->reader);
    const bool is_fdr = h->format == PFR_XRAY_FDR;
    const bool no_cpu = is_fdr && h->version < 4 && e->kind == TRACE_CUSTOM_EVENT;
    const uint32_t pid = (uint32_t)(is_fdr && h->version == 2 ? e->tid : e->pid);
    out_number(s, ", cpu: ", no_cpu ? 0 : e->cpu);
    if (e->tid)
        out_number(s, ", thread: ", (uint32_t)e->tid);
    if (pid)
        out_number(s, ", process: ", pid);
}

static void out_line(struct xray_script *s, const struct xray_event *e) {
    if (!s->yaml->any)
        out_char(s->out, '\n');
    s->yaml->any = true;
    out_number(s, "  - { type: ", e->type);
    out_number(s, ", func-id: ", (int32_t)e->function);
    out_text(s->out, ", function: ");
    out_function(s, e);
    out_arguments(s, e);
    out_who(s, e);
    out_text(s->out, ", kind: ");
    out_text(s->out, kind_of(e));
    out_text(s->out, ", tsc: ");
    out_u64(s->out, e->tsc);
    out_text(s->out, ", data: ");
    out_payload(s, e);
    out_text(s->out, " }\n");
}

/* --- Sorting by time. */

static bool comes_before(const struct held_event *a, const struct held_event *b) {
    return a->event.tsc < b->event.tsc || (a->event.tsc == b->event.tsc && a->number < b->number);
}

static void exchange(struct held_event *a, struct held_event *b) {
    const struct held_event kept = *a;
    *a = *b;
    *b = kept;
}

static void hold(struct yaml_state *y, const struct xray_event *event) {
    size_t at = y->nr_held++;
    y->held[at] = (struct held_event){*event, y->came++};
    for (; at > 0 && comes_before(&y->held[at], &y->held[(at - 1) / 2]); at = (at - 1) / 2)
        exchange(&y->held[at], &y->held[(at - 1) / 2]);
}

static void release(struct xray_script *s) {
    struct yaml_state *y = s->yaml;
    out_line(s, &y->held[0].event);
    y->held[0] = y->held[--y->nr_held];
    for (size_t at = 0;;) {
        size_t least = at;
        for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < y->nr_held; child++)
            if (comes_before(&y->held[child], &y->held[least]))
                least = child;
        if (least == at)
            return;
        exchange(&y->held[at], &y->held[least]);
        at = least;
    }
}

/* Events that are not printed also determine the values that later lines repeat. */
static void yaml_see(struct xray_script *s, const struct xray_event *event) {
    struct yaml_thread *thread = &s->yaml->threads[event->thread];
    if (xray_is_call(event))
        thread->function = event->function;
    if (event->kind == TRACE_TYPED_EVENT)
        thread->type = event->type;
}

static void yaml_event(struct xray_script *s, const struct xray_event *event) {
    struct yaml_state *y = s->yaml;
    struct xray_event said = *event;
    said.function = y->threads[event->thread].function;
    said.type = y->threads[event->thread].type;
    if (event->kind == TRACE_ARGUMENT) /* an argument that follows no call */
        return;
    if (y->nr_held == HELD_MOST)
        release(s);
    hold(y, &said);
}

static void yaml_end(struct xray_script *s) {
    struct yaml_state *y = s->yaml;
    while (y->nr_held && s->failed >= 0)
        release(s);
    out_text(s->out, y->any ? "...\n" : "         []\n...\n");
}

static void yaml_free(struct xray_script *s) {
    struct yaml_state *y = s->yaml;
    if (!y)
        return;
    mem_free(s->memory, y->threads, y->threads ? xray_order_facts(s->order)->threads : 0, sizeof *y->threads);
    mem_free(s->memory, y->payload, y->payload_room, 1);
    mem_free(s->memory, y, 1, sizeof *y);
    s->yaml = NULL;
}

const struct xray_script_form xray_yaml_form = {
    .begin = yaml_begin, .event = yaml_event, .end = yaml_end, .see = yaml_see, .free = yaml_free};
