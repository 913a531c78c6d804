/* SPDX-License-Identifier: Apache-2.0 */
/* Guesses by the first bytes: first by a list of beginnings, then by whether all these bytes are text. */
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <perfray/edit.h>
#include "guess.h"

struct beginning {
    const char *bytes;
    size_t length;
    const char *sentence;
};

static const struct beginning beginnings[] = {
    {"\177ELF", 4, "it is a program or library (ELF): give a recording of it"},
    {"\x17\x08\x44tracing", 10, "it is a trace.dat of trace-cmd"},
    {"Ftrace!", 7, "it is a recording of uftrace"},
    {"\xc1\x1f\xfc\xc1", 4, "it is a CTF stream (LTTng)"},
    {"SQLite format 3", 15, "it is an SQLite database"},
    {"PK\003\004", 4, "it is a zip archive: unpack it first"},
    {"BZh", 3, "it is compressed with bzip2: unpack it first"},
    {"\x04\x22\x4d\x18", 4, "it is compressed with lz4: unpack it first"},
    {"# ========", 10, "it is text that perf report --header prints: give the recording itself"},
    {"# To display the perf.data header", 33, "it is text that perf report prints: give the recording itself"},
    {"{", 1, "it seems to be JSON"},
    {"<", 1, "it seems to be HTML, XML or SVG"},
    {"#!", 2, "it is a script"},
};

static bool is_text(const uint8_t *bytes, size_t length) {
    for (size_t i = 0; i < length; i++)
        if (bytes[i] == 0x7f || (bytes[i] < 0x20 && !strchr("\t\n\r\f\033", bytes[i])) || bytes[i] == 0)
            return false;
    return length > 0;
}

static bool is_zero(const uint8_t *bytes, size_t length) {
    return length > 0 && bytes[0] == 0 && memcmp(bytes, bytes + 1, length - 1) == 0;
}

static const char *guess_bytes(const uint8_t *bytes, size_t length) {
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++)
        if (length >= beginnings[i].length && memcmp(bytes, beginnings[i].bytes, beginnings[i].length) == 0)
            return beginnings[i].sentence;
    if (length == 0)
        return "the recorder wrote nothing: record again";
    if (is_text(bytes, length))
        return "it is text";
    return is_zero(bytes, length) ? "it begins with zeros: the recorder was stopped before it wrote the header" : NULL;
}

static const char *guess_file(int fd) {
    uint8_t bytes[512];
    struct stat st;
    if (fstat(fd, &st) < 0)
        return NULL;
    if (S_ISDIR(st.st_mode))
        return "give the directory of a recording, or a file";
    if (!S_ISREG(st.st_mode))
        return NULL;
    const ssize_t length = pread(fd, bytes, sizeof bytes, 0);
    return length < 0 ? NULL : guess_bytes(bytes, (size_t)length);
}

const char *guess_content(const char *path) {
    if (pfr_is_quipper(path))
        return "it is a PerfDataProto of quipper: perfray convert converts it to a recording";
    const int fd = strcmp(path, "-") == 0 ? -1 : open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return NULL;
    const char *const sentence = guess_file(fd);
    close(fd);
    return sentence;
}
