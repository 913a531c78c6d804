/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A PerfDataProto, binary or text: pfr_open_any makes a recording from it. Each hole has a place inside the input. The
 * recording obeys the laws of fuzz_walk.c, and a second recording is equal. The last byte selects whether the recording
 * is converted back to a PerfDataProto.
 */
#include "base/memory/sizes.h"
#include "fuzz_made.h"

struct seen_holes {
    uint64_t holes, size;
};

static void check_hole(void *context, const pfr_error *hole) {
    struct seen_holes *seen = context;
    seen->holes++;
    LAW(hole->text[0] && !strchr(hole->text, '\n'), "a hole without a sentence: '%s'", hole->text);
    LAW(hole->offset == PFR_NO_OFFSET || hole->offset <= seen->size, "byte %ju of %ju: %s", (uintmax_t)hole->offset,
        (uintmax_t)seen->size, hole->text);
}

static pfr_reader *open_once(const char *path, struct seen_holes *seen, pfr_error *err) {
    const pfr_open_options open = {.size = sizeof open, .limits = &fuzz_limits};
    *err = (pfr_error){.offset = PFR_NO_OFFSET};
    return pfr_open_any(path, &open, check_hole, seen, err);
}

/* Offsets are not compared with a size, because they refer to a file that is not visible here. */
static struct walked walk_once(const char *path, uint64_t length, struct seen_holes *seen) {
    pfr_error err;
    struct walked walked = {.status = PFR_ERR_FORMAT};
    *seen = (struct seen_holes){.size = length};
    pfr_reader *reader = open_once(path, seen, &err);
    if (reader)
        walked = fuzz_walk(reader, UINT64_MAX);
    else
        fuzz_check_error(&err, err.status, length);
    pfr_close(reader);
    return walked;
}

static void make_again(const char *path, uint64_t length, unsigned form) {
    const pfr_edit_options how = {
        .size = sizeof how, .quipper = form & 2 ? PFR_EDIT_QUIPPER_TEXT : PFR_EDIT_QUIPPER, .file_order = form & 4};
    struct seen_holes seen = {.size = length};
    pfr_error err;
    pfr_reader *reader = open_once(path, &seen, &err);
    if (reader)
        fuzz_make(reader, &how, false, &err);
    pfr_close(reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    const unsigned form = fuzz_last(bytes, &length);
    struct fuzz_file file;
    struct seen_holes first, again;
    fuzz_file_open(&file, bytes, length);
    const struct walked walked = walk_once(file.path, length, &first);
    fuzz_draw_sizes(bytes, length);
    const struct walked same = walk_once(file.path, length, &again);
    fuzz_same_walk(&walked, &same, "made again");
    LAW(first.holes == again.holes, "%ju holes, then %ju", (uintmax_t)first.holes, (uintmax_t)again.holes);
    if (form & 1 && walked.status == PFR_END)
        make_again(file.path, length, form);
    fuzz_file_close(&file);
    sizes_draw(0, NULL);
    return 0;
}
