/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads lines of source files. The files are not trusted: only regular files are read, up to a maximum size. A listing
 * goes back and forth between files, so up to HELD_MOST bytes of texts stay in memory; the texts that were read first
 * are freed first. At most READ_MOST bytes are read in all, even if a line table has many names for the same file. See
 * annotate_parts.h.
 */
#include "view/annotate/annotate_source.h"

#include "symbol/table/regular_file.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SOURCE_MOST ((uint64_t)16 << 20) /* maximum bytes read of one file */
#define HELD_MOST ((uint64_t)64 << 20)
#define READ_MOST ((uint64_t)512 << 20)
#define LINE_TOO_LONG UINT32_MAX

struct source_text {
    char *bytes;
    size_t length, bytes_room;
    uint32_t *at; /* offset of each line in `bytes`, or LINE_TOO_LONG; [0] is line 1 */
    size_t lines, lines_room;
    uint32_t next; /* number of the text that was read after this one */
    bool is_held;
    bool is_copy; /* the text was found by the object's build id (find_source) */
};

/* --- Opening a file. */

static const char *without_leading(const char *path, uint32_t folders) {
    while (*path == '/')
        path++;
    for (; folders; folders--) {
        const char *slash = strchr(path, '/');
        if (!slash)
            break;
        path = slash + 1;
    }
    return path;
}

static bool open_below(const struct annotate *a, const char *file, int *fd, struct stat *facts) {
    char path[4096];
    if (!a->options->source_dir)
        return false;
    const int length =
        snprintf(path, sizeof path, "%s/%s", a->options->source_dir, without_leading(file, a->options->strip));
    return length > 0 && length < (int)sizeof path && open_regular(path, 0, fd, facts) == SYMBOL_FOUND;
}

/* Opens a copy of the file at the path that the caller's find_source gives. */
static bool open_copy(const struct annotate *a, const char *file, int *fd, struct stat *facts) {
    const pfr_annotate_options *o = a->options;
    const pfr_model_object *object = a->sources.object;
    char path[4096];
    return o->find_source && object && object->build_id_size && *file == '/' &&
           o->find_source(o->source_context, object->build_id, object->build_id_size, file, path, sizeof path) &&
           open_regular(path, 0, fd, facts) == SYMBOL_FOUND;
}

static bool open_source(const struct annotate *a, const char *file, int *fd, bool *is_copy) {
    struct stat facts;
    *is_copy = false;
    if (open_below(a, file, fd, &facts) || (!a->only_source_dir && open_regular(file, 0, fd, &facts) == SYMBOL_FOUND))
        return true;
    *is_copy = open_copy(a, file, fd, &facts);
    return *is_copy;
}

/* --- Reading the text of a file. */

static bool add_line(struct annotate *a, struct source_text *s, uint32_t at) {
    if (s->lines == s->lines_room) {
        void *more = mem_grow(a->memory, s->at, s->lines, &s->lines_room, 256, sizeof *s->at);
        if (!more)
            return false;
        s->at = more;
    }
    s->at[s->lines++] = at;
    return true;
}

/* Adds line `number`. Lines between the last one and this one were skipped because they are too long. */
static bool add_text(struct annotate *a, struct source_text *s, uint64_t number, const char *line, size_t length) {
    if (s->length + length + 1 > s->bytes_room) {
        const size_t room = 2 * s->bytes_room + length + 4096;
        void *more = mem_resize(a->memory, s->bytes, s->bytes_room, room, 1);
        if (!more)
            return false;
        s->bytes = more;
        s->bytes_room = room;
    }
    while (s->lines + 1 < number)
        if (!add_line(a, s, LINE_TOO_LONG))
            return false;
    if (!add_line(a, s, (uint32_t)s->length))
        return false;
    if (length)
        memcpy(s->bytes + s->length, line, length);
    s->bytes[s->length + length] = '\0';
    s->length += length + 1;
    return s->length + s->lines * sizeof *s->at <= SOURCE_MOST;
}

/* Stops without an error at the first line that does not fit or cannot be read, because the listing is useful without
   the rest. */
static void read_lines(struct annotate *a, struct source_text *s, int fd) {
    struct line_reader reader;
    const char *line;
    size_t length;
    if (line_reader_start(&reader, fd, SOURCE_MOST, a->memory) == SYMBOL_FOUND)
        while (line_reader_next(&reader, &line, &length) == SYMBOL_FOUND &&
               add_text(a, s, reader.number, line, length)) {
        }
    line_reader_end(&reader);
    a->sources.was_read += SOURCE_MOST - reader.bytes_left;
}

/* --- Texts in memory. */

static uint64_t size_of(const struct source_text *s) {
    return s->bytes_room + s->lines_room * sizeof *s->at;
}

static void free_text(struct annotate *a, struct source_text *s) {
    a->sources.held -= size_of(s);
    mem_free(a->memory, s->bytes, s->bytes_room, 1);
    mem_free(a->memory, s->at, s->lines_room, sizeof *s->at);
    *s = (struct source_text){.next = INTERN_NONE};
}

static void free_oldest(struct annotate *a) {
    struct source_text *s = &a->sources.texts[a->sources.oldest];
    a->sources.oldest = s->next;
    free_text(a, s);
}

static void note_over(struct annotate *a) {
    char text[128];
    snprintf(text, sizeof text,
             "source files: more than %u MB would have to be read; the other source lines are not shown",
             (unsigned)(READ_MOST >> 20));
    if (!a->sources.is_over && a->options->note)
        a->options->note(a->options->context, text);
    a->sources.is_over = true;
}

static void count_missing(struct source_files *f, const char *file) {
    if (!f->missing++)
        pfr_escape(f->first_missing, sizeof f->first_missing, file, strlen(file));
}

static void hold(struct annotate *a, uint32_t id, const char *file) {
    struct source_files *f = &a->sources;
    struct source_text *s = &f->texts[id];
    int fd;
    s->is_held = true;
    if (f->oldest == INTERN_NONE)
        f->oldest = id;
    else
        f->texts[f->newest].next = id;
    f->newest = id;
    if (f->was_read >= READ_MOST)
        note_over(a);
    else if (open_source(a, file, &fd, &s->is_copy)) {
        read_lines(a, s, fd);
        close(fd);
    } else {
        count_missing(f, file);
    }
    f->held += size_of(s);
    while (f->held > HELD_MOST && f->oldest != id)
        free_oldest(a);
}

static bool number_of(struct annotate *a, const char *file, uint32_t *id) {
    struct source_files *f = &a->sources;
    pfr_error ignored;
    if (!f->is_open) {
        intern_init(&f->names, a->memory);
        f->oldest = INTERN_NONE;
        f->is_open = true;
    }
    if (intern_put(&f->names, file, strlen(file), id, &ignored) != PFR_OK)
        return false;
    while (*id >= f->room) {
        const size_t room = f->room;
        void *more = mem_grow_zeroed(a->memory, f->texts, room, &f->room, 16, sizeof *f->texts);
        if (!more)
            return false;
        f->texts = more;
        for (size_t i = room; i < f->room; i++)
            f->texts[i].next = INTERN_NONE;
    }
    return true;
}

static const struct source_text *text_of(struct annotate *a, const char *file) {
    uint32_t id;
    if (!file || !number_of(a, file, &id))
        return NULL;
    if (!a->sources.texts[id].is_held)
        hold(a, id, file);
    return &a->sources.texts[id];
}

const char *source_line(struct annotate *a, const char *file, uint32_t line) {
    const struct source_text *s = line ? text_of(a, file) : NULL;
    return s && line <= s->lines && s->at[line - 1] != LINE_TOO_LONG ? s->bytes + s->at[line - 1] : NULL;
}

size_t source_count(struct annotate *a, const char *file) {
    const struct source_text *s = text_of(a, file);
    return s ? s->lines : 0;
}

bool source_is_copy(struct annotate *a, const char *file) {
    const struct source_text *s = a->options->find_source ? text_of(a, file) : NULL;
    return s && s->is_copy;
}

void source_files_note(const struct annotate *a) {
    const struct source_files *f = &a->sources;
    char others[64] = "", sentence[1024];
    if (!f->missing || !a->options->note || a->options->find_source)
        return;
    if (f->missing > 1)
        snprintf(others, sizeof others, " and %u other source file%s", f->missing - 1, f->missing > 2 ? "s" : "");
    snprintf(sentence, sizeof sentence,
             "%s%s: source file not found; give its directory with --%ssource-dir, or fetch with "
             "--debuginfod",
             f->first_missing, others, a->reader == a->options->base ? "base-" : "");
    a->options->note(a->options->context, sentence);
}

const char *source_shown(const char *line, char to[SOURCE_SHOWN_ROOM]) {
    size_t length = 0, column = 0;
    for (const char *at = line; *at; at++) {
        const size_t blanks = *at == '\t' ? 8 - column % 8 : 0;
        if (length + 9 > SOURCE_SHOWN_ROOM)
            return line;
        if (blanks)
            memset(to + length, ' ', blanks);
        else
            to[length] = *at;
        length += blanks ? blanks : 1;
        column += blanks ? blanks : (*at & 0xc0) != 0x80; /* a UTF-8 character counts once, at its first byte */
    }
    to[length] = '\0';
    return to;
}

void source_files_of(struct annotate *a, const pfr_model_object *object) {
    if (a->sources.object != object && a->options->find_source) /* texts found by build id belong to the old object */
        source_files_free(a);
    a->sources.object = object;
}

void source_files_free(struct annotate *a) {
    struct source_files *f = &a->sources;
    if (!f->is_open)
        return;
    while (f->oldest != INTERN_NONE)
        free_oldest(a);
    mem_free(a->memory, f->texts, f->room, sizeof *f->texts);
    f->texts = NULL;
    f->room = 0;
    intern_free(&f->names);
    f->is_open = false; /* number_of opens it again for the next object */
}
