/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a target without an engine on every file of a folder, in the order of their names. The name of each file is
 * printed before it is run, so the last one printed is the input that ended the program.
 *
 *     replay_records fuzz/corpus/records
 */
#include "fuzz.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

static void run_file(const char *path) {
    FILE *file = fopen(path, "rb");
    struct stat facts;
    LAW(file && fstat(fileno(file), &facts) == 0, "%s cannot be read", path);
    const size_t length = (size_t)facts.st_size;
    uint8_t *bytes = malloc(length ? length : 1); /* exact size, so that a sanitizer detects each read past the end */
    LAW(bytes && fread(bytes, 1, length, file) == length, "%s cannot be read", path);
    fclose(file);
    printf("    %s\n", path);
    fflush(stdout);
    LLVMFuzzerTestOneInput(bytes, length);
    free(bytes);
}

static int no_hidden(const struct dirent *entry) {
    return entry->d_name[0] != '.';
}

static int run_folder(const char *folder) {
    struct dirent **entries;
    char path[4096];
    const int count = scandir(folder, &entries, no_hidden, alphasort);
    for (int i = 0; i < count; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        run_file(path);
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
    return count;
}

int main(int argc, char **argv) {
    const char *name = argc == 2 && strrchr(argv[1], '/') ? strrchr(argv[1], '/') + 1 : "";
    const int count = argc == 2 ? run_folder(argv[1]) : 0;
    if (count > 0)
        printf("ok fuzz/%s (%d inputs)\n", name, count);
    else
        printf("not ok fuzz/%s: usage: replay FOLDER, with inputs in it\n", name);
    return count > 0 ? 0 : 1;
}
