/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes everything around the records (docs/perf-data-format.md, file header and streams):
 *
 *    file     header, ids, attrs | records | feature table, payloads [, late ids, attrs]
 *    stream   header, HEADER_ATTRs, features | records
 *
 * The header of a file is first written with a data size of 0, which means "to the end of the file", and without
 * features. At the end it is written again with the final values.
 */
#include "file/write/writer_front.h"
#include "file/write/deflate.h"
#include "file/write/writer_features.h"
#include "file/write/writer_folder.h"
#include "file/write/writer_part.h"
#include "file/write/writer_records.h"

#include <errno.h>
#include <unistd.h>

#define FILE_HEADER 104u
#define PIPE_HEADER 16u
#define SECTION 16u
#define ATTR_OLDEST 64u
#define MAGIC_LITTLE "PERFILE2"
#define MAGIC_BIG "2ELIFREP"

/* --- Events. */

static uint32_t attr_size_of(const struct pfr_rec_attr *attr) {
    return attr->size ? attr->size : ATTR_OLDEST;
}

/* Gives all attrs of a file the same size: the requested one, else that of the largest attr. */
static void settle_attr_size(pfr_writer *w) {
    w->events.attr_size = w->events.attr_size_asked ? w->events.attr_size_asked : ATTR_OLDEST;
    for (size_t i = 0; i < w->events.count && !w->events.attr_size_asked; i++)
        if (w->events.attr_size < attr_size_of(&w->events.list[i].attr))
            w->events.attr_size = attr_size_of(&w->events.list[i].attr);
}

static struct pfr_context context_of(const pfr_writer *w, const struct pfr_rec_attr *attr) {
    struct pfr_context c = w->context;
    c.word[WORD_SAMPLE] = attr->sample_type;
    c.word[WORD_READ] = attr->read_format;
    c.word[WORD_BRANCH] = attr->branch_sample_type;
    c.word[WORD_REGS_USER] = attr->sample_regs_user;
    c.word[WORD_REGS_INTR] = attr->sample_regs_intr;
    return c;
}

static pfr_status copy_event(pfr_writer *w, struct written_event *e, const uint64_t *ids, pfr_error *err) {
    e->ids = arena_copy(&w->arena, ids, e->nr_ids * sizeof *ids, sizeof *ids);
    if (e->attr.beyond.length)
        e->attr.beyond.at = arena_copy(&w->arena, e->attr.beyond.at, e->attr.beyond.length, 1);
    if (e->ids && (e->attr.beyond.at || !e->attr.beyond.length))
        return PFR_OK;
    pfr_error why;
    mem_fail(&w->memory, &why, "events");
    return writer_failed(w, &why, err);
}

pfr_status pfr_writer_event(pfr_writer *w, const struct pfr_rec_attr *attr, const uint64_t *ids, size_t nr_ids,
                            pfr_error *err) {
    pfr_error why;
    PFR_TRY(writer_stands(w, err));
    if (attr->size > ATTR_MOST)
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "pfr_writer_event",
                        "an attr has at most %u bytes, not %u", ATTR_MOST, attr->size);
    struct written_event *grown =
        mem_grow(&w->memory, w->events.list, w->events.count, &w->events.room, 8, sizeof *w->events.list);
    if (!grown || nr_ids > SIZE_MAX / sizeof *ids) {
        mem_fail(&w->memory, &why, "events");
        return writer_failed(w, &why, err);
    }
    w->events.list = grown;
    struct written_event *e = &w->events.list[w->events.count];
    *e = (struct written_event){*attr, NULL, nr_ids, NO_PLACE, context_of(w, attr)};
    PFR_TRY(copy_event(w, e, ids, err));
    w->events.count++;
    return w->started && w->container == PFR_PIPE ? front_event(w, e, err) : PFR_OK;
}

pfr_status pfr_writer_ids(pfr_writer *w, uint32_t event, const uint64_t *ids, size_t nr_ids, pfr_error *err) {
    pfr_error why;
    PFR_TRY(writer_stands(w, err));
    if (event >= w->events.count || (w->started && w->container == PFR_PIPE))
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "pfr_writer_ids",
                        "event %u does not exist, or the output is a stream, which has ids only at its start", event);
    struct written_event *e = &w->events.list[event];
    uint64_t *all = NULL;
    if (nr_ids <= SIZE_MAX / sizeof *ids - e->nr_ids)
        all = arena_zeroed(&w->arena, e->nr_ids + nr_ids, sizeof *ids);
    if (!all) {
        mem_fail(&w->memory, &why, "events");
        return writer_failed(w, &why, err);
    }
    memcpy(all, e->ids, e->nr_ids * sizeof *ids);
    memcpy(all + e->nr_ids, ids, nr_ids * sizeof *ids);
    e->ids = all;
    e->nr_ids += nr_ids;
    e->ids_at = NO_PLACE;
    w->events.attrs_change |= w->started;
    return PFR_OK;
}

/* Appends the first `size` bytes of an attr to `to`; fields beyond them are left out. */
static pfr_status write_attr(pfr_writer *w, const struct written_event *e, uint32_t size, struct writing *to,
                             pfr_error *err) {
    const uint64_t start = to->used;
    struct pfr_rec_attr attr = e->attr;
    if (size != attr_size_of(&attr))
        attr.beyond = (pfr_bytes){NULL, 0};
    attr.size = size; /* also if it was 0, which means the oldest size: a reader of the attrs would not recognise such
                         an entry */
    PFR_TRY(layout_write(layout_at(L_attr), &w->context, &attr, to, err));
    const uint64_t end = start + size;
    if (to->used > end)
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "attr", "an attr is longer than its size field");
    memset(to->bytes + to->used, 0, (size_t)(end - to->used));
    to->used = end;
    put_u32(to->bytes + start + 4, size, w->context.swap);
    return PFR_OK;
}

pfr_status front_event(pfr_writer *w, struct written_event *e, pfr_error *err) {
    struct writing to = writing_into(w->scratch, RECORD_ROOM);
    to.used = RECORD_HEADER;
    const uint32_t size = w->events.attr_size_asked ? w->events.attr_size_asked : attr_size_of(&e->attr);
    pfr_error why;
    if (write_attr(w, e, size, &to, &why) < 0)
        return writer_failed(w, &why, err);
    if (e->nr_ids > (RECORD_MOST - to.used) / 8) {
        pfr_fail(&why, PFR_ERR_LIMIT, PFR_NO_OFFSET, 0, "header_attr", "%zu ids do not fit the record of an event",
                 e->nr_ids);
        return writer_failed(w, &why, err);
    }
    for (size_t i = 0; i < e->nr_ids; i++, to.used += 8)
        put_u64(to.bytes + to.used, e->ids[i], w->context.swap);
    e->ids_at = 0;
    return record_emit(w, 64, 0, to.used - RECORD_HEADER, err);
}

/* --- Header of a file. */

static void write_bitmap(const pfr_writer *w, uint8_t *at) {
    uint64_t words[4] = {0};
    for (size_t i = 0; i < w->features.count; i++)
        if (w->features.list[i].bit < FEATURES)
            words[w->features.list[i].bit / 64] |= 1ull << w->features.list[i].bit % 64;
    for (size_t i = 0; i < 4; i++)
        put_u64(at + 8 * i, words[i], w->context.swap);
}

static void fill_magic(const pfr_writer *w, uint8_t *bytes, uint64_t size) {
    memcpy(bytes, w->context.mirrored ? MAGIC_BIG : MAGIC_LITTLE, 8);
    put_u64(bytes + 8, size, w->context.swap);
}

static void fill_header(const pfr_writer *w, uint8_t bytes[FILE_HEADER], size_t events, bool whole) {
    const bool swap = w->context.swap;
    memset(bytes, 0, FILE_HEADER);
    fill_magic(w, bytes, FILE_HEADER);
    put_u64(bytes + 16, w->events.attr_size + SECTION, swap);
    put_u64(bytes + 24, w->events.attrs_at, swap);
    put_u64(bytes + 32, events * (w->events.attr_size + SECTION), swap);
    put_u64(bytes + 40, w->data_at, swap);
    put_u64(bytes + 48, whole ? w->data_end - w->data_at : 0, swap);
    if (whole)
        write_bitmap(w, bytes + 72);
}

static void write_ids(pfr_writer *w, struct written_event *e) {
    struct output *out = &w->folder.parts[0].out;
    e->ids_at = out_written(out);
    for (size_t i = 0; i < e->nr_ids; i++) {
        uint8_t id[8];
        put_u64(id, e->ids[i], w->context.swap);
        out_write(out, id, sizeof id);
    }
}

static pfr_status write_entry(pfr_writer *w, const struct written_event *e, pfr_error *err) {
    struct writing to = writing_into(w->scratch, RECORD_ROOM);
    pfr_error why;
    if (write_attr(w, e, w->events.attr_size, &to, &why) < 0)
        return writer_failed(w, &why, err);
    put_u64(to.bytes + to.used, e->ids_at, w->context.swap);
    put_u64(to.bytes + to.used + 8, e->nr_ids * 8, w->context.swap);
    out_write(&w->folder.parts[0].out, to.bytes, (size_t)to.used + SECTION);
    return PFR_OK;
}

/* Writes ids and attrs of all events, except ids that the file already has. */
static pfr_status write_events(pfr_writer *w, pfr_error *err) {
    for (size_t i = 0; i < w->events.count; i++)
        if (w->events.list[i].ids_at == NO_PLACE)
            write_ids(w, &w->events.list[i]);
    w->events.attrs_at = out_written(&w->folder.parts[0].out);
    for (size_t i = 0; i < w->events.count; i++)
        PFR_TRY(write_entry(w, &w->events.list[i], err));
    return PFR_OK;
}

static uint64_t ids_size(const pfr_writer *w) {
    uint64_t size = 0;
    for (size_t i = 0; i < w->events.count; i++)
        size += w->events.list[i].nr_ids * 8;
    return size;
}

static pfr_status front_of_file(pfr_writer *w, pfr_error *err) {
    uint8_t header[FILE_HEADER];
    w->events.attrs_at = FILE_HEADER + ids_size(w);
    w->data_at = w->events.attrs_at + w->events.count * (w->events.attr_size + SECTION);
    w->events.attrs_written = w->events.count;
    fill_header(w, header, w->events.count, false);
    out_write(&w->folder.parts[0].out, header, sizeof header);
    return write_events(w, err);
}

static pfr_status front_of_stream(pfr_writer *w, pfr_error *err) {
    uint8_t header[PIPE_HEADER];
    fill_magic(w, header, PIPE_HEADER);
    out_write(&w->folder.parts[0].out, header, sizeof header);
    for (size_t i = 0; i < w->events.count; i++)
        PFR_TRY(front_event(w, &w->events.list[i], err));
    return features_stream(w, err);
}

pfr_status front_write(pfr_writer *w, pfr_error *err) {
    settle_attr_size(w); /* in a stream each attr may have its own size */
    PFR_TRY(w->container == PFR_PIPE ? front_of_stream(w, err) : front_of_file(w, err));
    return writer_check(w, err);
}

/* --- After the records. */

static void write_table(pfr_writer *w) {
    struct output *out = &w->folder.parts[0].out;
    uint64_t at = out_written(out) + (w->features.count + w->features.spare_slots) * SECTION;
    uint8_t slot[SECTION] = {0};
    for (size_t i = 0; i < w->features.count; i++) {
        put_u64(slot, at, w->context.swap);
        put_u64(slot + 8, w->features.list[i].length, w->context.swap);
        out_write(out, slot, sizeof slot);
        at += w->features.list[i].length;
    }
    memset(slot, 0, sizeof slot);
    for (uint32_t i = 0; i < w->features.spare_slots; i++)
        out_write(out, slot, sizeof slot);
    for (size_t i = 0; i < w->features.count; i++)
        out_write(out, w->features.list[i].bytes, w->features.list[i].length);
}

/* Overwrites the header with the final values. */
static pfr_status rewrite_header(pfr_writer *w, pfr_error *err) {
    uint8_t header[FILE_HEADER];
    pfr_error why;
    size_t done = 0;
    fill_header(w, header, w->events.count, true);
    out_flush(&w->folder.parts[0].out, NULL);
    PFR_TRY(writer_check(w, err));
    while (done < sizeof header) {
        const ssize_t n = pwrite(w->folder.parts[0].out.fd, header + done, sizeof header - done, (off_t)done);
        if (n > 0)
            done += (size_t)n;
        else if (n == 0 || errno != EINTR)
            break;
    }
    if (done == sizeof header)
        return PFR_OK;
    pfr_fail_errno(&why, errno, "write", w->name);
    why.status = PFR_ERR_IO;
    return writer_failed(w, &why, err);
}

pfr_status back_write(pfr_writer *w, pfr_error *err) {
    pfr_error why;
    if (w->container == PFR_DIRECTORY && w->folder.nr_parts == 1 &&
        folder_part(w, 1, &why) < 0) /* perf requires at least one data.N */
        return writer_failed(w, &why, err);
    for (w->folder.part = 0; w->folder.part < w->folder.nr_parts; w->folder.part++) {
        PFR_TRY(deflate_flush(w, err));
        out_flush(&part_of(w)->out, NULL);
        PFR_TRY(writer_check(w, err));
    }
    w->folder.part = 0;
    PFR_TRY(features_last(w, err));
    if (w->container == PFR_PIPE)
        return writer_check(w, err);
    if (out_written(&w->folder.parts[0].out) == w->data_at) /* because a data size of 0 would mean an unfinished file */
        PFR_TRY(record_emit(w, PFR_RECORD_FINISHED_ROUND, 0, 0, err));
    w->data_end = out_written(&w->folder.parts[0].out);
    write_table(w);
    if (w->events.count > w->events.attrs_written || w->events.attrs_change) {
        settle_attr_size(w);
        PFR_TRY(write_events(w, err));
    }
    return rewrite_header(w, err);
}
