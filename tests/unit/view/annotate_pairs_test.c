/* SPDX-License-Identifier: Apache-2.0 */
/* Pairs of source files: the functions of a comparison share the match of their files. */
#include "test.h"

#include "view/annotate/annotate_diff.h"
#include "view/annotate/annotate_source.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static void write_version(const char *folder, const char *text) {
    char path[256];
    assert_int_equal(mkdir(folder, 0700), 0);
    snprintf(path, sizeof path, "%s/a.c", folder);
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static void remove_version(const char *folder) {
    char path[256];
    snprintf(path, sizeof path, "%s/a.c", folder);
    unlink(path);
    rmdir(folder);
}

/* Pairs one line as a function of the comparison. */
static uint32_t newer_line(struct annotate sides[IN_BOTH], struct match_cache *cache, uint32_t line) {
    struct listed_line listed = {.file = "a.c", .line = line};
    const struct line_rows rows[IN_BOTH] = {[IN_BASE] = {.at = &listed, .count = 1}};
    struct line_diff diff = {.sides = {&sides[IN_BASE], &sides[IN_NEW]}, .cache = cache};
    pfr_error err;
    line_pairs_init(&diff);
    ASSERT_OK(line_pairs_make(&diff, rows, &err), err);
    const struct diff_line found = line_pairs_place(&diff, &listed, IN_BASE);
    assert_int_equal(found.matched, MATCHED_TEXT);
    line_pairs_free(&diff);
    return found.line[IN_NEW];
}

TEST(functions_of_one_file_share_its_match) {
    char root[] = "/tmp/annotate_pairs_XXXXXX", folders[IN_BOTH][64];
    struct memory memory;
    struct match_cache cache;
    assert_non_null(mkdtemp(root));
    for (unsigned side = 0; side < IN_BOTH; side++)
        snprintf(folders[side], sizeof folders[side], "%s/%u", root, side);
    write_version(folders[IN_BASE], "one\ntwo\nthree\n");
    write_version(folders[IN_NEW], "zero\none\ntwo\nthree\n");
    memory_init(&memory, NULL, 0);
    const pfr_annotate_options options[IN_BOTH] = {{.size = sizeof *options, .source_dir = folders[IN_BASE]},
                                                   {.size = sizeof *options, .source_dir = folders[IN_NEW]}};
    struct annotate sides[IN_BOTH] = {{.options = &options[IN_BASE], .memory = &memory, .only_source_dir = true},
                                      {.options = &options[IN_NEW], .memory = &memory}};
    match_cache_init(&cache, &memory);
    for (uint32_t line = 1; line <= 3; line++)
        assert_int_equal(newer_line(sides, &cache, line), line + 1);
    assert_int_equal(cache.made, 1);
    match_cache_free(&cache);
    for (unsigned side = 0; side < IN_BOTH; side++) {
        source_files_free(&sides[side]);
        remove_version(folders[side]);
    }
    rmdir(root);
    assert_int_equal(memory.used, 0);
}
