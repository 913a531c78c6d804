/* SPDX-License-Identifier: Apache-2.0 */
/* Writing a recording: files and their names, the first failure, the end. writer_front.c writes everything before the
   first record and after the last; see recording_writer.h for the other files. */
#include "base/io/descriptor.h"
#include "file/write/recording_writer.h"
#include "file/write/deflate.h"
#include "file/write/writer_folder.h"
#include "file/write/writer_front.h"
#include "file/write/writer_part.h"
#include "file/write/writer_part_open.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>

static const bool host_big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;

/* --- Files. */

/* Overwrites the existing file. It may be a device, but not a symbolic link. */
static pfr_status open_in_place(pfr_writer *w, const char *path, pfr_error *err) {
    const int fd = descriptor_open(AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0600);
    if (fd < 0 && errno == ELOOP)
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "output",
                        "%.80s is a symbolic link, which is not followed", path);
    return fd < 0 ? pfr_fail_errno(err, errno, "make", path) : part_open(w, fd, true, 0, err);
}

/* Opens the file under its temporary name. From here on the output belongs to the first part. */
static pfr_status open_whole(pfr_writer *w, const char *path, pfr_error *err) {
    struct output out;
    PFR_TRY(whole_file_may_go_to(path, err));
    PFR_TRY(whole_file_open(&w->file, path, &w->memory, &out, err));
    w->named = true;
    w->folder.parts[0].out = out;
    w->folder.nr_parts = 1;
    return w->compression == PFR_PLAIN ? PFR_OK : deflate_open(w, &w->folder.parts[0].deflater, err);
}

static pfr_writer *new_writer(const pfr_write_options *given, const char *name, pfr_error *err) {
    pfr_write_options o = {0};
    struct memory memory;
    if (given)
        memcpy(&o, given, given->size < sizeof o ? given->size : sizeof o);
    memory_init(&memory, o.alloc, 0);
    pfr_writer *w = mem_zeroed(&memory, 1, sizeof *w);
    if (!w) {
        mem_fail(&memory, err, "writer");
        return NULL;
    }
    const bool big = o.order == PFR_ORDER_HOST ? host_big : o.order == PFR_ORDER_BIG;
    w->memory = memory;
    w->context = (struct pfr_context){.swap = big != host_big, .mirrored = big};
    w->container = o.container;
    w->compression = o.compression;
    w->level = o.level ? o.level : 1;
    w->events.attr_size_asked = o.attr_size;
    w->in_place = o.in_place;
    w->folder.handle = -1;
    arena_init(&w->arena, &w->memory);
    out_open_memory(&w->features.build_ids, &w->memory);
    out_open_memory(&w->index, &w->memory);
    w->name = arena_text(&w->arena, name, strlen(name));
    w->scratch = mem_alloc(&w->memory, RECORD_ROOM, 1);
    w->folder.parts = mem_zeroed(&w->memory, w->folder.parts_room = 4, sizeof *w->folder.parts);
    if (w->name && w->scratch && w->folder.parts)
        return w;
    mem_fail(&w->memory, err, "writer");
    pfr_writer_close(w);
    return NULL;
}

static pfr_status attr_size_can_be(const pfr_writer *w, pfr_error *err) {
    if (w->events.attr_size_asked == 0 || (w->events.attr_size_asked >= 64 && w->events.attr_size_asked <= ATTR_MOST &&
                                           w->events.attr_size_asked % 8 == 0))
        return PFR_OK;
    return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "attr_size",
                    "attrs of %u bytes; possible sizes are multiples of 8 from 64 to %u", w->events.attr_size_asked,
                    ATTR_MOST);
}

static pfr_status open_path(pfr_writer *w, const char *path, pfr_error *err) {
    PFR_TRY(attr_size_can_be(w, err));
    if (strcmp(path, "-") == 0) {
        w->container = PFR_PIPE;
        return part_open(w, STDOUT_FILENO, false, 0, err);
    }
    if (w->container == PFR_DIRECTORY)
        return folder_open(w, path, err);
    return w->in_place ? open_in_place(w, path, err) : open_whole(w, path, err);
}

pfr_writer *pfr_writer_open(const char *path, const pfr_write_options *options, pfr_error *err) {
    pfr_writer *w = new_writer(options, strcmp(path, "-") == 0 ? "standard output" : path, err);
    if (w && open_path(w, path, err) < 0) {
        pfr_writer_close(w);
        return NULL;
    }
    return w;
}

pfr_writer *pfr_writer_open_fd(int fd, bool owned, const char *name, const pfr_write_options *options, pfr_error *err) {
    pfr_writer *w = new_writer(options, name, err);
    if (!w) {
        if (owned)
            close(fd);
        return NULL;
    }
    pfr_status s = attr_size_can_be(w, err);
    if (s >= 0 && w->container == PFR_DIRECTORY)
        s = pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "output",
                     "a directory cannot be written to a file descriptor");
    if (s < 0 && owned)
        close(fd);
    if (s >= 0 && part_open(w, fd, owned, 0, err) >= 0)
        return w;
    pfr_writer_close(w);
    return NULL;
}

/* --- While writing. */

pfr_status writer_start(pfr_writer *w, pfr_error *err) {
    if (__builtin_expect(w->started, 1))
        return PFR_OK;
    w->started = true;
    return front_write(w, err);
}

pfr_status pfr_writer_flush(pfr_writer *w, pfr_error *err) {
    PFR_TRY(writer_stands(w, err));
    PFR_TRY(writer_start(w, err));
    PFR_TRY(deflate_flush(w, err));
    out_flush(&part_of(w)->out, NULL);
    return writer_check(w, err);
}

uint64_t pfr_writer_size(const pfr_writer *w) {
    uint64_t size = 0;
    for (uint32_t i = 0; i < w->folder.nr_parts; i++)
        size += out_written(&w->folder.parts[i].out) + w->folder.parts[i].deflater.used;
    return size;
}

/* --- The end. */

/* Syncs to disk before the file gets its name. Files that cannot be synced (a pipe, some file systems) are skipped. */
static pfr_status synchronise(pfr_writer *w, pfr_error *err) {
    int done = 0;
    if (!w->named && (!w->folder.is_made || w->in_place))
        return PFR_OK;
    for (uint32_t i = 0; i < w->folder.nr_parts && done == 0; i++) {
        do
            done = fsync(w->folder.parts[i].out.fd);
        while (done < 0 && errno == EINTR);
        if (done < 0 && (errno == EINVAL || errno == EROFS))
            done = 0;
    }
    return done == 0 ? PFR_OK : writer_failed_at(w, errno, "synchronise", out_written(&w->folder.parts[0].out), err);
}

static pfr_status close_named(pfr_writer *w, bool is_whole, pfr_error *err) {
    pfr_error why;
    w->named = false;
    const pfr_status s = whole_file_close(&w->file, &w->folder.parts[0].out, is_whole, &why);
    return is_whole && s < 0 ? writer_failed(w, &why, err) : PFR_OK;
}

static pfr_status close_parts(pfr_writer *w, pfr_error *err) {
    pfr_error why;
    pfr_status first = PFR_OK;
    for (uint32_t i = 0; i < w->folder.nr_parts; i++) {
        deflate_close(w, &w->folder.parts[i].deflater);
        if (i == 0 && w->named)
            first = close_named(w, w->failure.status == PFR_OK && w->finished, err);
        else if (out_close(&w->folder.parts[i].out, &why) < 0 && first == PFR_OK)
            first = writer_failed(w, &why, err);
    }
    w->folder.nr_parts = 0;
    return first;
}

static pfr_status name_folder(pfr_writer *w, pfr_error *err) {
    pfr_error why;
    if (!w->folder.is_made)
        return PFR_OK;
    const pfr_status s = folder_whole(w, &why);
    folder_close(w, s >= 0);
    return s < 0 ? writer_failed(w, &why, err) : PFR_OK;
}

pfr_status writer_fill(pfr_writer *w, pfr_error *err) {
    PFR_TRY(writer_stands(w, err));
    if (w->filled)
        return PFR_OK;
    PFR_TRY(writer_start(w, err));
    PFR_TRY(back_write(w, err));
    out_flush(&w->folder.parts[0].out, NULL);
    PFR_TRY(writer_check(w, err));
    w->filled = true;
    return PFR_OK;
}

const char *writer_unfinished(const pfr_writer *w) {
    if (w->folder.is_made)
        return w->folder.new_path;
    return w->named && !w->file.is_device ? w->file.unfinished : NULL;
}

pfr_status pfr_writer_finish(pfr_writer *w, pfr_error *err) {
    PFR_TRY(writer_fill(w, err));
    PFR_TRY(synchronise(w, err));
    w->finished = true;
    PFR_TRY(close_parts(w, err));
    return name_folder(w, err);
}

void pfr_writer_close(pfr_writer *w) {
    if (!w)
        return;
    close_parts(w, NULL);
    folder_close(w, false);
    if (w->folder.parts)
        mem_free(&w->memory, w->folder.parts, w->folder.parts_room, sizeof *w->folder.parts);
    mem_free(&w->memory, w->events.list, w->events.room, sizeof *w->events.list);
    mem_free(&w->memory, w->features.list, w->features.room, sizeof *w->features.list);
    if (w->scratch)
        mem_free(&w->memory, w->scratch, RECORD_ROOM, 1);
    out_close(&w->features.build_ids, NULL);
    out_close(&w->index, NULL);
    arena_free(&w->arena);
    struct memory memory = w->memory;
    mem_free(&memory, w, 1, sizeof *w);
}
