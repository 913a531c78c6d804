/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes AUX area data to files, in file order: one file for each (idx, tid, cpu) of the AUXTRACE records, and one file
 * for each (tid, cpu) of samples with AUX data. The directory stays open and files are created relative to it, so it
 * does not matter if a part of the path is replaced meanwhile. It is an error if a file already exists; existing files
 * are never written to. Files are created under their final names and appended to, so they are incomplete during the
 * run, and if the process is killed. If the command fails, the files that it created are removed.
 */
#include "view/dump/dump_aux.h"
#include "view/dump/dump_hole.h"
#include "view/dump/dump_filter.h"
#include "view/dump/dump_decode.h"

#include "base/io/descriptor.h"
#include "base/tables/intern.h"
#include "base/text/json.h"

#include "wire/record_bits.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define BUFFERS_MOST 65536u
#define CHUNK ((size_t)64 << 10)
#define NAME_SIZE 64u

struct aux_buffer {
    uint32_t idx, tid, cpu;
    bool sampled; /* for AUX data of samples, which have no idx */
    bool made;    /* this run created the file */
    uint64_t records, bytes;
    char name[NAME_SIZE];
};

struct aux_files {
    struct dump *d;
    int folder, fd;
    bool made_folder;
    struct intern_table keys; /* idx, tid, cpu, sampled -> index in `buffers` */
    struct aux_buffer *buffers;
    size_t count, room;
    size_t open; /* index of the buffer that fd writes to */
    uint8_t *chunk;
};

static pfr_status open_folder(struct aux_files *files, const char *path, pfr_error *err) {
    files->made_folder = mkdir(path, 0700) == 0;
    if (!files->made_folder && errno != EEXIST)
        return pfr_fail_errno(err, errno, "make", path);
    files->folder = descriptor_open(AT_FDCWD, path, O_RDONLY | O_DIRECTORY, 0);
    return files->folder < 0 ? pfr_fail_errno(err, errno, "open", path) : PFR_OK;
}

static pfr_status close_file(struct aux_files *files, pfr_error *err) {
    const int fd = files->fd;
    files->fd = -1;
    if (fd < 0 || descriptor_close(fd))
        return PFR_OK;
    return pfr_fail_errno(err, errno, "close", files->buffers[files->open].name);
}

static void remove_files(const struct aux_files *files) {
    for (size_t i = 0; i < files->count; i++)
        if (files->buffers[i].made)
            unlinkat(files->folder, files->buffers[i].name, 0);
    if (files->made_folder)
        rmdir(files->d->options.aux_folder);
}

static pfr_status add_buffer(struct aux_files *files, const struct aux_buffer *key, pfr_error *err) {
    struct memory *memory = &files->d->to->memory;
    if (files->count == BUFFERS_MOST)
        return pfr_fail(err, PFR_ERR_LIMIT, PFR_NO_OFFSET, 0, "aux", "more than %u AUX buffers", BUFFERS_MOST);
    struct aux_buffer *grown = mem_grow(memory, files->buffers, files->count, &files->room, 16, sizeof *files->buffers);
    if (!grown)
        return mem_fail(memory, err, "aux");
    files->buffers = grown;
    struct aux_buffer *b = &grown[files->count++];
    *b = *key;
    if (b->sampled)
        snprintf(b->name, sizeof b->name, "aux-sample-%" PRId32 "-%" PRId32 ".bin", (int32_t)b->tid, (int32_t)b->cpu);
    else
        snprintf(b->name, sizeof b->name, "aux-%" PRIu32 "-%" PRId32 "-%" PRId32 ".bin", b->idx, (int32_t)b->tid,
                 (int32_t)b->cpu);
    return PFR_OK;
}

/* Creates the buffer's file if it is new, else opens it again to append; the file used last stays open. */
static pfr_status choose_buffer(struct aux_files *files, const struct aux_buffer *key, pfr_error *err) {
    const uint32_t which[] = {key->idx, key->tid, key->cpu, key->sampled};
    uint32_t i;
    PFR_TRY(intern_put(&files->keys, which, sizeof which, &i, err));
    const bool fresh = i == files->count;
    if (fresh)
        PFR_TRY(add_buffer(files, key, err));
    if (files->fd >= 0 && files->open == i)
        return PFR_OK;
    PFR_TRY(close_file(files, err));
    const int how = O_WRONLY | O_NOFOLLOW | (fresh ? O_CREAT | O_EXCL : O_APPEND);
    files->fd = descriptor_open(files->folder, files->buffers[i].name, how, 0600);
    files->open = i;
    if (files->fd < 0)
        return pfr_fail_errno(err, errno, "open", files->buffers[i].name);
    files->buffers[i].made = true;
    return PFR_OK;
}

static pfr_status append(struct aux_files *files, const uint8_t *at, size_t length, pfr_error *err) {
    struct aux_buffer *b = &files->buffers[files->open];
    while (length > 0) {
        const ssize_t n = write(files->fd, at, length);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return pfr_fail_errno(err, n < 0 ? errno : ENOSPC, "write", b->name);
        at += n;
        length -= (size_t)n;
        b->bytes += (uint64_t)n;
    }
    return PFR_OK;
}

/* Copies the payload of the record piece by piece. If the payload is shorter than the record states, the reader reports
   a hole at the next record. */
static pfr_status take_payload(struct aux_files *files, pfr_error *err) {
    uint64_t offset = 0;
    for (size_t got = 1; got > 0; offset += got) {
        pfr_error own;
        const pfr_status s = pfr_payload(files->d->reader, offset, files->chunk, CHUNK, &got, &own);
        if (s < 0 && err)
            *err = own;
        PFR_TRY(s);
        PFR_TRY(append(files, files->chunk, got, err));
    }
    return PFR_OK;
}

static pfr_status take_auxtrace(struct aux_files *files, const pfr_record *rec, pfr_error *err) {
    (void)rec;
    const struct pfr_rec_auxtrace *a = &files->d->body.auxtrace_;
    const struct aux_buffer key = {.idx = a->idx, .tid = a->tid, .cpu = a->cpu};
    PFR_TRY(choose_buffer(files, &key, err));
    files->buffers[files->open].records++;
    return take_payload(files, err);
}

static pfr_status take_sample(struct aux_files *files, const pfr_record *rec, pfr_error *err) {
    const struct pfr_rec_sample *s = &files->d->body.sample_;
    const uint64_t types = rec->context->word[WORD_SAMPLE];
    const struct aux_buffer key = {.sampled = true,
                                   .tid = has_bit(types, SAMPLE_BIT_TID) ? s->tid : UINT32_MAX,
                                   .cpu = has_bit(types, SAMPLE_BIT_CPU) ? s->cpu : UINT32_MAX};
    if (s->aux.size == 0)
        return PFR_OK;
    PFR_TRY(choose_buffer(files, &key, err));
    files->buffers[files->open].records++;
    return append(files, s->aux.data.at, (size_t)s->aux.data.length, err);
}

/* Functions for the layouts that carry AUX area data. */
static pfr_status (*const takers[LAYOUTS])(struct aux_files *files, const pfr_record *rec, pfr_error *err) = {
    [L_auxtrace] = take_auxtrace,
    [L_sample] = take_sample,
};

static pfr_status take_record(struct aux_files *files, const pfr_record *rec, pfr_error *err) {
    struct dump *d = files->d;
    const unsigned layout = dump_layout_of(d, rec->type);
    struct cursor in;
    pfr_error own;
    if (!takers[layout] || !dump_wants(d, rec, layout))
        return PFR_OK;
    if (dump_decode(d, rec, layout, &in, &own) == PFR_OK)
        return takers[layout](files, rec, err);
    d->counts.damaged++;
    dump_report_hole(d, &own);
    return PFR_OK;
}

static pfr_status take_all(struct aux_files *files, pfr_error *err) {
    struct dump *d = files->d;
    pfr_record rec;
    pfr_error own;
    pfr_status s;
    while ((s = pfr_next(d->reader, &rec, &own)) >= 0 && s != PFR_END) {
        if (s == PFR_HOLE) {
            d->counts.holes++;
            dump_report_hole(d, &own);
        } else {
            PFR_TRY(take_record(files, &rec, err));
        }
    }
    if (s < 0 && err)
        *err = own;
    return s < 0 ? s : PFR_OK;
}

static void print_table(const struct aux_files *files) {
    struct output *out = files->d->out;
    const bool json = files->d->options.format == PFR_DUMP_JSON_LINES;
    if (!json)
        out_text(out, "   records         bytes  name\n");
    for (size_t i = 0; i < files->count; i++) {
        const struct aux_buffer *b = &files->buffers[i];
        struct json line = json_on(out, JSON_LINE);
        if (json) {
            json_begin_object(&line);
            json_key(&line, "name");
            json_text(&line, b->name);
            json_key(&line, "records");
            json_u64(&line, b->records);
            json_key(&line, "bytes");
            json_u64(&line, b->bytes);
            json_end_object(&line);
            json_end_line(&line);
            continue;
        }
        out_u64_wide(out, b->records, 10);
        out_u64_wide(out, b->bytes, 14);
        out_text(out, "  ");
        out_text(out, b->name);
        out_char(out, '\n');
    }
}

pfr_status dump_aux(struct dump *d, pfr_error *err) {
    struct aux_files files = {.d = d, .folder = -1, .fd = -1};
    struct memory *memory = &d->to->memory;
    intern_init(&files.keys, memory);
    files.chunk = mem_alloc(memory, CHUNK, 1);
    pfr_status s = files.chunk ? open_folder(&files, d->options.aux_folder, err) : mem_fail(memory, err, "aux");
    if (s == PFR_OK)
        s = take_all(&files, err);
    const pfr_status closed = close_file(&files, s == PFR_OK ? err : NULL);
    s = s == PFR_OK ? closed : s;
    if (s == PFR_OK)
        print_table(&files);
    else
        remove_files(&files);
    if (files.folder >= 0)
        close(files.folder);
    intern_free(&files.keys);
    mem_free(memory, files.buffers, files.room, sizeof *files.buffers);
    mem_free(memory, files.chunk, CHUNK, 1);
    return s;
}
