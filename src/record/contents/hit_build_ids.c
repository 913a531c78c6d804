/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Build-ids of the objects that samples hit. A complete file is read twice: to build its state, and to look up the
 * address of each sample. Then build-ids are read from the objects, and the kernel's from /sys/kernel/notes. The paths
 * of objects are in map records, where any user may have chosen them, so only regular files are opened, and only their
 * notes are read.
 *
 * The state grows with the number of tasks that started and ended. If it would need more than r->hits_memory, all
 * mapped objects count as hit; listing these needs less memory, because there are fewer paths than maps.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "record/contents/hit_objects.h"
#include "file/read/recording.h"
#include "model/state/state.h"
#include "record/contents/hit_build_ids.h"
#include "record/rings/recorder_note.h"
#include "record/rings/rings.h"
#include "symbol/elf/elf_object.h"
#include "symbol/table/regular_file.h"
#include "wire/feature_bits.h"

enum { MISC_DATA = 0x2000, MISC_LENGTH = 0x8000, NOTE_BUILD_ID = 3 };

#define KERNEL_NAME "[kernel.kallsyms]"

struct hits {
    pfr_recorder *r;
    pfr_writer *writer;
    pfr_reader *reader;
    struct memory memory;
    struct state state;
    struct hit_walk *walk;
};

/* Drains rings into the next part. Errors are ignored here, because they occur again when the next part is written. */
static void drain_meanwhile(void *hits, const pfr_record *rec) {
    const struct hits *const h = hits;
    (void)rec;
    if (h->r->file.writer && h->r->file.writer != h->writer)
        rings_drain_filling(h->r, NULL);
}

static bool make_walk(struct hits *h) {
    struct hit_walk *const walk = h->walk = mem_zeroed(&h->memory, 1, sizeof *walk);
    if (!walk)
        return false;
    walk->state = &h->state;
    walk->reader = h->reader;
    walk->objects = h->state.objects.keys.count;
    walk->meanwhile = drain_meanwhile;
    walk->context = h;
    walk->hit = mem_zeroed(&h->memory, walk->objects, sizeof *walk->hit);
    return walk->hit != NULL;
}

static void free_walk(struct hits *h) {
    if (h->walk)
        mem_free(&h->memory, h->walk->hit, h->walk->objects, sizeof *h->walk->hit);
    mem_free(&h->memory, h->walk, 1, sizeof *h->walk);
    h->walk = NULL;
}

static pfr_status find_hits(struct hits *h, pfr_error *err) {
    const struct state_watch watch = {.sample = drain_meanwhile, .context = h};
    PFR_TRY(state_build_watched(&h->state, h->reader, &h->memory, &watch, err));
    if (!make_walk(h))
        return mem_fail(&h->memory, err, "objects");
    PFR_TRY(pfr_rewind(h->reader, err));
    return hit_walk_run(h->walk, &h->r->control.stops, err);
}

/* --- all mapped objects --- */

static pfr_status take_path(struct hits *h, const pfr_record *rec, const pfr_text *path, const uint8_t *build_id,
                            unsigned size, pfr_error *err) {
    uint32_t object;
    return objects_of_map(&h->state.objects, path, 0,
                          (rec->misc & PFR_CPUMODE_MASK) == PFR_CPUMODE_KERNEL ? MAP_OF_KERNEL : MAP_OF_CODE, build_id,
                          size, &object, err);
}

static pfr_status take_mmap(struct hits *h, const pfr_record *rec, pfr_error *err) {
    struct pfr_rec_mmap map;
    const bool whole = pfr_decode(rec, &map, sizeof map, NULL) == PFR_OK;
    return whole ? take_path(h, rec, &map.filename, NULL, 0, err) : PFR_OK;
}

static pfr_status take_mmap2(struct hits *h, const pfr_record *rec, pfr_error *err) {
    struct pfr_rec_mmap2 map;
    const bool whole = pfr_decode(rec, &map, sizeof map, NULL) == PFR_OK;
    return whole ? take_path(h, rec, &map.filename, map.build_id.at, map.build_id_size, err) : PFR_OK;
}

static pfr_status take_record(struct hits *h, const pfr_record *rec, pfr_error *err) {
    static pfr_status (*const by_type[])(struct hits *, const pfr_record *, pfr_error *) = {
        [PFR_RECORD_MMAP] = take_mmap, [PFR_RECORD_MMAP2] = take_mmap2};
    drain_meanwhile(h, rec);
    const bool maps_code =
        rec->type < sizeof by_type / sizeof *by_type && by_type[rec->type] && !(rec->misc & MISC_DATA);
    return maps_code ? by_type[rec->type](h, rec, err) : PFR_OK;
}

/* Lists the objects of all maps. Reading stops when half of the memory limit is used. */
static pfr_status take_maps(struct hits *h, pfr_error *err) {
    pfr_record rec;
    pfr_status status = state_begin(&h->state, h->reader, &h->memory, &no_jit, err);
    while (status >= 0 && status != PFR_END && h->memory.used < h->memory.limit / 2 && h->r->control.stops < 2) {
        status = pfr_next(h->reader, &rec, err);
        if (status == PFR_OK)
            status = take_record(h, &rec, err);
    }
    return status < 0 ? status : PFR_OK;
}

static pfr_status find_all(struct hits *h, pfr_error *err) {
    free_walk(h);
    PFR_TRY(pfr_rewind(h->reader, err));
    PFR_TRY(take_maps(h, err));
    if (!make_walk(h))
        return mem_fail(&h->memory, err, "objects");
    PFR_TRY(pfr_rewind(h->reader, err));
    PFR_TRY(hit_walk_run(h->walk, &h->r->control.stops, err)); /* only to count the samples and note their times */
    memset(h->walk->hit, true, h->walk->objects);
    return PFR_OK;
}

static pfr_status find_hits_or_all(struct hits *h, pfr_error *err) {
    const pfr_status status = find_hits(h, err);
    if (status != PFR_ERR_LIMIT)
        return status;
    recorder_note(h->r,
                  "too many tasks to find the objects that have samples: build-ids of all mapped objects are written");
    state_free(&h->state);
    return find_all(h, err);
}

/* --- the ids --- */

/* Finds the id in a list of ELF notes: u32 name length, id length, type; then name and id, each padded to 4 (elf(5),
 * Nhdr). */
static bool id_in_notes(const uint8_t *bytes, size_t length, struct build_id *id) {
    uint32_t head[3];
    for (size_t at = 0; length - at >= sizeof head; at += sizeof head) {
        memcpy(head, bytes + at, sizeof head);
        const size_t name = (head[0] + 3ull) & ~3ull, size = (head[1] + 3ull) & ~3ull, left = length - at - sizeof head;
        if (name > left || size > left - name)
            return false;
        const uint8_t *const text = bytes + at + sizeof head;
        if (head[2] == NOTE_BUILD_ID && head[0] == 4 && memcmp(text, "GNU", 4) == 0 && head[1] <= BUILD_ID_ROOM) {
            memcpy(id->bytes, text + name, head[1]);
            id->size = head[1];
            return true;
        }
        at += name + size;
    }
    return false;
}

static bool id_of_notes(const struct kernel *kernel, const char *path, struct build_id *id) {
    char whole[4096];
    uint8_t bytes[4096];
    snprintf(whole, sizeof whole, "%s/%s", kernel->sys, path);
    FILE *const notes = fopen(whole, "re");
    const size_t length = notes ? fread(bytes, 1, sizeof bytes, notes) : 0;
    if (notes)
        fclose(notes);
    return id_in_notes(bytes, length, id);
}

static bool id_of_module(const struct kernel *kernel, const char *name, struct build_id *id) {
    char path[300];
    const size_t length = strlen(name);
    if (length < 3 || name[0] != '[' || strchr(name, '/'))
        return false;
    snprintf(path, sizeof path, "module/%.*s/notes/.note.gnu.build-id", (int)(length - 2 < 200 ? length - 2 : 200),
             name + 1);
    return id_of_notes(kernel, path, id);
}

static bool id_of_file(struct hits *h, const char *path, struct build_id *id) {
    struct elf_object object;
    struct stat facts;
    int fd;
    if (path[0] != '/' || open_regular(path, 0, &fd, &facts) != SYMBOL_FOUND)
        return false;
    if (elf_object_start(&object, fd, (uint64_t)facts.st_size, &h->memory) == SYMBOL_FOUND) {
        elf_read_build_id(&object, id);
        elf_object_end(&object);
    }
    close(fd);
    return id->size > 0 && id->size <= BUILD_ID_ROOM;
}

static bool id_of(struct hits *h, const struct object *object, const char *path, struct build_id *id) {
    *id = (struct build_id){.size = 0};
    if (object->build_id_size) {
        memcpy(id->bytes, object->build_id, object->build_id_size);
        id->size = object->build_id_size;
        return true;
    }
    if (object->kind == OBJECT_KERNEL)
        return id_of_notes(h->r->kernel, "kernel/notes", id);
    if (object->kind == OBJECT_MODULE)
        return id_of_module(h->r->kernel, path, id);
    return object->kind == OBJECT_FILE && id_of_file(h, path, id);
}

static pfr_status put_id(struct hits *h, const struct object *object, pfr_error *err) {
    const struct intern_text text = intern_get(&h->state.names, object->path);
    const bool kernel = object->kind == OBJECT_KERNEL;
    char path[4096];
    struct build_id id;
    if (text.length >= sizeof path)
        return PFR_OK;
    snprintf(path, sizeof path, "%.*s", (int)text.length, (const char *)text.bytes);
    if (!id_of(h, object, path, &id))
        return PFR_OK;
    const char *const name = kernel ? KERNEL_NAME : path;
    memset(id.bytes + id.size, 0, sizeof id.bytes - id.size);
    const struct pfr_rec_build_id_entry entry = {
        .build_id = {.at = id.bytes, .length = BUILD_ID_ROOM},
        .misc =
            (uint16_t)(MISC_LENGTH | (kernel || object->kind == OBJECT_MODULE ? PFR_CPUMODE_KERNEL : PFR_CPUMODE_USER)),
        .pid = UINT32_MAX,
        .length = (uint8_t)id.size,
        .filename = {.at = name, .length = (uint32_t)strlen(name)}};
    return pfr_writer_build_id(h->writer, &entry, err);
}

static pfr_status put_ids(struct hits *h, pfr_error *err) {
    PFR_TRY(pfr_writer_feature(h->writer, BIT_BUILD_ID, "", 0, err)); /* written even if no id follows */
    for (size_t i = 0; i < h->walk->objects; i++)
        if (h->walk->hit[i])
            PFR_TRY(put_id(h, &h->state.objects.at[i], err));
    return PFR_OK;
}

/* Adds the ids of counters of CPUs that came online later, which are not at the start of the file. */
static pfr_status add_late_ids(struct hits *h, pfr_error *err) {
    for (size_t i = 0; i < h->r->nr_counters; i++)
        PFR_TRY(u64_map_put(&h->reader->events.ids, h->r->counters[i].id, h->r->counters[i].event, err));
    return PFR_OK;
}

/* Opens the file through the descriptor that wrote it: its path may now lead to any other file, or to a device that
 * never ends. The reader gets a copy of the descriptor, which shares the file position. The position must be 0 while
 * the reader is opened; the reader does not use it later, so it is then restored for the writer. */
static pfr_reader *open_own(const struct finished_file *file, const pfr_open_options *how, pfr_error *err) {
    const off_t end = lseek(file->fd, 0, SEEK_CUR);
    const int fd = end < 0 || lseek(file->fd, 0, SEEK_SET) < 0 ? -1 : fcntl(file->fd, F_DUPFD_CLOEXEC, 0);
    pfr_reader *reader = fd >= 0 ? reader_open_fd(fd, file->path, how, err) : NULL;
    if (fd >= 0 && lseek(file->fd, end, SEEK_SET) == end)
        return reader;
    pfr_fail_errno(err, errno, "read", file->path);
    pfr_close(reader);
    return NULL;
}

pfr_status hits_put(pfr_recorder *r, const struct finished_file *file, struct hit_times *times, pfr_error *err) {
    struct hits h = {.r = r, .writer = file->writer};
    const pfr_open_options how = {.size = sizeof how, .alloc = r->options.alloc};
    memory_init(&h.memory, r->options.alloc, r->file.hits_memory);
    h.reader = open_own(file, &how, err);
    if (!h.reader)
        return err ? err->status : PFR_ERR_IO;
    pfr_status status = add_late_ids(&h, err);
    if (status >= 0)
        status = r->options.build_ids == PFR_BUILD_IDS_OF_ALL ? find_all(&h, err) : find_hits_or_all(&h, err);
    if (status >= 0)
        status = put_ids(&h, err);
    if (h.walk) {
        r->result.samples += h.walk->samples;
        *times = (struct hit_times){h.walk->first, h.walk->last};
    }
    free_walk(&h);
    state_free(&h.state);
    pfr_close(h.reader);
    memory_settle(&h.memory);
    return status < 0 ? status : PFR_OK;
}
