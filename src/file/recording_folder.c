/* SPDX-License-Identifier: Apache-2.0 */
/* A recording that is a directory: `data`, which has the header, and one data.N per thread or cpu with its records. */
#include "file/recording_folder.h"

#include "file/read/findings.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int by_number(const void *a, const void *b) {
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Numbers of the data.N files of a directory. */
struct part_numbers {
    uint32_t *at;
    size_t count, room;
};

static bool is_part_name(const char *name, uint32_t *number) {
    char *end;
    if (strncmp(name, "data.", 5) != 0 || name[5] < '0' || name[5] > '9')
        return false;
    const unsigned long value = strtoul(name + 5, &end, 10);
    *number = (uint32_t)value;
    return *end == '\0' && value < UINT32_MAX;
}

static pfr_status add_number(struct part_numbers *numbers, uint32_t number, struct memory *memory, pfr_error *err) {
    uint32_t *grown = mem_grow(memory, numbers->at, numbers->count, &numbers->room, 16, sizeof *grown);
    if (!grown)
        return mem_fail(memory, err, "parts");
    numbers->at = grown;
    numbers->at[numbers->count++] = number;
    return PFR_OK;
}

/* A read error of the directory must fail the opening: otherwise the parts that were not listed would be missing
   silently. */
static pfr_status read_names(DIR *names, struct part_numbers *numbers, struct memory *memory, pfr_error *err) {
    struct dirent *entry;
    uint32_t number;
    for (errno = 0; (entry = readdir(names)); errno = 0)
        if (is_part_name(entry->d_name, &number))
            PFR_TRY(add_number(numbers, number, memory, err));
    return errno == 0 ? PFR_OK : pfr_fail_errno(err, errno, "list", "the recording's folder");
}

/* Lists the numbers in ascending order. */
static pfr_status list_parts(int folder, struct part_numbers *numbers, struct memory *memory, pfr_error *err) {
    const int fd = fcntl(folder, F_DUPFD_CLOEXEC, 0);
    DIR *names = fd < 0 ? NULL : fdopendir(fd);
    if (!names) {
        const int error_number = errno;
        if (fd >= 0)
            close(fd);
        return pfr_fail_errno(err, error_number, "list", "the recording's folder");
    }
    const pfr_status s = read_names(names, numbers, memory, err);
    closedir(names);
    if (numbers->count)
        qsort(numbers->at, numbers->count, sizeof *numbers->at, by_number);
    return s;
}

static pfr_status open_first_part(pfr_reader *r, int folder, const struct input_setup *setup, pfr_error *err) {
    r->nr_parts = 1;
    if (faccessat(folder, "data", F_OK, 0) < 0 && errno == ENOENT)
        return pfr_fail(err, PFR_ERR_FORMAT, PFR_NO_OFFSET, 0, "",
                        "a directory without a file `data` is not a recording");
    PFR_TRY(input_open_at(&r->parts[0].in, folder, "data", setup, err));
    r->parts[0].open = true;
    return PFR_OK;
}

static pfr_status open_next_part(pfr_reader *r, uint32_t number, int folder, const struct input_setup *setup,
                                 pfr_error *err) {
    char name[32];
    struct part *part = &r->parts[r->nr_parts++];
    snprintf(name, sizeof name, "data.%u", number);
    PFR_TRY(input_open_at(&part->in, folder, name, setup, err));
    part->open = true;
    part->number = number + 1;
    part->end = UINT64_MAX;
    input_set_chunk(&part->in, setup->chunk); /* no buffer yet: all earlier parts are read first */
    return PFR_OK;
}

/* Recorders number their files from 0 without gaps. A gap means a missing file, and its records are missing too. */
static void report_missing(pfr_reader *r, const struct part_numbers *numbers) {
    for (size_t i = 0; i < numbers->count; i++)
        if (numbers->at[i] > i) {
            found(r, PFR_NO_OFFSET, 0, "directory", "the directory has a file data.%u but no data.%zu", numbers->at[i],
                  i);
            return;
        }
}

static pfr_status open_listed(pfr_reader *r, const struct part_numbers *numbers, int folder,
                              const struct input_setup *setup, pfr_error *err) {
    r->parts = arena_zeroed(&r->arena, numbers->count + 1, sizeof *r->parts);
    if (!r->parts)
        return mem_fail(&r->memory, err, "parts");
    PFR_TRY(open_first_part(r, folder, setup, err));
    for (size_t i = 0; i < numbers->count; i++)
        PFR_TRY(open_next_part(r, numbers->at[i], folder, setup, err));
    report_missing(r, numbers);
    return PFR_OK;
}

pfr_status open_parts(pfr_reader *r, int folder, const struct input_setup *setup, pfr_error *err) {
    struct part_numbers numbers = {0};
    pfr_status s = list_parts(folder, &numbers, &r->memory, err);
    if (s >= 0)
        s = open_listed(r, &numbers, folder, setup, err);
    mem_free(&r->memory, numbers.at, numbers.room, sizeof *numbers.at);
    return s;
}
