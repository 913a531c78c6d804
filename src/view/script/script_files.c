/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the output of each event to its own file PREFIX.EVENT.dump, which gets its name when it is complete
 * (whole_file.h). At the end, prints a line per file, in perf's words:
 *
 *     [ perf script: Wrote 0.002 MB perf.data.cpu-clock.dump (58 samples) ]
 */
#include "view/script/script_files.h"

#include "base/text/escape.h"
#include "base/memory/fail.h"
#include "base/io/whole_file.h"

#include <stdio.h>

#define PATH_MOST 4096u
#define NAME_MOST 200u /* maximum length of an event's name in a path, in bytes */

struct script_file {
    struct whole_file file;
    struct pfr_output to;
    uint64_t samples;
};

/* Makes a file name without '/' and without control characters. */
static void file_name(char *to, size_t room, const char *event) {
    escape_into(to, room, event, strlen(event));
    for (char *at = to; *at; at++)
        if (*at == '/')
            *at = '_';
}

static bool is_taken(const struct script *s, const char *path) {
    for (uint32_t i = 0; i < s->sequence.nr_files; i++)
        if (strcmp(s->sequence.files[i].file.path, path) == 0)
            return true;
    return false;
}

/* Events with the same name get a number. */
static bool make_path(const struct script *s, const char *event, char path[PATH_MOST]) {
    char name[NAME_MOST];
    file_name(name, sizeof name, event);
    int length = snprintf(path, PATH_MOST, "%s.%s.dump", s->shared->options->per_event, name);
    if (length > 0 && (size_t)length < PATH_MOST && is_taken(s, path))
        length = snprintf(path, PATH_MOST, "%s.%s.%u.dump", s->shared->options->per_event, name, s->sequence.nr_files);
    return length > 0 && (size_t)length < PATH_MOST;
}

static pfr_status open_file(struct script *s, struct script_file *file, const char *event, pfr_error *err) {
    char path[PATH_MOST];
    if (!make_path(s, event, path))
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "per-event-dump",
                        "the name of the recording is too long");
    *file = (struct script_file){.to.raw_names = s->to->raw_names};
    return whole_file_open(&file->file, path, s->memory, &file->to.out, err);
}

pfr_status script_files_make(struct script *s, pfr_error *err) {
    size_t room = s->sequence.nr_files_room;
    while (s->shared->options->per_event && s->sequence.nr_files < s->shared->nr_events) {
        if (s->sequence.nr_files == room) {
            struct script_file *more =
                mem_grow(s->memory, s->sequence.files, s->sequence.nr_files, &room, 8, sizeof *s->sequence.files);
            if (!more)
                return mem_fail(s->memory, err, "files");
            s->sequence.files = more;
            s->sequence.nr_files_room = room;
        }
        s->sequence.files[s->sequence.nr_files] = (struct script_file){0};
        struct script_file *file = &s->sequence.files[s->sequence.nr_files];
        PFR_TRY(open_file(s, file, s->shared->events[s->sequence.nr_files].event->name, err));
        s->sequence.nr_files++;
    }
    return PFR_OK;
}

struct script_file *script_file_begin(struct script *s, const struct script_event *event, pfr_output **before) {
    struct script_file *file = &s->sequence.files[event - s->shared->events];
    *before = s->to;
    s->to = &file->to;
    s->out = &file->to.out;
    file->samples++;
    return file;
}

void script_file_end(struct script *s, struct script_file *file, pfr_output *before) {
    if (file->to.out.status < 0)
        script_fail(s, out_flush(&file->to.out, s->err));
    s->to = before;
    s->out = &before->out;
}

static void say_written(struct script *s, const char *path, uint64_t samples, uint64_t bytes) {
    char text[80];
    snprintf(text, sizeof text, "[ perf script: Wrote %.3f MB ", (double)bytes / 1024 / 1024);
    out_text(s->out, text);
    print_name(s->to, path, strlen(path));
    snprintf(text, sizeof text, " (%llu samples) ]\n", (unsigned long long)samples);
    out_text(s->out, text);
}

/* Closes the file; if it is complete, reports it. */
static pfr_status finish(struct script *s, struct script_file *file, bool is_whole, pfr_error *err) {
    char path[PATH_MOST];
    const uint64_t bytes = out_written(&file->to.out);
    snprintf(path, sizeof path, "%s", file->file.path);
    const pfr_status st = whole_file_close(&file->file, &file->to.out, is_whole, err);
    if (st >= 0 && is_whole)
        say_written(s, path, file->samples, bytes);
    return st;
}

pfr_status script_files_finish(struct script *s, bool are_whole, pfr_error *err) {
    pfr_status worst = PFR_OK;
    for (uint32_t i = 0; i < s->sequence.nr_files; i++) {
        const pfr_status st = finish(s, &s->sequence.files[i], are_whole && worst >= 0, err);
        worst = worst < 0 ? worst : st;
    }
    mem_free(s->memory, s->sequence.files, s->sequence.nr_files_room, sizeof *s->sequence.files);
    s->sequence.files = NULL;
    s->sequence.nr_files = 0;
    return are_whole ? worst : PFR_OK;
}
