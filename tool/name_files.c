/* SPDX-License-Identifier: Apache-2.0 */
/* See name_files.h. Only regular files are opened: a FIFO would wait. A kernel's list may also be /dev/null, which has
   no names. */
#include "name_files.h"

#include "caching.h"
#include "fetching.h"
#include "outcome.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define HEAD_ROOM 64u

static const char needs_folder[] = "give the directory that contains the objects";
static const char needs_debug[] = "give the directory of separate debug files";
static const char needs_vmlinux[] = "give a vmlinux file with symbols";
static const char needs_kallsyms[] = "give a copy of /proc/kallsyms";

static bool refuse(const char *who, const char *option, const char *name, const char *why, const char *next) {
    complain_as(who, "%s %s: %s; %s", option, name, why, next);
    return false;
}

static bool folder_fits(const char *who, const char *option, const char *name, const char *next) {
    struct stat facts;
    if (!name || !*name)
        return true;
    if (stat(name, &facts) < 0 && errno == ENOENT) { /* users of perf name a missing directory to disable the lookup */
        complain_as(who, "%s %s: %s: nothing will be found there; %s", option, name, strerror(ENOENT), next);
        return true;
    }
    if (stat(name, &facts) < 0)
        return refuse(who, option, name, strerror(errno), next);
    if (!S_ISDIR(facts.st_mode))
        return refuse(who, option, name, "is not a directory", next);
    return access(name, X_OK) == 0 || refuse(who, option, name, strerror(errno), next);
}

/* Reads the first HEAD_ROOM bytes, or fewer if the file is shorter. Returns their number; -1: errno has the error. */
static ssize_t read_head(const char *name, char head[HEAD_ROOM]) {
    int fd;
    do
        fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    while (fd < 0 && errno == EINTR);
    if (fd < 0)
        return -1;
    size_t have = 0;
    ssize_t got = 1;
    while (have < HEAD_ROOM && got != 0 && (got > 0 || errno == EINTR)) {
        got = read(fd, head + have, HEAD_ROOM - have);
        have += got > 0 ? (size_t)got : 0;
    }
    const int why = errno;
    close(fd);
    errno = why;
    return got < 0 ? -1 : (ssize_t)have;
}

static bool is_object(const char *head, size_t size) {
    return size >= 4 && memcmp(head, "\177ELF", 4) == 0;
}

/* Whether the text begins with a line such as "ffffffff81000000 T _text". */
static bool is_symbol_list(const char *head, size_t size) {
    size_t digits = 0;
    while (digits < size && isxdigit((unsigned char)head[digits]))
        digits++;
    return size == 0 || (digits > 0 && digits + 2 < size && head[digits] == ' ' &&
                         isalpha((unsigned char)head[digits + 1]) && head[digits + 2] == ' ');
}

static bool file_fits(const char *who, const char *option, const char *name, const char *next,
                      bool (*is_one)(const char *head, size_t size), const char *why) {
    struct stat facts;
    char head[HEAD_ROOM];
    if (!name || !*name)
        return true;
    if (stat(name, &facts) < 0 || access(name, R_OK) < 0)
        return refuse(who, option, name, strerror(errno), next);
    if (!S_ISREG(facts.st_mode))
        return refuse(who, option, name, S_ISDIR(facts.st_mode) ? "is a directory" : "is not a regular file", next);
    const ssize_t got = read_head(name, head);
    if (got < 0)
        return refuse(who, option, name, strerror(errno), next);
    return is_one(head, (size_t)got) || refuse(who, option, name, why, next);
}

pfr_symbol_options symbol_options_of(const struct naming *n) {
    return (pfr_symbol_options){.size = sizeof(pfr_symbol_options),
                                .symfs = n->symfs,
                                .debug_dir = n->debug_dir,
                                .cache_dir = cache_folder(n->cache),
                                .vmlinux = n->vmlinux,
                                .kallsyms = n->kallsyms,
                                .instr_maps = n->instr_maps.count ? n->instr_maps.at : NULL,
                                .no_symbols = n->no_symbols,
                                .mangled = n->mangled || wants_demangled(n->demangle, DEMANGLE_NO),
                                .parameters = wants_demangled(n->demangle, DEMANGLE_FULL),
                                .templates = templates_of(n->demangle, true),
                                .demangle_kernel = n->demangle_kernel};
}

bool name_files_fit(const char *who, const struct naming *f) {
    const bool no_list = f->kallsyms && strcmp(f->kallsyms, "/dev/null") == 0;
    return folder_fits(who, "--symfs", f->symfs, needs_folder) &&
           folder_fits(who, "--debug-dir", f->debug_dir, needs_debug) &&
           file_fits(who, "--vmlinux", f->vmlinux, needs_vmlinux, is_object, "is not an object file") &&
           (no_list ||
            file_fits(who, "--kallsyms", f->kallsyms, needs_kallsyms, is_symbol_list, "is not a list of symbols"));
}
