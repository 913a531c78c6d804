/* SPDX-License-Identifier: Apache-2.0 */
/* If a file changes while it is read, it ends early or gives an error, but never a signal. */
#include "recorded_files.h"
#include "recording_builder.h"
#include "../base/input_samples.h"

/* Larger than one read, so that the rest is read after the change. */
static struct builder big_recording(void) {
    struct builder b = {0};
    begin_file(&b, &(struct plan){.header_size = 104, .events = 1});
    for (unsigned i = 0; i < 100000; i++)
        put_sample(&b, i, 0);
    end_file(&b);
    return b;
}

static void shrink_to(size_t length) {
    char folder[FOLDER_SIZE];
    pfr_record rec;
    pfr_error err = {0};
    pfr_status s = PFR_OK;
    struct builder b = big_recording();
    make_folder(folder);
    const char *path = write_file(folder, b.bytes, b.length);
    pfr_reader *r = pfr_open(path, NULL, &err);
    assert_non_null(r);
    for (unsigned i = 0; i < 10; i++)
        expect_record(r, &rec, 9);
    assert_int_equal(truncate(path, (off_t)length), 0);
    uint64_t count = 10, holes = 0;
    while ((s = pfr_next(r, &rec, &err)) >= 0 && s != PFR_END)
        s == PFR_OK ? count++ : holes++;
    assert_true(count < 100000);
    if (s >= 0 && holes == 0 && pfr_get_quality(r)->truncated_bytes == 0)
        fail_msg("%ju of 100000 records, and nothing is said (%s)", (uintmax_t)count, pfr_status_name(s));
    pfr_close(r);
    remove_folder(folder);
    free(b.bytes);
}

TEST(a_shrinking_file_is_reported) {
    shrink_to(0);
    shrink_to(200);
    shrink_to(1500000);
    shrink_to(184 + 32 * 60000); /* between two records */
}

TEST(features_of_a_file_that_shrank_do_not_crash) {
    char folder[FOLDER_SIZE], from[RECORDED_PATH];
    pfr_error err = {0};
    struct blob whole;
    whole.bytes = load_whole(recorded_path(from, "cpu-clock.data"), &whole.length);
    make_folder(folder);
    const char *path = write_file(folder, whole.bytes, whole.length);
    pfr_reader *r = pfr_open(path, NULL, &err);
    assert_non_null(r);
    assert_int_equal(truncate(path, 400), 0);
    for (uint32_t i = 0; i < pfr_feature_count(r); i++)
        if (!pfr_get_feature(r, i, &err))
            assert_true(err.status < 0);
    read_through(r);
    pfr_close(r);
    remove_folder(folder);
    free(whole.bytes);
}
