/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The recording of a schema: its readers and its model. Each table that reads records has its own reader, so that one
 * query can read several tables at the same time. All readers read the file that the first one opened.
 */
#include "sql/sql_source.h"

#include "base/io/descriptor.h"
#include "base/io/scratch.h"
#include "file/read/recording.h"
#include "sql/stack_lists.h"
#include "sql/sql_tracepoints.h"

#include <perfray/spans.h>

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define COPY_ROOM ((size_t)256 << 10)

static bool is_stream(const char *path) {
    struct stat st;
    if (strcmp(path, "-") == 0)
        return true;
    return stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
}

static pfr_status copy_to(int to, int from, const char *path, void *room, pfr_error *err) {
    for (;;) {
        const ssize_t got = read(from, room, COPY_ROOM);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return pfr_fail_errno(err, errno, "read", path);
        if (got == 0)
            return PFR_OK;
        PFR_TRY(scratch_write(to, room, (size_t)got, err));
    }
}

static pfr_status spool(struct sql_source *source, pfr_error *err) {
    struct memory *memory = &source->sql->memory;
    const bool is_stdin = strcmp(source->path, "-") == 0;
    const int from = is_stdin ? STDIN_FILENO : descriptor_open(AT_FDCWD, source->path, O_RDONLY, 0);
    if (from < 0)
        return pfr_fail_errno(err, errno, "open", source->path);
    void *room = mem_alloc(memory, COPY_ROOM, 1);
    pfr_status st = room ? scratch_open(&source->spooled, err) : mem_fail(memory, err, "stream");
    if (st >= 0)
        st = copy_to(source->spooled, from, source->path, room, err);
    mem_free(memory, room, COPY_ROOM, 1);
    if (!is_stdin)
        close(from);
    return st;
}

static pfr_reader *open_once(struct sql_source *source, pfr_error *err) {
    if (source->spooled < 0)
        return pfr_open(source->path, &source->sql->opening, err);
    char link[40]; /* opening the file anew gives the reader its own file position */
    snprintf(link, sizeof link, "/proc/self/fd/%d", source->spooled);
    const int fd = descriptor_open(AT_FDCWD, link, O_RDONLY, 0);
    if (fd < 0)
        return pfr_fail_errno(err, errno, "read", source->path), NULL;
    return reader_open_fd(fd, source->path, &source->sql->opening, err);
}

static bool is_same(const pfr_reader *a, const pfr_reader *b) {
    const struct input_identity *one = &a->parts[0].in.identity, *other = &b->parts[0].in.identity;
    return a->nr_parts == b->nr_parts && memcmp(one, other, sizeof *one) == 0;
}

pfr_reader *source_open_reader(struct sql_source *source, pfr_error *err) {
    pfr_reader *reader = open_once(source, err);
    if (!reader || is_same(reader, source->reader))
        return reader;
    pfr_close(reader);
    pfr_fail(err, PFR_ERR_CHANGED, PFR_NO_OFFSET, 0, "sql", "%s was replaced since it was opened", source->path);
    return NULL;
}

/* A stream has to be read to its end to know all events. */
static pfr_status read_to_end(struct sql_source *source, pfr_error *err) {
    pfr_record rec;
    pfr_status st;
    if (source->reader_read)
        return PFR_OK;
    PFR_TRY(pfr_rewind(source->reader, err));
    while ((st = pfr_next(source->reader, &rec, err)) >= 0 && st != PFR_END)
        if (source->sql->interrupted)
            return PFR_END;
    source->reader_read = st == PFR_END;
    return st < 0 ? st : PFR_OK;
}

pfr_status source_need_clock(struct sql_source *source, pfr_error *err) {
    if (source->clock_known || !source->reader->trace)
        return PFR_OK;
    PFR_TRY(xray_clock_learn(source->reader, err));
    source->clock = xray_clock_of(source->reader);
    source->clock_known = true;
    return PFR_OK;
}

/* Sets no `hole` callback, because the table `quality` and the reader's counts report unusable bytes. */
pfr_status source_need_model(struct sql_source *source, pfr_error *err) {
    if (source->model)
        return PFR_OK;
    source->model_reader = source_open_reader(source, err);
    if (!source->model_reader)
        return err->status;
    source->own_model = pfr_model_open(source->model_reader, &source->sql->modelling, err);
    if (!source->own_model)
        return err->status;
    source->model = source->own_model;
    return PFR_OK;
}

static void free_sums(struct sql_source *source) {
    struct memory *memory = &source->sql->memory;
    stack_lists_free(source);
    mem_free(memory, source->self, source->nr_sums, sizeof *source->self);
    mem_free(memory, source->total, source->nr_sums, sizeof *source->total);
    mem_free(memory, source->functions, source->nr_functions, sizeof *source->functions);
    mem_free(memory, source->waits, source->waits ? source->nr_waits + 1 : 0, sizeof *source->waits);
    mem_free(memory, source->calls, source->nr_calls + 1, sizeof *source->calls);
}

pfr_status source_open(struct sql_source *source, pfr_error *err) {
    if (is_stream(source->path))
        PFR_TRY(spool(source, err));
    source->reader = open_once(source, err);
    if (!source->reader)
        return err->status;
    if (pfr_get_header(source->reader)->container == PFR_PIPE)
        PFR_TRY(read_to_end(source, err));
    return tracepoints_find(source, err);
}

void source_close(struct sql_source *source) {
    free_sums(source);
    pfr_model_close(source->own_model);
    pfr_close(source->model_reader);
    pfr_close(source->reader);
    if (source->spooled >= 0)
        close(source->spooled);
}

pfr_reader *pfr_sql_reader(pfr_sql *sql, unsigned index, pfr_error *err) {
    if (index >= sql->nr_sources || !sql->sources[index]->reader) {
        pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "sql", "there is no recording %u", index);
        return NULL;
    }
    struct sql_source *source = sql->sources[index];
    sql->interrupted = 0;
    return read_to_end(source, err) < 0 ? NULL : source->reader;
}
