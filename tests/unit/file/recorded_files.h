/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_TESTS_RECORDED_FILES_H
#define PFR_TESTS_RECORDED_FILES_H
/* Gives access to the recordings of tests/fixtures/recorded, and reads whole files. FIXTURES names the folder of
   fixtures. */
#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "test.h"

enum { RECORDED_PATH = 512 };

static inline const char *recorded_path(char path[RECORDED_PATH], const char *name) {
    const char *fixtures = getenv("FIXTURES");
    if (!fixtures)
        skip();
    snprintf(path, RECORDED_PATH, "%s/recorded/%s", fixtures ? fixtures : "", name); /* skip() does not return */
    return path;
}

/* Calls `use` with the path of every recording, including directories; returns how many there were. */
static inline unsigned each_recorded(void (*use)(const char *path, void *context), void *context) {
    char folder[RECORDED_PATH], path[RECORDED_PATH + 300];
    unsigned count = 0;
    DIR *dir = opendir(recorded_path(folder, ""));
    assert_non_null(dir);
    for (struct dirent *e; (e = readdir(dir));) {
        const size_t length = strlen(e->d_name);
        if (length < 5 || strcmp(e->d_name + length - 5, ".data") != 0)
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        use(path, context);
        count++;
    }
    closedir(dir);
    return count;
}

static inline bool is_folder(const char *path) {
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* Returns the whole file, which the caller frees. */
static inline uint8_t *load_whole(const char *path, size_t *length) {
    FILE *file = fopen(path, "rb");
    if (!file)
        fail_msg("%s is not there", path);
    fseek(file, 0, SEEK_END);
    *length = (size_t)ftell(file);
    rewind(file);
    uint8_t *bytes = malloc(*length + 1);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, *length, file), *length);
    fclose(file);
    return bytes;
}

#endif
