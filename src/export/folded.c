/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes folded stacks: one line per stack, outermost function first, then a blank and the stack's number of samples,
 * or its weight.
 *
 *     busy;main;scramble 1024
 *
 * The line of a node consists of its parent's line and its own name, so the common prefix is kept and not built again.
 *
 * After the budget for long lines is used up (stack_fits), a line longer than STACK_BYTES is cut: it ends with the last
 * name that fits and a frame [limit]. Lines cut at the same node are merged. The names after the cut are not even
 * formatted, because this would take time proportional to the square of the depth.
 */
#include "export/sink.h"

#include "base/text/escape.h"
#include "base/memory/fail.h"

struct folded {
    struct output line;
    size_t *ends; /* end of each name in the line, by depth */
    uint32_t levels;
    uint32_t fitting;    /* number of the line's names that fit in STACK_BYTES */
    uint32_t cut_at;     /* number of names that the most recently cut stacks have in common */
    uint64_t cut_weight; /* total weight of these stacks; 0: no such stacks */
};

/* Writes a name, and replaces characters that would end the name or the line. */
static void write_part(const struct exporting *e, const char *bytes, size_t length, struct output *to) {
    const size_t before = to->used;
    if (e->to->raw_names)
        out_write(to, bytes, length);
    else
        out_escaped(to, bytes, length);
    for (size_t i = before; i < to->used; i++)
        to->buffer[i] = to->buffer[i] == ';'                             ? ':'
                        : to->buffer[i] == '\n' || to->buffer[i] == '\r' ? ' '
                                                                         : to->buffer[i];
}

static void name_group(const void *exporting, const struct profile_group *group, struct output *to) {
    const struct exporting *e = exporting;
    const struct intern_text comm = comm_of(e, group);
    write_part(e, (const char *)comm.bytes, comm.length, to);
}

static void name_frame(const void *exporting, const struct profile_frame *frame, struct output *to) {
    const struct exporting *e = exporting;
    const pfr_export_options *options = e->options;
    struct output name;
    size_t length;
    out_open_memory(&name, e->memory);
    write_frame_name(e, frame, &name);
    const char *bytes = out_bytes(&name, &length);
    write_part(e, length ? bytes : "", length, to);
    if (out_close(&name, NULL) < 0)
        to->status = e->memory->failed;
    if (options->mark_kernel && frame_kind_of(e, frame) == FRAME_KERNEL)
        out_text(to, "_[k]");
}

static pfr_status begin(struct exporting *e, pfr_error *err) {
    struct folded *f = e->state;
    out_open_memory(&f->line, e->memory);
    f->levels = e->stacks.levels;
    f->ends = mem_zeroed(e->memory, f->levels, sizeof *f->ends);
    return f->ends ? PFR_OK : mem_fail(e->memory, err, "export");
}

static void write_line(const struct exporting *e, size_t length, const char *last, uint64_t weight) {
    const struct folded *f = e->state;
    out_write(&e->to->out, f->line.buffer, length);
    out_text(&e->to->out, last);
    out_char(&e->to->out, ' ');
    out_u64(&e->to->out, amount_of(e, weight));
    out_char(&e->to->out, '\n');
}

/* `line` still contains the names that the cut stacks have in common. */
static void write_cut(const struct exporting *e) {
    struct folded *f = e->state;
    if (f->cut_weight)
        write_line(e, f->cut_at ? f->ends[f->cut_at - 1] : 0, f->cut_at ? ";[limit]" : "[limit]", f->cut_weight);
    f->cut_weight = 0;
}

static void cut(struct exporting *e, uint64_t weight) {
    struct folded *f = e->state;
    if (f->cut_at != f->fitting)
        write_cut(e);
    f->cut_at = f->fitting;
    f->cut_weight += weight;
    e->cut_stacks++;
}

static pfr_status add_name(struct folded *f, const struct intern_text *name, uint32_t depth, pfr_error *err) {
    f->line.used = depth ? f->ends[depth - 1] : 0;
    if (depth)
        out_char(&f->line, ';');
    out_write(&f->line, name->bytes, name->length);
    f->ends[depth] = f->line.used;
    return f->line.status < 0 ? out_flush(&f->line, err) : PFR_OK;
}

/* Whether the complete line of a node fits in STACK_BYTES. */
static bool is_short(struct folded *f, const struct intern_text *name, uint32_t depth) {
    if (depth > f->fitting)
        return false;
    const size_t begin = depth ? f->ends[depth - 1] + 1 : 0;
    const bool fits = name->length <= STACK_BYTES && begin + name->length <= STACK_BYTES;
    f->fitting = depth + fits;
    return fits;
}

static pfr_status visit(struct exporting *e, uint32_t node, uint32_t depth, pfr_error *err) {
    struct folded *f = e->state;
    const struct intern_text name = label_bytes(depth ? &e->stacks.frames : &e->stacks.groups, e->stacks.label[node]);
    const uint64_t weight = weight_of(e, node_weight(&e->stacks.self, node));
    if (depth < f->cut_at)
        write_cut(e);
    if (!is_short(f, &name, depth) && !e->room_left) {
        if (amount_of(e, weight))
            cut(e, weight);
        return e->to->out.status < 0 ? out_flush(&e->to->out, err) : PFR_OK;
    }
    PFR_TRY(add_name(f, &name, depth, err));
    if (amount_of(e, weight) && stack_fits(e, f->line.used))
        write_line(e, f->line.used, "", weight);
    else if (amount_of(e, weight))
        cut(e, weight);
    return e->to->out.status < 0 ? out_flush(&e->to->out, err) : PFR_OK;
}

static pfr_status end(struct exporting *e, pfr_error *err) {
    write_cut(e);
    return e->to->out.status < 0 ? out_flush(&e->to->out, err) : PFR_OK;
}

static void clear(struct exporting *e) {
    struct folded *f = e->state;
    mem_free(e->memory, f->ends, f->levels, sizeof *f->ends);
    if (f->line.memory)
        out_close(&f->line, NULL);
}

const struct sink_type sink_folded = {
    .format = {.name = "folded",
               .suffix = ".folded",
               .about = "a line for each stack, for flame graph tools",
               .reader = "flamegraph.pl, speedscope, Firefox Profiler",
               .losses = "threads, times, CPUs, objects, addresses, lost records"},
    .sums_events = true,
    .state_size = sizeof(struct folded),
    .name_group = name_group,
    .name_frame = name_frame,
    .begin = begin,
    .visit = visit,
    .end = end,
    .clear = clear,
};
