/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of source files. The files may be anybody's, so only regular files are read, up to a limit. See
   annotate_parts.h. */
#include "view/annotate/annotate_parts.h"

#include "symbol/table/regular_file.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SOURCE_MOST ((uint64_t)16 << 20) /* bytes of a file that are read */

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

static bool open_source(const struct annotate *a, const char *file, int *fd) {
    struct stat facts;
    char path[4096];
    if (a->options->source_dir) {
        const int length =
            snprintf(path, sizeof path, "%s/%s", a->options->source_dir, without_leading(file, a->options->strip));
        if (length > 0 && length < (int)sizeof path && open_regular(path, 0, fd, &facts) == SYMBOL_FOUND)
            return true;
    }
    return !a->only_source_dir && open_regular(file, 0, fd, &facts) == SYMBOL_FOUND;
}

static bool add_line(struct annotate *a, struct source_text *s, const char *line, size_t length) {
    if (s->lines == s->lines_room) {
        void *more = mem_grow(a->memory, s->at, s->lines, &s->lines_room, 256, sizeof *s->at);
        if (!more)
            return false;
        s->at = more;
    }
    if (s->length + length + 1 > s->room) {
        const size_t room = 2 * s->room + length + 4096;
        void *more = mem_resize(a->memory, s->bytes, s->room, room, 1);
        if (!more)
            return false;
        s->bytes = more;
        s->room = room;
    }
    s->at[s->lines++] = (uint32_t)s->length;
    if (length)
        memcpy(s->bytes + s->length, line, length);
    s->bytes[s->length + length] = '\0';
    s->length += length + 1;
    return true;
}

/* Leaves out lines that do not fit or cannot be read, because the listing is useful without them. */
static void read_lines(struct annotate *a, struct source_text *s, int fd) {
    struct line_reader reader;
    const char *line;
    size_t length;
    if (line_reader_start(&reader, fd, SOURCE_MOST, a->memory) == SYMBOL_FOUND)
        while (line_reader_next(&reader, &line, &length) == SYMBOL_FOUND && add_line(a, s, line, length)) {
        }
    line_reader_end(&reader);
}

void source_free(struct annotate *a, struct source_text *s) {
    mem_free(a->memory, s->bytes, s->room, 1);
    mem_free(a->memory, s->at, s->lines_room, sizeof *s->at);
    *s = (struct source_text){.file = NULL};
}

const char *source_line(struct annotate *a, struct source_text *s, const char *file, uint32_t line) {
    int fd;
    if (!file || !line)
        return NULL;
    if (!s->file || strcmp(s->file, file) != 0) {
        source_free(a, s);
        s->file = file;
        if (open_source(a, file, &fd)) {
            read_lines(a, s, fd);
            close(fd);
        }
    }
    return line <= s->lines ? s->bytes + s->at[line - 1] : NULL;
}
