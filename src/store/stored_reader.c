/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A reader for the selected rows: a recording in memory without records, with the events of the rows. Views get events,
 * features and quality from the reader as from a file, and everything else from `stored`.
 */
#include "model/calls/calls.h"
#include "store/stored_rows.h"

#include "file/read/recording.h"

#include <perfray/writer.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { TYPE_SOFTWARE = 1, DUMMY = 9 };

#define SAMPLES_HOLD (PFR_SAMPLE_IP | PFR_SAMPLE_TID | PFR_SAMPLE_TIME | PFR_SAMPLE_PERIOD)

void stored_close(struct stored_source *source) {
    struct stored *s = (struct stored *)(void *)source;
    struct id_list *const lists[] = {&s->event_ids, &s->comm_ids, &s->stack_ids, &s->frame_ids, &s->object_ids};
    struct memory *m = &s->memory;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        id_list_close(lists[i], m);
    mem_free(m, s->events, s->nr_events, sizeof *s->events);
    mem_free(m, s->comms, s->nr_comms, sizeof *s->comms);
    mem_free(m, s->objects, s->nr_objects, sizeof *s->objects);
    mem_free(m, s->frames, s->nr_frames, sizeof *s->frames);
    mem_free(m, s->stacks, s->nr_stacks, sizeof *s->stacks);
    mem_free(m, s->rows, s->rows_room, sizeof *s->rows);
    mem_free(m, s->costs, s->costs_room, sizeof *s->costs);
    store_uploads_free(&s->uploads);
    u64_map_free(&s->upload_of);
    arena_free(&s->arena);
    struct memory memory = s->memory;
    mem_free(&memory, s, 1, sizeof *s);
}

struct stored_sums stored_sum(const pfr_reader *reader) {
    const struct stored *s = (const struct stored *)(const void *)reader->stored;
    struct stored_sums sums = {.rows = s->nr_read};
    for (size_t i = 0; i < s->nr_rows; i++) {
        sums.n += s->rows[i].n;
        sums.weight += s->rows[i].weight;
    }
    return sums;
}

static pfr_status write_events(const struct stored *s, pfr_writer *w, pfr_error *err) {
    for (uint32_t i = 1; i <= s->event_ids.count; i++) {
        struct pfr_rec_attr attr = {.type = TYPE_SOFTWARE, .config = DUMMY, .sample_type = SAMPLES_HOLD};
        if (s->events[i].chains)
            attr.sample_type |= PFR_SAMPLE_CALLCHAIN;
        PFR_TRY(pfr_writer_event(w, &attr, NULL, 0, err));
    }
    return pfr_writer_finish(w, err);
}

static pfr_reader *open_empty(const struct stored *s, const pfr_limits *limits, pfr_error *err) {
    const pfr_open_options how = {.size = sizeof how, .alloc = &s->memory.alloc, .limits = limits};
    const int fd = memfd_create("perfray-store", MFD_CLOEXEC);
    if (fd < 0) {
        pfr_fail(err, PFR_ERR_IO, PFR_NO_OFFSET, 0, "store", "cannot make a file in memory");
        return NULL;
    }
    pfr_writer *w = pfr_writer_open_fd(fd, false, "store", NULL, err);
    const pfr_status st = w ? write_events(s, w, err) : PFR_ERR_IO;
    pfr_writer_close(w);
    if (st >= 0 && lseek(fd, 0, SEEK_SET) == 0)
        return reader_open_fd(fd, "store", &how, err);
    close(fd);
    return NULL;
}

static pfr_status name_events(const struct stored *s, pfr_reader *r, pfr_error *err) {
    for (uint32_t i = 0; i < s->event_ids.count && i < r->events.count; i++) {
        const struct stored_event *e = &s->events[i + 1];
        const char *const name = arena_text(&r->arena, e->name, strlen(e->name));
        const char *const unit = arena_text(&r->arena, e->unit, strlen(e->unit));
        if (!name || !unit)
            return mem_fail(&r->memory, err, "store");
        r->events.list[i].public.name = name;
        r->events.list[i].public.rebuilt = name;
        r->events.list[i].public.unit = *unit ? unit : NULL;
        r->events.list[i].public.scale = 1; /* weights already have this unit */
    }
    return PFR_OK;
}

pfr_reader *stored_reader_open(struct stored *s, const pfr_limits *limits, pfr_error *err) {
    pfr_reader *r = open_empty(s, limits, err);
    if (!r) {
        stored_close(&s->source);
        return NULL;
    }
    r->stored = &s->source;
    r->header.cycle_frequency = s->source.traced ? s->frequency : 0;
    if (name_events(s, r, err) >= 0)
        return r;
    pfr_close(r);
    return NULL;
}

uint64_t stored_amount(const struct stored *d, const struct stored_row *row) {
    return d->mixed ? calls_ns(row->weight, d->events[row->event].frequency) : row->weight;
}
