/* SPDX-License-Identifier: Apache-2.0 */
/* Exit statuses and messages on standard error: see outcome.h. Each message is one write, so that the messages of
 * two programs on the same terminal are not mixed. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <perfray/out.h>
#include "outcome.h"

#define SENTENCE 1024

/* The exit status of a program that perfray ran is not in the table, because it is not a failure of perfray. */
static unsigned weight_of(enum exit_status status) {
    static const unsigned char weights[] = {
        [ENDS_FINE] = 0,    [ENDS_GATE] = 1, [ENDS_USAGE] = 6,      [ENDS_FORMAT] = 3,
        [ENDS_PARTIAL] = 2, [ENDS_IO] = 4,   [ENDS_PERMISSION] = 5,
    };
    return (size_t)status < sizeof weights ? weights[status] : weights[ENDS_GATE];
}

enum exit_status graver_of(enum exit_status a, enum exit_status b) {
    return weight_of(a) >= weight_of(b) ? a : b;
}

enum exit_status exit_status_of(pfr_status status) {
    static const enum exit_status of_failure[] = {
        [-PFR_ERR_USAGE] = ENDS_USAGE,           [-PFR_ERR_FORMAT] = ENDS_FORMAT,
        [-PFR_ERR_DAMAGE] = ENDS_PARTIAL,        [-PFR_ERR_IO] = ENDS_IO,
        [-PFR_ERR_PERMISSION] = ENDS_PERMISSION, [-PFR_ERR_MEMORY] = ENDS_IO,
        [-PFR_ERR_LIMIT] = ENDS_PARTIAL,         [-PFR_ERR_CHANGED] = ENDS_IO,
    };
    const int number = -(int)status;
    if (number <= 0)
        return status == PFR_HOLE ? ENDS_PARTIAL : ENDS_FINE;
    return number < (int)(sizeof of_failure / sizeof *of_failure) ? of_failure[number] : ENDS_IO;
}

/* `line` must have room for a newline after `length` bytes. */
static void write_line(char *line, size_t length) {
    line[length] = '\n';
    for (size_t at = 0; at <= length;) {
        const ssize_t written = write(STDERR_FILENO, line + at, length + 1 - at);
        if (written > 0)
            at += (size_t)written;
        else if (errno != EINTR)
            return; /* a failure to write to standard error cannot be reported */
    }
}

static void write_sentence(const char *text) {
    char line[4 * SENTENCE + 2];
    write_line(line, pfr_escape(line, sizeof line - 1, text, strlen(text)));
}

static void complain_list(const char *program, const char *format, va_list arguments) {
    char text[SENTENCE];
    const int head = snprintf(text, sizeof text / 2, "%s: ", program);
    const size_t used = head < 0 ? 0 : (size_t)head < sizeof text / 2 ? (size_t)head : sizeof text / 2 - 1;
    if (vsnprintf(text + used, sizeof text - used, format, arguments) < 0)
        text[used] = '\0';
    write_sentence(text);
}

void complain(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    complain_list("perfray", format, arguments);
    va_end(arguments);
}

void complain_as(const char *program, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    complain_list(program, format, arguments);
    va_end(arguments);
}

/* The text of an error is already escaped; escaping it again would turn backslashes into \x5c. */
enum exit_status complain_of(const char *file, const pfr_error *err, const char *advice) {
    char place[40] = "", name[SENTENCE] = "", line[2 * SENTENCE];
    if (file)
        pfr_escape(name, sizeof name, file, strlen(file));
    const bool is_named = !file || (err->offset == PFR_NO_OFFSET && strstr(err->text, name));
    if (err->offset != PFR_NO_OFFSET)
        snprintf(place, sizeof place, "byte %" PRIu64 ": ", err->offset);
    const int length = snprintf(line, sizeof line - 1, "perfray: %s%s%s%s%s%s", is_named ? "" : name,
                                is_named ? "" : ": ", place, err->text, advice ? "; " : "", advice ? advice : "");
    if (length > 0)
        write_line(line, (size_t)length < sizeof line - 1 ? (size_t)length : sizeof line - 2);
    return exit_status_of(err->status);
}
