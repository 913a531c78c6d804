/* SPDX-License-Identifier: Apache-2.0 */
/* The flame graph as a sink. This file names the frames; the boxes are computed by draw/geometry.c; the SVG is written
   by draw/svg.c. */
#include "base/text/escape.h"
#include "base/memory/fail.h"
#include "export/draw/svg.h"
#include "file/read/next.h"

#include <perfray/flame.h>

#include <stdio.h>

#define WIDTH 1200u
#define WIDTH_LEAST 200u
#define WIDTH_MOST 100000u
#define NARROW 0.3

static bool is_mapped(const struct rtf_object *o) {
    return o->kind == RTF_MAPPED;
}

/* The first object of a process is its program. A forked process has no objects of its own; it gets the program's name
 * if all objects of the trace belong to one process. NULL: unknown. */
static const struct rtf_object *program_of(const struct recorder_notes *notes, uint32_t pid) {
    const struct rtf_object *first = NULL;
    bool is_only = true;
    for (size_t i = 0; i < notes->nr_objects; i++) {
        const struct rtf_object *const o = &notes->objects[i];
        if (is_mapped(o) && o->pid == pid)
            return o;
        first = first || !is_mapped(o) ? first : o;
        is_only = is_only && (!is_mapped(o) || o->pid == first->pid);
    }
    return is_only ? first : NULL;
}

static void write_program(const struct rtf_object *program, struct output *to) {
    const char *const slash = program ? strrchr(program->path, '/') : NULL;
    if (!program)
        return;
    out_text(to, slash ? slash + 1 : program->path);
    out_text(to, ", ");
}

/* Unnamed threads are ":TID" in tables; an SVG has room for "thread TID". */
static bool is_unnamed(const struct intern_text *comm) {
    for (uint32_t i = 1; i < comm->length; i++)
        if (comm->bytes[i] < '0' || comm->bytes[i] > '9')
            return false;
    return comm->length > 1 && comm->bytes[0] == ':';
}

static void name_group(const void *exporting, const struct profile_group *group, struct output *to) {
    const struct exporting *e = exporting;
    const struct intern_text comm = comm_of(e, group);
    if (!is_unnamed(&comm)) {
        out_write(to, comm.bytes, comm.length);
        return;
    }
    if (!profile_measure(e->reader)->has_comms)
        write_program(program_of(&e->notes, (uint32_t)profile_value(e->profile, group, PROFILE_PID)), to);
    out_text(to, "thread ");
    out_write(to, comm.bytes + 1, comm.length - 1);
}

static pfr_status loaded(struct exporting *e, pfr_error *err) {
    return profile_measure(e->reader)->has_comms ? PFR_OK : recorder_notes_read(e->reader, e->memory, &e->notes, err);
}

static bool folds_run(const void *exporting, const struct profile_frame *frame) {
    (void)exporting;
    return frame->text == NO_TEXT;
}

/* The name comes first, so that boxes are sorted by name. A NUL ends the name: names contain no NUL. */
static void name_frame(const void *exporting, const struct profile_frame *frame, struct output *to) {
    static const char kinds[] = {[FRAME_USER] = 'u', [FRAME_KERNEL] = 'k', [FRAME_UNNAMED] = 'n'};
    const struct exporting *e = exporting;
    const size_t before = to->used;
    write_frame_name(e, frame, to);
    for (size_t i = before; i < to->used; i++)
        to->buffer[i] = to->buffer[i] ? to->buffer[i] : ' ';
    out_char(to, '\0');
    out_char(to, kinds[frame_kind_of(e, frame)]);
    write_object_name(e, frame->object, to);
}

/* Writes "cpu-clock, 1024 samples, perf.data". The event is named only if there is exactly one. */
static void write_subtitle(const struct exporting *e, const struct geometry *g, struct output *to) {
    const pfr_flame_options *options = e->options;
    const pfr_event *event = NULL;
    uint32_t events = 0;
    for (uint32_t i = 0; i < e->profile->nr_events; i++)
        if (e->profile->totals[i].samples && events++ == 0)
            event = profile_event(e->reader, i);
    if (events == 1)
        out_text(to, event->name);
    else
        out_u64(to, events);
    out_text(to, events == 1 ? ", " : " events, ");
    svg_counted(e, g->whole, to);
    if (options->subject) {
        out_text(to, ", ");
        out_text(to, options->subject);
    }
    out_char(to, '\0');
}

static pfr_status draw(struct exporting *e, const struct geometry *g, pfr_error *err) {
    const pfr_flame_options *options = e->options;
    struct output subtitle;
    out_open_memory(&subtitle, e->memory);
    write_subtitle(e, g, &subtitle);
    const struct picture picture = {.e = e,
                                    .geometry = g,
                                    .title = options->title ? options->title : "Flame graph",
                                    .subtitle = subtitle.buffer,
                                    .width = options->width ? options->width : WIDTH,
                                    .fixed = options->width != 0,
                                    .upward = options->upward};
    const pfr_status st = subtitle.status < 0 ? mem_fail(e->memory, err, "picture") : PFR_OK;
    if (st >= 0)
        e->cut_frames = svg_write(&picture, &e->to->out);
    out_close(&subtitle, NULL);
    return st < 0 ? st : e->to->out.status < 0 ? out_flush(&e->to->out, err) : PFR_OK;
}

static pfr_status end(struct exporting *e, pfr_error *err) {
    const pfr_flame_options *options = e->options;
    const double least = options->min_width > 0 ? options->min_width : NARROW;
    struct geometry g;
    PFR_TRY(stacks_total(&e->stacks, err));
    pfr_status st = geometry_make(&g, &e->stacks, e->by_weight, least / (options->width ? options->width : WIDTH), err);
    if (st >= 0)
        st = draw(e, &g, err);
    geometry_free(&g);
    return st;
}

const struct sink_type sink_flame = {
    .format = {"flame", ".svg", "a flame graph", false},
    .hidden = true,
    .sums_events = true,
    .state_size = 1,
    .keys_of_traces = PROFILE_BIT(PROFILE_PID),
    .loaded = loaded,
    .folds_run = folds_run,
    .name_group = name_group,
    .name_frame = name_frame,
    .end = end,
};

pfr_status pfr_flame(pfr_reader *reader, const pfr_flame_options *options, pfr_output *out, pfr_error *err) {
    struct exporting e = {.sink = &sink_flame, .of = options->of, .options = options, .reader = reader, .to = out};
    if (options->width && (options->width < WIDTH_LEAST || options->width > WIDTH_MOST))
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "width", "the width must be 200 to 100000 pixels");
    return export_run(&e, options->path, err);
}
