/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds out why addresses of a row have no names, and makes a command that fixes the problem. If a file of the recorded
 * build is found elsewhere, the command copies the file to the place where it is looked up. Otherwise a debuginfod
 * server may have the file, and the command downloads it. Only the printed command uses the network, this file does
 * not:
 *
 *     install -D -m 600 /opt/app/lib.so.debug /home/me/.debug/.build-id/ab/cdef.../debug
 *     f=$(DEBUGINFOD_URLS=... debuginfod-find debuginfo abcdef...) && install -D -m 600 "$f" /home/me/...
 */
#include "view/symbols/symbols_mend.h"

#include "base/text/escape.h"
#include "base/memory/fail.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define FETCH "f=$(DEBUGINFOD_URLS=${DEBUGINFOD_URLS:-https://debuginfod.elfutils.org} debuginfod-find %s %s)"
#define QUOTED_ROOM (4 * DEBUG_PATH_ROOM / 3)

/* Quotes a name for sh; false if it is too long or cannot be shown and typed safely. */
static bool quote(const char *name, char to[QUOTED_ROOM]) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-";
    char shown[QUOTED_ROOM];
    const size_t length = strlen(name);
    if (length == 0 || length > QUOTED_ROOM - 4 || name[0] == '-' || strchr(name, '\''))
        return false;
    if (escape_into(shown, sizeof shown, name, length) != length || memcmp(shown, name, length) != 0)
        return false;
    const bool is_plain = name[strspn(name, plain)] == '\0';
    snprintf(to, QUOTED_ROOM, is_plain ? "%s" : "'%s'", name);
    return true;
}

/* --- Commands. */

/* Drops a command that was truncated. */
static void settle(struct symbols_fault *f, int length) {
    if (length < 0 || (size_t)length >= sizeof f->command)
        f->command[0] = '\0';
}

static void put_there(const struct object_spare *spare, const struct build_id *id, const char *kind,
                      struct symbols_fault *f) {
    char from[QUOTED_ROOM], to[QUOTED_ROOM], digits[BUILD_ID_TEXT_ROOM];
    build_id_text(digits, id->bytes, id->size);
    if (!*spare->place || !quote(spare->place, to))
        return;
    if (*spare->path && quote(spare->path, from))
        settle(f, snprintf(f->command, sizeof f->command, "install -D -m 600 %s %s", from, to));
    else
        settle(f, snprintf(f->command, sizeof f->command, FETCH " && install -D -m 600 \"$f\" %s", kind, digits, to));
}

static void report_with(const struct symbols *s, const struct object_spare *spare, const struct build_id *id,
                        struct symbols_fault *f) {
    char file[QUOTED_ROOM], from[QUOTED_ROOM], digits[BUILD_ID_TEXT_ROOM];
    const char *name = s->options->file ? s->options->file : "perf.data";
    build_id_text(digits, id->bytes, id->size);
    if (id->size == 0 || !quote(name, file))
        return;
    if (*spare->path && quote(spare->path, from))
        settle(f, snprintf(f->command, sizeof f->command, "perfray report --vmlinux %s %s", from, file));
    else
        settle(f, snprintf(f->command, sizeof f->command, FETCH " && perfray report --vmlinux \"$f\" %s", "debuginfo",
                           digits, file));
}

static void read_as_root(const struct symbols *s, struct symbols_fault *f) {
    char file[QUOTED_ROOM];
    const char *name = s->options->file ? s->options->file : "perf.data";
    if (quote(name, file))
        settle(f, snprintf(f->command, sizeof f->command, "sudo perfray report %s", file));
}

static void advise(struct symbols_fault *f, enum object_need need) {
    static const char *const advices[] = {
        [NEED_NOTHING] = "",
        [NEED_OBJECT] = "put the recorded file at the same path below a directory, and give the directory with --symfs",
        [NEED_DEBUG] = "build it with -g, or replace it by the unstripped file of the same build",
        [NEED_VMLINUX] =
            "give the vmlinux file of the recorded kernel with --vmlinux, or its list of symbols with --kallsyms",
        [NEED_SETTING] = "",
        [NEED_READER] = "",
        [NEED_SPLIT] = "put these files at their recorded paths or beside the object, or put their package beside the "
                       "object as OBJECT.dwp",
        [NEED_SHARED] = "install the shared file from the package of the debugging information, or give its directory "
                        "with --debug-dir",
        [NEED_MAP] = "have the program write /tmp/perf-PID.map: node --perf-basic-prof, python -X perf, a Java agent",
    };
    snprintf(f->advice, sizeof f->advice, "%s", advices[need]);
}

static pfr_status mend(struct symbols *s, const struct symbols_row *row, const struct object_look *look, bool lines,
                       struct symbols_fault *f, pfr_error *err) {
    const enum object_need need = object_fault_need(f->fault);
    struct object_spare spare;
    if (need == NEED_OBJECT || need == NEED_DEBUG || need == NEED_VMLINUX)
        PFR_TRY(object_spare_find(&s->profile->names, row->object, look, need, lines, &spare, err));
    if (need == NEED_OBJECT || need == NEED_DEBUG)
        put_there(&spare, &look->id, need == NEED_OBJECT ? "executable" : "debuginfo", f);
    else if (need == NEED_VMLINUX)
        report_with(s, &spare, &look->id, f);
    else if (need == NEED_SETTING)
        settle(f, snprintf(f->command, sizeof f->command, "sudo sysctl -w kernel.kptr_restrict=0"));
    else if (need == NEED_READER)
        read_as_root(s, f);
    advise(f, need);
    return PFR_OK;
}

/* --- Reasons. */

static void say_why(const struct object_look *look, struct symbols_fault *f) {
    char recorded[BUILD_ID_TEXT_ROOM], other[BUILD_ID_TEXT_ROOM];
    const char *text = object_fault_text(f->fault);
    const bool by_id = object_fault_need(f->fault) == NEED_OBJECT || object_fault_need(f->fault) == NEED_DEBUG;
    build_id_text(recorded, look->id.bytes, look->id.size);
    build_id_text(other, look->other.bytes, look->other.size);
    const bool is_other =
        f->fault == FAULT_REPLACED || (f->fault == FAULT_OTHER_VMLINUX && look->other.size && look->id.size);
    if (is_other && look->other.size <= 20 && look->id.size <= 20)
        snprintf(f->why, sizeof f->why, "%s: its build-id is %s, the recorded one %s", text, other, recorded);
    else if (by_id && look->id.size)
        snprintf(f->why, sizeof f->why, "%s; build-id %s", text, recorded);
    else if (by_id)
        snprintf(f->why, sizeof f->why, "%s; no build-id was recorded", text);
    else
        snprintf(f->why, sizeof f->why, "%s", text);
}

static pfr_status describe(struct symbols *s, const struct symbols_row *row, const struct object_look *look, bool lines,
                           struct symbols_fault *f, pfr_error *err) {
    f->any = true;
    f->fault = lines ? look->lines : look->names;
    say_why(look, f);
    return row->object == NO_OBJECT ? PFR_OK : mend(s, row, look, lines, f, err);
}

/* Writes "...: 3 units, first /src/a.dwo". */
static void describe_inlined(const struct object_look *look, struct symbols_fault *f) {
    const struct debug_missed *missed = look->missed;
    const char *text = object_fault_text(look->inlined);
    f->any = true;
    f->fault = look->inlined;
    if (missed->units)
        snprintf(f->why, sizeof f->why, "%s: %" PRIu32 " unit%s, first %s", text, missed->units,
                 missed->units == 1 ? "" : "s", missed->split);
    else
        snprintf(f->why, sizeof f->why, "%s: %s", text, missed->shared);
    advise(f, object_fault_need(f->fault));
}

pfr_status symbols_find_faults(struct symbols *s, const struct symbols_row *row, struct symbols_faults *faults,
                               pfr_error *err) {
    struct object_look look;
    *faults = (struct symbols_faults){0};
    PFR_TRY(object_look(&s->profile->names, row->object, &look, err));
    faults->id = look.id;
    if (row->sums.named < row->sums.addresses)
        PFR_TRY(describe(s, row, &look, false, &faults->names, err));
    if (row->sums.lined < row->sums.addresses)
        PFR_TRY(describe(s, row, &look, true, &faults->lines, err));
    if (look.lacks_inlined)
        describe_inlined(&look, &faults->inlined);
    return PFR_OK;
}
