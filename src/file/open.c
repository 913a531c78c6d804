/* SPDX-License-Identifier: Apache-2.0 */
/* Opens a recording: determines its kind from the first bytes, then reads header, attrs and feature table of a file. A
   file compressed with gzip, xz or zstd is first decompressed into an unlinked file, because reading a file needs
   seeks. */
#include "base/memory/bounds.h"
#include "base/io/descriptor.h"
#include "base/io/scratch.h"
#include "file/read/event_names.h"
#include "file/read/events.h"
#include "file/read/features.h"
#include "file/read/inflate.h"
#include "file/read/plausible_record.h"
#include "file/read/repair_events.h"
#include "file/read/repair_header.h"
#include "file/read/stored.h"
#include "file/recording_folder.h"
#include "file/xray/xray_next.h"
#include "file/xray/xray_open.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define OTHER_FORM_HEAD 4096u /* bytes needed to recognise another format: see reader_open_or */
#define MAGIC 8u
#define PIPE_HEADER 16u
#define OLD_HEADER 72u
#define FILE_HEADER 104u
#define FIRST_USER_TYPE 64u
#define EVENTS_MOST 65536u

static const bool host_big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;

static void set_order(pfr_reader *r, bool big) {
    r->header.big_endian = big;
    r->context.swap = big != host_big;
    r->context.mirrored = big;
}

/* The old magic PERFFILE does not show the byte order; the size of an attr entry does, because only a few sizes
   exist. */
static bool old_order(pfr_reader *r, const uint8_t *bytes, size_t have) {
    static const uint64_t sizes[] = {80, 88, 96, 112, 120};
    for (int big = 0; big < 2; big++) {
        const bool swap = big != host_big;
        const uint64_t size = load_u64(bytes + 8, swap), attr_size = have >= 24 ? load_u64(bytes + 16, swap) : 0;
        bool fits = size == PIPE_HEADER;
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
            fits = fits || attr_size == sizes[i];
        if (fits) {
            set_order(r, big);
            return true;
        }
    }
    return false;
}

/* A stream begins with a record of a user type, usually HEADER_ATTR. */
static bool looks_like_stream(const pfr_reader *r, const uint8_t *bytes, size_t have) {
    if (have < PIPE_HEADER + RECORD_HEADER)
        return false;
    const uint32_t type = load_u32(bytes + PIPE_HEADER, r->context.swap);
    return type >= FIRST_USER_TYPE && type < TYPE_RULES && r->events.rules[type].layout &&
           load_u16(bytes + PIPE_HEADER + 4, r->context.swap) == 0 &&
           load_u16(bytes + PIPE_HEADER + 6, r->context.swap) >= RECORD_HEADER;
}

/* A recording with a damaged magic is accepted if the header size and the data after it are plausible. */
static bool looks_like_recording(pfr_reader *r, const uint8_t *bytes, size_t have) {
    if (have < PIPE_HEADER + RECORD_HEADER)
        return false;
    for (int big = 0; big < 2; big++) {
        set_order(r, big);
        const uint64_t size = load_u64(bytes + 8, r->context.swap), entry = load_u64(bytes + 16, r->context.swap);
        if (size == PIPE_HEADER ? looks_like_stream(r, bytes, have)
                                : size == FILE_HEADER && entry >= 80 && entry <= 512 && entry % 8 == 0)
            return true;
    }
    return false;
}

static const struct reader_kind xray_reader = {xray_next, xray_rewind, xray_share, xray_close};

static pfr_status recognise(pfr_reader *r, const uint8_t *bytes, size_t have, pfr_error *err) {
    pfr_status s;
    if (have >= PIPE_HEADER && memcmp(bytes, "PERFILE2", MAGIC) == 0)
        return set_order(r, false), r->header.version = 2, PFR_OK;
    if (have >= PIPE_HEADER && memcmp(bytes, "2ELIFREP", MAGIC) == 0)
        return set_order(r, true), r->header.version = 2, PFR_OK;
    if (have >= PIPE_HEADER && memcmp(bytes, "PERFFILE", MAGIC) == 0 && old_order(r, bytes, have))
        return r->header.version = 1, PFR_OK;
    if (have == 0)
        return pfr_fail(err, PFR_ERR_FORMAT, 0, 0, "", "the file is empty");
    if (looks_like_recording(r, bytes, have)) {
        found(r, 0, MAGIC, "file_header.magic", "the magic is wrong, but a recording follows it");
        return r->header.version = 2, PFR_OK;
    }
    PFR_TRY(s = xray_recognise(r, bytes, have, err));
    r->kind = s == PFR_END ? NULL : &xray_reader;
    if (s == PFR_OK)
        return PFR_OK;
    return pfr_fail(err, PFR_ERR_FORMAT, 0, have < MAGIC ? have : MAGIC, "file_header.magic",
                    "not a recording: it does not start like a perf.data file, a perf.data stream or an XRay trace");
}

static pfr_status read_header(pfr_reader *r, struct pfr_rec_file_header *h, pfr_error *err) {
    uint8_t bytes[FILE_HEADER];
    size_t got = 0;
    PFR_TRY(input_read_at(&r->parts[0].in, 0, bytes, sizeof bytes, &got, err));
    const uint64_t size = load_u64(bytes + 8, r->context.swap);
    const size_t least = size == OLD_HEADER ? OLD_HEADER : FILE_HEADER;
    if (got < least)
        return pfr_fail(err, PFR_ERR_FORMAT, got, least - got, "file_header", "the file ends within its header");
    bool swap;
    const bool other_order = mend_order(r, bytes, &swap), big = r->header.big_endian;
    set_order(r, swap != host_big);
    struct cursor in = cursor_on(bytes, least, 0, swap);
    PFR_TRY(layout_read(layout_at(L_file_header), &r->context, &in, h, err));
    r->header.data_size_said = h->data.size;
    if (least == FILE_HEADER)
        features_bitmap(r, h->features.at);
    set_order(r, big != other_order);
    return mend_header(r, h, err);
}

/* No byte of a file may be part of the ids of two events. An event whose ids would raise the total size above that of
   the file gets no ids. So the file size bounds the memory for ids; otherwise the bound would be the file size times
   the number of attrs. */
static void drop_shared_ids(pfr_reader *r, uint64_t entry, uint64_t *size) {
    if (*size <= r->header.file_size - r->events.ids_taken) {
        r->events.ids_taken += *size;
        return;
    }
    found(r, entry + r->header.attr_size - 16, 16, "file_attr.ids",
          "%llu bytes of ids overlap those of other events and are not used", (unsigned long long)*size);
    *size = 0;
}

/* The last 16 bytes of an entry locate its ids. */
static pfr_status read_attr_entry(pfr_reader *r, const struct pfr_rec_file_header *h, const uint8_t *entry, uint64_t at,
                                  pfr_error *err) {
    const size_t room = (size_t)h->attr_size - 16;
    uint64_t ids_offset = load_u64(entry + room, r->context.swap);
    uint64_t ids_size = load_u64(entry + room + 8, r->context.swap);
    pfr_u64s ids = {NULL, 0, r->context.swap};
    size_t got = 0;
    mend_ids(r, h, at, &ids_offset, &ids_size);
    drop_shared_ids(r, at, &ids_size);
    if (ids_size == 0)
        return events_add(r, entry, room, &ids, err);
    uint8_t *bytes = mem_alloc(&r->memory, (size_t)ids_size, 1);
    if (!bytes)
        return mem_fail(&r->memory, err, "event ids");
    pfr_status s = input_read_at(&r->parts[0].in, ids_offset, bytes, (size_t)ids_size, &got, err);
    ids.at = bytes;
    ids.count = got / 8;
    if (s >= 0)
        s = events_add(r, entry, room, &ids, err);
    mem_free(&r->memory, bytes, (size_t)ids_size, 1);
    return s;
}

static pfr_status read_attrs(pfr_reader *r, const struct pfr_rec_file_header *h, pfr_error *err) {
    const uint64_t offset = h->attrs.offset, size = h->attrs.size;
    size_t got = 0;
    const uint64_t count = size / r->header.attr_size;
    r->events.attrs_at = offset;
    if (count > EVENTS_MOST)
        return pfr_fail(err, PFR_ERR_DAMAGE, 32, 8, "file_header.attrs.size", "%llu events", (unsigned long long)count);
    uint8_t *entry = mem_alloc(&r->memory, (size_t)r->header.attr_size, 1);
    if (!entry)
        return mem_fail(&r->memory, err, "attrs");
    pfr_status s = PFR_OK;
    for (uint64_t i = 0; i < count && s >= 0; i++) {
        const uint64_t at = offset + i * r->header.attr_size;
        if (at > r->header.file_size)
            break;
        s = input_read_at(&r->parts[0].in, at, entry, (size_t)r->header.attr_size, &got, err);
        if (s >= 0 && got < r->header.attr_size)
            break;
        if (s >= 0)
            s = read_attr_entry(r, h, entry, at, err);
    }
    mem_free(&r->memory, entry, (size_t)r->header.attr_size, 1);
    return s;
}

/* Determines the range of the records. data.size 0 means that the recorder was killed: all bytes to the end are
   records. */
static void place_data(pfr_reader *r, const struct pfr_rec_file_header *file_header) {
    pfr_header *h = &r->header;
    const uint64_t said = file_header->data.size;
    h->header_size = file_header->size;
    h->attr_size = file_header->attr_size;
    h->data_offset = file_header->data.offset;
    h->data_size = said;
    h->not_finalised = said == 0 && h->file_size > h->data_offset;
    r->damage.quality.not_finalised = h->not_finalised;
    if (h->data_offset > h->file_size)
        h->data_size = 0;
    else if (h->not_finalised || said > h->file_size - h->data_offset)
        h->data_size = h->file_size - h->data_offset;
    if (!h->not_finalised && h->data_size < said)
        r->damage.quality.truncated_bytes += said - h->data_size;
    const bool ends_inside = h->data_offset <= h->file_size && said <= h->file_size - h->data_offset;
    h->features_offset =
        ends_inside ? h->data_offset + said : h->file_size; /* the stated end is past the file's end: no table */
    r->parts[0].begin = h->data_offset;
    r->parts[0].end = h->data_offset + h->data_size;
}

/* Copies a stream into an unlinked file. If the stream ends in damage, the part before it is kept; r->broken reports
   the damage later. */
static pfr_status copy_stream(pfr_reader *r, int fd, pfr_error *err) {
    const uint8_t *bytes;
    size_t have;
    for (uint64_t at = 0;; at += have) {
        const pfr_status s = input_window(&r->parts[0].in, at, 1, &bytes, &have, &r->damage.broken);
        if (s < 0 && err)
            *err = r->damage.broken;
        PFR_TRY(s);
        if (have == 0)
            break;
        PFR_TRY(scratch_write(fd, bytes, have, err));
    }
    return scratch_rewind(fd, err);
}

/* Copies an input that cannot seek into an unlinked file, for recordings that must be read with seeks or more than
   once. */
static pfr_status spool(pfr_reader *r, const struct input_setup *setup, pfr_error *err) {
    int fd;
    PFR_TRY(scratch_open(&fd, err));
    const pfr_status s = copy_stream(r, fd, err);
    if (s < 0) {
        close(fd);
        return s;
    }
    input_close(&r->parts[0].in);
    return input_open_fd(&r->parts[0].in, fd, true, "unpacked recording", setup, err);
}

static pfr_status open_file(pfr_reader *r, const struct input_setup *setup, pfr_error *err) {
    r->header.container = r->header.container == PFR_DIRECTORY ? PFR_DIRECTORY : PFR_FILE;
    if (!input_seekable(&r->parts[0].in))
        PFR_TRY(spool(r, setup, err));
    r->header.file_size = input_size(&r->parts[0].in);
    struct pfr_rec_file_header h;
    PFR_TRY(read_header(r, &h, err));
    r->header.attr_size = h.attr_size;
    PFR_TRY(read_attrs(r, &h, err));
    mend_data_offset(r, &h);
    mend_data_size(r, &h);
    PFR_TRY(features_unread(r, err));
    place_data(r, &h);
    PFR_TRY(features_open(r, err));
    PFR_TRY(mend_events(r, err));
    return events_name(r, err);
}

static pfr_status open_pipe(pfr_reader *r, const struct input_setup *setup, pfr_error *err) {
    if (r->spool && !input_seekable(&r->parts[0].in))
        PFR_TRY(spool(r, setup, err));
    r->header.container = PFR_PIPE;
    r->header.header_size = PIPE_HEADER;
    r->header.data_offset = PIPE_HEADER;
    r->header.file_size = input_size(&r->parts[0].in);
    r->header.data_size = r->header.file_size == INPUT_UNKNOWN_SIZE ? 0 : r->header.file_size - PIPE_HEADER;
    r->parts[0].begin = PIPE_HEADER;
    r->parts[0].end = UINT64_MAX;
    return PFR_OK;
}

/* Whether this is a stream whose data has the byte order opposite to its magic. */
static bool is_stream_of_other_order(pfr_reader *r, const uint8_t *bytes, size_t have) {
    const bool big = r->header.big_endian;
    set_order(r, !big);
    if (load_u64(bytes + 8, r->context.swap) == PIPE_HEADER && looks_like_stream(r, bytes, have)) {
        found(r, 0, MAGIC, "file_header.magic",
              "the byte order of the magic differs from that of the rest of the file");
        return true;
    }
    set_order(r, big);
    return false;
}

static bool is_stream(pfr_reader *r, const uint8_t *bytes, size_t have) {
    const uint64_t size = load_u64(bytes + 8, r->context.swap);
    if (size == PIPE_HEADER || size == OLD_HEADER || size == FILE_HEADER)
        return size == PIPE_HEADER;
    if (is_stream_of_other_order(r, bytes, have))
        return true;
    if (!looks_like_stream(r, bytes, have))
        return false;
    found(r, 8, 8, "file_header.size", "a header size of %" PRIu64 " bytes, but a stream follows, whose header has 16",
          size);
    return true;
}

/* A trace from a pipe is read directly, because its records are in reading order. It is copied into a file only if the
   caller set the option `spool`. */
static pfr_status open_trace(pfr_reader *r, const struct input_setup *setup, pfr_error *err) {
    if (r->spool && !input_seekable(&r->parts[0].in))
        PFR_TRY(spool(r, setup, err));
    pfr_header *h = &r->header;
    h->header_size = h->data_offset = XRAY_HEADER;
    h->file_size = input_size(&r->parts[0].in);
    h->data_size = h->data_size_said = h->file_size == INPUT_UNKNOWN_SIZE ? 0 : h->file_size - XRAY_HEADER;
    r->parts[0].begin = XRAY_HEADER;
    r->parts[0].end = UINT64_MAX;
    return PFR_OK;
}

static pfr_status open_any(pfr_reader *r, const struct input_setup *setup, pfr_error *err) {
    const uint8_t *bytes;
    size_t have;
    const pfr_status s = input_window(&r->parts[0].in, 0, FILE_HEADER, &bytes, &have, err);
    if (s < 0 || (s == PFR_HOLE && have < PIPE_HEADER)) /* compressed input, damaged before its first output */
        return s < 0 ? s : PFR_ERR_DAMAGE;
    PFR_TRY(recognise(r, bytes, have, err));
    if (r->trace)
        PFR_TRY(open_trace(r, setup, err));
    else
        PFR_TRY(is_stream(r, bytes, have) ? open_pipe(r, setup, err) : open_file(r, setup, err));
    r->cursor.at = r->parts[0].begin;
    r->damage.found_at_open = r->damage.quality;
    r->damage.end_at_open = r->parts[0].end;
    r->damage.nr_found_at_open = r->damage.nr_findings;
    r->damage.patience = PATIENCE_FIRST; /* as pfr_rewind sets it */
    return PFR_OK;
}

static pfr_status open_directory(pfr_reader *r, const char *path, const struct input_setup *setup, pfr_error *err) {
    const int folder = descriptor_open(AT_FDCWD, path, O_RDONLY | O_DIRECTORY, 0);
    if (folder < 0)
        return pfr_fail_errno(err, errno, "open", path);
    r->header.container = PFR_DIRECTORY;
    pfr_status s = open_parts(r, folder, setup, err);
    close(folder);
    return s < 0 ? s : open_any(r, setup, err);
}

static pfr_status look_for_other(pfr_reader *r, struct other_form *other, const struct input_setup *setup,
                                 pfr_error *err) {
    const uint8_t *bytes;
    size_t have;
    PFR_TRY(input_window(&r->parts[0].in, 0, OTHER_FORM_HEAD, &bytes, &have, err));
    other->found = other->is_it(bytes, have);
    return other->found && !input_seekable(&r->parts[0].in) ? spool(r, setup, err) : PFR_OK;
}

static pfr_status open_one(pfr_reader *r, const char *path, const struct input_setup *setup, struct other_form *other,
                           pfr_error *err) {
    r->parts = arena_zeroed(&r->arena, 1, sizeof *r->parts);
    if (!r->parts)
        return mem_fail(&r->memory, err, "parts");
    r->nr_parts = 1;
    PFR_TRY(input_open(&r->parts[0].in, path, setup, err));
    r->parts[0].open = true;
    if (other)
        PFR_TRY(look_for_other(r, other, setup, err));
    return other && other->found ? PFR_OK : open_any(r, setup, err);
}

/* The reader itself is also allocated with the caller's allocator, and counted in its own memory. */
static pfr_reader *new_reader(const pfr_open_options *options, pfr_error *err) {
    struct memory memory;
    const pfr_limits *limits = options ? options->limits : NULL;
    const pfr_limits resolved = limits_resolve(limits);
    memory_init(&memory, options ? options->alloc : NULL, resolved.memory);
    pfr_reader *r = mem_zeroed(&memory, 1, sizeof *r);
    if (!r) {
        mem_fail(&memory, err, "reader");
        return NULL;
    }
    r->memory = memory;
    r->limits = resolved;
    r->context.string_most = resolved.string;
    r->keep_aux = options && options->size > offsetof(pfr_open_options, keep_aux) && options->keep_aux;
    r->spool = options && options->size > offsetof(pfr_open_options, spool) && options->spool;
    r->events.last_event = PFR_NO_EVENT;
    r->cursor.doubtful = UINT64_MAX;
    arena_init(&r->arena, &r->memory);
    u64_map_init(&r->events.ids, &r->memory);
    u64_map_init(&r->events.formats, &r->memory);
    u64_map_init(&r->features.index_of, &r->memory);
    r->damage.patience = PATIENCE_FIRST;
    plausibility_learn(r);
    return r;
}

pfr_reader *pfr_open(const char *path, const pfr_open_options *options, pfr_error *err) {
    return reader_open_or(path, NULL, options, err);
}

pfr_reader *reader_open_or(const char *path, struct other_form *other, const pfr_open_options *options,
                           pfr_error *err) {
    pfr_reader *r = new_reader(options, err);
    if (!r)
        return NULL;
    const struct input_setup setup = {.memory = &r->memory, .limits = &r->limits};
    const bool folder = strcmp(path, "-") != 0 && input_is_directory(path);
    if ((folder ? open_directory(r, path, &setup, err) : open_one(r, path, &setup, other, err)) < 0) {
        pfr_close(r);
        return NULL;
    }
    r->header.parts = r->nr_parts;
    return r;
}

pfr_reader *reader_open_fd(int fd, const char *name, const pfr_open_options *options, pfr_error *err) {
    pfr_reader *r = new_reader(options, err);
    if (!r) {
        close(fd);
        return NULL;
    }
    const struct input_setup setup = {.memory = &r->memory, .limits = &r->limits};
    r->parts = arena_zeroed(&r->arena, 1, sizeof *r->parts);
    pfr_status s = r->parts ? PFR_OK : mem_fail(&r->memory, err, "parts");
    if (s < 0)
        close(fd);
    else
        s = input_open_fd(&r->parts[0].in, fd, true, name, &setup, err);
    if (s >= 0) {
        r->nr_parts = r->header.parts = 1;
        r->parts[0].open = true;
        s = open_any(r, &setup, err);
    }
    if (s >= 0)
        return r;
    pfr_close(r);
    return NULL;
}

pfr_reader *pfr_open_bytes(const void *bytes, size_t length, const pfr_open_options *options, pfr_error *err) {
    pfr_reader *r = new_reader(options, err);
    if (!r)
        return NULL;
    r->parts = arena_zeroed(&r->arena, 1, sizeof *r->parts);
    pfr_status s = r->parts ? PFR_OK : mem_fail(&r->memory, err, "parts");
    if (s >= 0) {
        r->nr_parts = r->header.parts = 1;
        input_on_bytes(&r->parts[0].in, bytes, length);
        r->parts[0].open = true;
        s = open_any(r, NULL, err);
    }
    if (s >= 0)
        return r;
    pfr_close(r);
    return NULL;
}

void pfr_close(pfr_reader *r) {
    if (!r)
        return;
    for (uint32_t i = 0; i < r->nr_parts; i++) {
        inflater_close(&r->parts[i].inflater, &r->memory);
        if (r->parts[i].open)
            input_close(&r->parts[i].in);
    }
    xray_close(r);
    if (r->stored)
        r->stored->close(r->stored);
    mem_free(&r->memory, r->features.list, r->features.room, sizeof *r->features.list);
    u64_map_free(&r->events.ids);
    u64_map_free(&r->events.formats);
    u64_map_free(&r->features.index_of);
    arena_free(&r->arena);
    struct memory memory = r->memory;
    mem_free(&memory, r, 1, sizeof *r);
}

const pfr_header *pfr_get_header(const pfr_reader *reader) {
    return &reader->header;
}

const pfr_quality *pfr_get_quality(const pfr_reader *reader) {
    return &reader->damage.quality;
}
