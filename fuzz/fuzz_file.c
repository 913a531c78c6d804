/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A whole recording: opened in memory, its events and features inspected, every record read. A file must give the same
 * records again after pfr_rewind. A stream must give the same records through a pipe as in memory. At a record with a
 * wrong size, more records may be lost through a pipe, because a pipe cannot seek back; then only the laws of fuzz_walk
 * must hold.
 */
#include "base/memory/sizes.h"
#include "base/io/unpack.h"
#include "fuzz.h"

#include <fcntl.h>
#include <unistd.h>

#define PIPE_ROOM 65536u /* bytes that a pipe accepts without a reader */

static const pfr_open_options options = {.size = sizeof options, .limits = &fuzz_limits};

static void look_at_events(const pfr_reader *reader) {
    for (uint32_t i = 0; i < pfr_event_count(reader); i++) {
        const pfr_event *e = pfr_get_event(reader, i);
        LAW(e->name && e->rebuilt, "event %u has no name", i);
        fuzz_touch(layout_at(L_attr), &e->attr);
        for (uint64_t k = 0; k < e->nr_ids; k++) {
            const int32_t owner = pfr_event_of_id(reader, e->ids[k]);
            LAW(owner >= 0 && (uint32_t)owner < pfr_event_count(reader), "an id of event %u is %d's", i, owner);
        }
    }
    LAW(!pfr_get_event(reader, pfr_event_count(reader)), "there is an event behind the last");
}

static void look_at_features(pfr_reader *reader) {
    union any_layout body;
    pfr_error err;
    for (uint32_t i = 0; i < pfr_feature_count(reader); i++) {
        const pfr_feature *f = pfr_get_feature(reader, i, &err);
        const struct layout *l = f ? layout_at(f->layout) : NULL;
        if (!f)
            fuzz_check_error(&err, err.status, UINT64_MAX);
        else if (l && pfr_decode_feature(reader, f, &body, l->size, &err) == PFR_OK)
            fuzz_touch(l, &body);
    }
}

static void give_again(pfr_reader *reader, const struct walked *first, size_t length) {
    const pfr_quality before = *pfr_get_quality(reader);
    pfr_error err;
    LAW(pfr_rewind(reader, &err) == PFR_OK, "no way back: %s", err.text);
    const struct walked again = fuzz_walk(reader, length);
    const pfr_quality *after = pfr_get_quality(reader);
    fuzz_same_walk(first, &again, "then");
    LAW(memcmp(&before, after, sizeof before) == 0, "the second pass counts something else");
}

/* Makes standard input a pipe with these bytes; returns the old one. */
static int pipe_in(const uint8_t *bytes, size_t length) {
    int ends[2];
    const int old = dup(STDIN_FILENO);
    LAW(pipe2(ends, O_CLOEXEC) == 0, "no pipe");
    LAW(write(ends[1], bytes, length) == (ssize_t)length, "a pipe without room for %zu bytes", length);
    LAW(dup2(ends[0], STDIN_FILENO) == STDIN_FILENO, "no standard input");
    close(ends[0]);
    close(ends[1]);
    return old;
}

static void pipe_out(int old) {
    if (old < 0) {
        close(STDIN_FILENO);
        return;
    }
    dup2(old, STDIN_FILENO);
    close(old);
}

static void give_as_stream(const uint8_t *bytes, size_t length, const struct walked *first) {
    const int old = pipe_in(bytes, length);
    pfr_error err;
    pfr_reader *reader = pfr_open("-", &options, &err);
    LAW(reader, "the stream does not open: %s", err.text);
    const struct walked streamed = fuzz_walk(reader, length);
    if (first->holes == 0)
        fuzz_same_walk(first, &streamed, "as a stream");
    pfr_close(reader);
    pipe_out(old);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    pfr_error err = {.status = PFR_OK};
    pfr_reader *reader = pfr_open_bytes(bytes, length, &options, &err);
    if (!reader) {
        fuzz_check_error(&err, err.status, length);
        return 0;
    }
    look_at_events(reader);
    look_at_features(reader);
    const struct walked walked = fuzz_walk(reader, length);
    look_at_events(reader);
    look_at_features(reader);
    fuzz_draw_sizes(bytes, length);
    if (pfr_get_header(reader)->container == PFR_FILE)
        give_again(reader, &walked, length);
    else if (length <= PIPE_ROOM && unpack_recognise(bytes, length) == UNPACK_NONE) /* an input in memory is not
                                                                                       decompressed */
        give_as_stream(bytes, length, &walked);
    pfr_close(reader);
    sizes_draw(0, NULL);
    return 0;
}
