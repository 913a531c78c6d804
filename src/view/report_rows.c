/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Leaves to rows: names last, once. Each distinct (object, offset) is looked up once, object by object, so that an
 * object is opened once; leaves whose texts are equal become one row.
 */
#include "view/report_parts.h"

#include "base/cursor.h"
#include "base/descriptor.h"
#include "base/fail.h"
#include "symbol/demangle.h"
#include "symbol/symbol_source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define NOTES_ROOM 4096
#define NOTE_BUILD_ID 3u
#define UNKNOWN "[unknown]"

struct naming {
    struct report *report;
    struct demangler demangler;
    const struct symbol_source *source;
    struct symbol_handle *handle; /* of the object at hand */
    uint32_t object;
    bool open;
};

/* The running kernel's notes; 0 bytes: none are to be had. */
static size_t read_notes(uint8_t notes[NOTES_ROOM]) {
    const int fd = descriptor_open(AT_FDCWD, "/sys/kernel/notes", O_RDONLY, 0);
    size_t length = 0;
    ssize_t got = fd < 0 ? 0 : 1;
    while (got != 0 && length < NOTES_ROOM) {
        got = read(fd, notes + length, NOTES_ROOM - length);
        if (got < 0 && errno != EINTR)
            break;
        length += got > 0 ? (size_t)got : 0;
    }
    if (fd >= 0)
        close(fd);
    return length;
}

/* Whether the running kernel is the one recorded: its addresses then mean the same. */
static bool kernel_is_running(const struct object *o) {
    uint8_t notes[NOTES_ROOM];
    const size_t got = o->build_id_size == 0 ? 0 : read_notes(notes);
    struct cursor in = cursor_on(notes, got, 0, false);
    uint32_t name_size, size, type;
    const uint8_t *name, *id;
    while (take_u32(&in, &name_size) && take_u32(&in, &size) && take_u32(&in, &type)) {
        if (!take_bytes(&in, ((uint64_t)name_size + 3) & ~3ull, &name) ||
            !take_bytes(&in, ((uint64_t)size + 3) & ~3ull, &id))
            break;
        if (type == NOTE_BUILD_ID && size == o->build_id_size && memcmp(id, o->build_id, size) == 0)
            return true;
    }
    return false;
}

/* Which source can name this object, and under which path; NULL: none. */
static const struct symbol_source *choose_source(const struct naming *n, const struct object *o,
                                                 struct symbol_object *wanted, char map[64]) {
    const pfr_report_options *options = n->report->options;
    wanted->path = intern_chars(&n->report->state.names, o->path);
    wanted->symfs = options->symfs;
    wanted->build_id = o->build_id;
    wanted->build_id_size = o->build_id_size;
    if (o->kind == OBJECT_FILE)
        return wanted->kind = SYMBOL_USER, &elf_symbol_source;
    if (o->kind == OBJECT_KERNEL || o->kind == OBJECT_MODULE) {
        if (!options->kallsyms && !kernel_is_running(o))
            return NULL;
        *wanted = (struct symbol_object){.kind = SYMBOL_KERNEL,
                                         .path = options->kallsyms ? options->kallsyms : "/proc/kallsyms"};
        return &kallsyms_symbol_source;
    }
    if (o->kind == OBJECT_ANONYMOUS) {
        snprintf(map, 64, "/tmp/perf-%u.map", o->pid);
        *wanted = (struct symbol_object){.kind = SYMBOL_JIT, .path = map, .owner = (uint32_t)getuid()};
        return &perf_map_symbol_source;
    }
    return NULL;
}

static void open_object(struct naming *n, uint32_t object) {
    struct symbol_object wanted = {0};
    char map[64];
    if (n->open && n->handle)
        n->source->close(n->handle);
    n->handle = NULL;
    n->open = true;
    n->object = object;
    if (object == NO_OBJECT || n->report->options->no_symbols)
        return;
    n->source = choose_source(n, &n->report->state.objects.at[object], &wanted, map);
    if (n->source && n->source->open(&wanted, n->report->memory, &n->handle) != SYMBOL_FOUND)
        n->handle = NULL;
}

static bool find_symbol(struct naming *n, const struct leaf *leaf, struct symbol *symbol) {
    uint64_t address = leaf->offset;
    if (!n->open || n->object != leaf->object)
        open_object(n, leaf->object);
    if (!n->handle)
        return false;
    const struct symbol_segments segments = n->source->segments(n->handle);
    if (segments.count && !segments_to_address(segments, leaf->offset, &address))
        return false;
    return n->source->find(n->handle, address, symbol) == SYMBOL_FOUND;
}

/* The symbol as people write it, or its address in `made`; NULL: there was no memory to find out. */
static const char *leaf_name(struct naming *n, const struct leaf *leaf, char made[24]) {
    struct memory *memory = n->report->memory;
    struct symbol symbol;
    const char *name = made;
    memory->failed = PFR_OK;
    if (find_symbol(n, leaf, &symbol)) {
        const char *plain = demangle(&n->demangler, symbol.name, 0);
        name = plain ? plain : symbol.name;
    } else {
        snprintf(made, 24, "0x%016llx", (unsigned long long)leaf->offset);
    }
    return memory->failed == PFR_ERR_MEMORY ? NULL : name;
}

/* "[.] main", "[k] schedule", or the address where there is no name: as perf prints it. */
static pfr_status symbol_text(struct naming *n, const struct leaf *leaf, uint32_t *text, pfr_error *err) {
    struct state *s = &n->report->state;
    struct memory *memory = n->report->memory;
    const uint8_t kind = leaf->object == NO_OBJECT ? OBJECT_OTHER : s->objects.at[leaf->object].kind;
    const bool kernel = kind == OBJECT_KERNEL || kind == OBJECT_MODULE;
    char made[24];
    const char *name = leaf_name(n, leaf, made);
    const size_t length = name ? strlen(name) : 0;
    char *whole = name ? mem_alloc(memory, length + 4, 1) : NULL;
    if (!whole)
        return mem_fail(memory, err, "symbol");
    memcpy(whole, kernel ? "[k] " : "[.] ", 4);
    memcpy(whole + 4, name, length);
    const pfr_status st = intern_put(&s->names, whole, length + 4, text, err);
    mem_free(memory, whole, length + 4, 1);
    return st;
}

static pfr_status number_text(struct report *r, uint32_t number, uint32_t *text, pfr_error *err) {
    char made[16];
    const int length = snprintf(made, sizeof made, "%d", (int)number);
    return intern_put(&r->state.names, made, (size_t)length, text, err);
}

static pfr_status name_leaf(struct naming *n, const struct leaf *leaf, struct row *row, pfr_error *err) {
    struct report *r = n->report;
    if (r->wants[KEY_COMM])
        row->text[KEY_COMM] = leaf->comm;
    if (r->wants[KEY_DSO] && leaf->object == NO_OBJECT)
        PFR_TRY(intern_put(&r->state.names, UNKNOWN, strlen(UNKNOWN), &row->text[KEY_DSO], err));
    else if (r->wants[KEY_DSO])
        row->text[KEY_DSO] = r->state.objects.at[leaf->object].short_name;
    if (r->wants[KEY_PID])
        PFR_TRY(number_text(r, leaf->pid, &row->text[KEY_PID], err));
    if (r->wants[KEY_TID])
        PFR_TRY(number_text(r, leaf->tid, &row->text[KEY_TID], err));
    return r->wants[KEY_SYM] ? symbol_text(n, leaf, &row->text[KEY_SYM], err) : PFR_OK;
}

static int by_object(const void *a, const void *b, void *context) {
    const struct report *r = context;
    const struct leaf *x = (const void *)intern_get(&r->leaves.keys, *(const uint32_t *)a).bytes;
    const struct leaf *y = (const void *)intern_get(&r->leaves.keys, *(const uint32_t *)b).bytes;
    struct leaf p, q;
    memcpy(&p, x, sizeof p);
    memcpy(&q, y, sizeof q);
    if (p.object != q.object)
        return p.object < q.object ? -1 : 1;
    return (p.offset > q.offset) - (p.offset < q.offset);
}

static pfr_status name_leaves(struct report *r, const uint32_t *leaves, pfr_error *err) {
    struct naming n = {.report = r};
    pfr_status st = PFR_OK;
    demangler_init(&n.demangler, r->memory);
    for (uint32_t i = 0; i < r->leaves.keys.count && st >= 0; i++) {
        struct leaf leaf;
        memcpy(&leaf, intern_get(&r->leaves.keys, leaves[i]).bytes, sizeof leaf);
        struct row row = {.event = leaf.event};
        st = name_leaf(&n, &leaf, &row, err);
        if (st >= 0)
            st = tally_add(&r->rows, &row, sizeof row, r->leaves.counts[leaves[i]], err);
    }
    if (n.handle)
        n.source->close(n.handle);
    demangler_free(&n.demangler);
    return st;
}

/* By event, then heaviest first, then by text, so that the order never depends on how rows came about. */
static int by_weight(const void *a, const void *b, void *context) {
    const struct report *r = context;
    const uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
    struct row x, y;
    memcpy(&x, intern_get(&r->rows.keys, i).bytes, sizeof x);
    memcpy(&y, intern_get(&r->rows.keys, j).bytes, sizeof y);
    if (x.event != y.event)
        return x.event < y.event ? -1 : 1;
    if (r->rows.counts[i].weight != r->rows.counts[j].weight)
        return r->rows.counts[i].weight > r->rows.counts[j].weight ? -1 : 1;
    for (unsigned k = 0; k < r->nr_sort; k++) {
        const int order = strcmp(intern_chars(&r->state.names, x.text[r->sort[k]]),
                                 intern_chars(&r->state.names, y.text[r->sort[k]]));
        if (order)
            return order;
    }
    return 0;
}

static uint32_t *make_order(struct report *r, uint32_t count, int (*compare)(const void *, const void *, void *)) {
    uint32_t *order = mem_alloc(r->memory, count, sizeof *order);
    for (uint32_t i = 0; order && i < count; i++)
        order[i] = i;
    if (order)
        qsort_r(order, count, sizeof *order, compare, r);
    return order;
}

pfr_status report_rows(struct report *r, pfr_error *err) {
    const uint32_t count = r->leaves.keys.count;
    uint32_t *leaves = make_order(r, count, by_object);
    if (!leaves)
        return mem_fail(r->memory, err, "report");
    const pfr_status st = name_leaves(r, leaves, err);
    mem_free(r->memory, leaves, count, sizeof *leaves);
    PFR_TRY(st);
    r->order = make_order(r, r->rows.keys.count, by_weight);
    return r->order ? PFR_OK : mem_fail(r->memory, err, "report");
}
