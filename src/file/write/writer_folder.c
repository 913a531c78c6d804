/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a recording as a directory: `data`, which is a file like any other, and data.N, which hold only records. The
   directory is named PATH.PID.new until it is complete, and never replaces an existing one. */
#include "base/io/descriptor.h"
#include "file/write/writer_folder.h"
#include "file/write/writer_part_open.h"

#include <stdio.h>
#include <sys/stat.h>

#define ENDING ((size_t)32) /* bytes; enough for .PID.new */
#define NAME_ROOM 32u
#define FILLED_MOST 8192u /* above the largest number of cpus that a kernel supports */

static void name_part(char name[NAME_ROOM], uint32_t number) {
    if (number)
        snprintf(name, NAME_ROOM, "data.%u", number - 1);
    else
        snprintf(name, NAME_ROOM, "data");
}

/* Makes the final and the temporary name, in the arena. */
static pfr_status make_names(pfr_writer *w, const char *path, pfr_error *err) {
    const size_t length = strlen(path);
    w->folder.path = arena_text(&w->arena, path, length);
    w->folder.new_path = arena_zeroed(&w->arena, length + ENDING, 1);
    if (!w->folder.path || !w->folder.new_path)
        return mem_fail(&w->memory, err, "folder");
    if (w->in_place)
        snprintf(w->folder.new_path, length + ENDING, "%s", path);
    else
        snprintf(w->folder.new_path, length + ENDING, "%s.%ld.new", path, (long)getpid());
    return PFR_OK;
}

pfr_status folder_open(pfr_writer *w, const char *path, pfr_error *err) {
    struct stat st;
    PFR_TRY(make_names(w, path, err));
    if (lstat(path, &st) == 0)
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "output",
                        "%.80s already exists; a recording directory is not written over it", path);
    if (mkdir(w->folder.new_path, 0700) < 0)
        return pfr_fail_errno(err, errno, "make", path);
    w->folder.is_made = true;
    w->folder.handle = descriptor_open(AT_FDCWD, w->folder.new_path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
    if (w->folder.handle < 0)
        return pfr_fail_errno(err, errno, "open", path);
    return folder_part(w, 0, err);
}

static pfr_status part_unmade(const pfr_writer *w, const char *name, pfr_error *err) {
    char path[100];
    const int error_number = errno;
    snprintf(path, sizeof path, "%.60s/%s", w->folder.path, name);
    return pfr_fail_errno(err, error_number, "make", path);
}

pfr_status folder_part(pfr_writer *w, uint32_t number, pfr_error *err) {
    char name[NAME_ROOM];
    if (w->folder.nr_parts == w->folder.parts_room) {
        struct written_part *more = mem_resize(&w->memory, w->folder.parts, w->folder.parts_room,
                                               (size_t)w->folder.parts_room * 2, sizeof *more);
        if (!more)
            return mem_fail(&w->memory, err, "parts");
        w->folder.parts = more;
        w->folder.parts_room *= 2;
    }
    name_part(name, number);
    const int fd = descriptor_open(w->folder.handle, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
    if (fd < 0)
        return part_unmade(w, name, err);
    const uint32_t made = w->folder.parts_made;
    const pfr_status s = part_open(w, fd, true, number, err);
    if (s < 0 && w->folder.parts_made == made) /* no other code knows this file yet */
        unlinkat(w->folder.handle, name, 0);
    return s;
}

/* The highest number of a data.N file, up to which gaps are filled; 0: gaps are not filled. */
static uint32_t last_number(const pfr_writer *w) {
    uint32_t last = 0;
    for (uint32_t i = 0; i < w->folder.parts_made; i++)
        last = w->folder.parts[i].number > last ? w->folder.parts[i].number : last;
    return last <= FILLED_MOST ? last : 0;
}

/* Makes an empty file for each unused number, because readers would take a missing file for lost records. */
static pfr_status fill_gaps(pfr_writer *w, pfr_error *err) {
    char name[NAME_ROOM];
    const uint32_t last = last_number(w);
    for (uint32_t number = 1; number < last; number++) {
        name_part(name, number);
        const int fd = descriptor_open(w->folder.handle, name, O_WRONLY | O_CREAT | O_NOFOLLOW, 0600);
        if (fd < 0)
            return part_unmade(w, name, err);
        close(fd);
    }
    return PFR_OK;
}

pfr_status folder_whole(pfr_writer *w, pfr_error *err) {
    PFR_TRY(fill_gaps(w, err));
    if (w->in_place)
        return PFR_OK;
    if (renameat2(AT_FDCWD, w->folder.new_path, AT_FDCWD, w->folder.path, RENAME_NOREPLACE) == 0)
        return PFR_OK;
    if (errno == EINVAL &&
        rename(w->folder.new_path, w->folder.path) == 0) /* the file system does not support the flag */
        return PFR_OK;
    return pfr_fail_errno(err, errno, "name", w->folder.path);
}

/* Removes an unfinished directory with all files made in it. */
void folder_close(pfr_writer *w, bool is_whole) {
    char name[NAME_ROOM];
    if (w->folder.is_made && !is_whole && !w->in_place) {
        for (uint32_t i = 0; w->folder.handle >= 0 && i < w->folder.parts_made; i++) {
            name_part(name, w->folder.parts[i].number);
            unlinkat(w->folder.handle, name, 0);
        }
        for (uint32_t number = 1; w->folder.handle >= 0 && number < last_number(w); number++) {
            name_part(name, number);
            unlinkat(w->folder.handle, name, 0);
        }
        rmdir(w->folder.new_path);
    }
    if (w->folder.handle >= 0)
        close(w->folder.handle);
    w->folder.handle = -1;
    w->folder.is_made = false;
}
