/* SPDX-License-Identifier: Apache-2.0 */
/* The flame graph as a sink: frames by name and object, boxes by draw/geometry.c, the picture by draw/svg.c. */
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

static void name_group(const void *exporting, const struct profile_group *group, struct output *to) {
    const struct intern_text comm = comm_of(exporting, group);
    out_write(to, comm.bytes, comm.length);
}

/* Its name first, so that boxes stand by name. No name holds NUL. */
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

/* "cpu-clock, 1024 samples, perf.data": the event where there is one. */
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
                                    .inverted = options->inverted};
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
    .name_group = name_group,
    .name_frame = name_frame,
    .end = end,
};

pfr_status pfr_flame(pfr_reader *reader, const pfr_flame_options *options, pfr_output *out, pfr_error *err) {
    struct exporting e = {.sink = &sink_flame, .of = options->of, .options = options, .reader = reader, .to = out};
    if (options->width && (options->width < WIDTH_LEAST || options->width > WIDTH_MOST))
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "width", "a picture is 200 to 100000 pixels wide");
    return export_run(&e, options->path, err);
}
