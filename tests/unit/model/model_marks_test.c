/* SPDX-License-Identifier: Apache-2.0 */
/* Tests what a model finds in its second pass over the recording: the cgroups of threads. */
#include "profile_failing.h"

#include <perfray/perfray.h>

static const pfr_symbol_options no_names = {.size = sizeof no_names, .no_symbols = true};

static void add_cgroup_sample(struct record_builder *s, uint32_t tid, uint64_t time, uint64_t cgroup) {
    put_head(&s->b, PFR_RECORD_SAMPLE, USER_MODE, 40);
    put_number(&s->b, 0x1000, 8);
    put_number(&s->b, 6, 4);
    put_number(&s->b, tid, 4);
    put_number(&s->b, time, 8);
    put_number(&s->b, cgroup, 8);
}

TEST(model_knows_the_last_cgroup_of_a_thread) {
    static const char *const wanted[] = {"/new", "/b", NULL};
    static const pfr_model_options o = {.size = sizeof o, .naming = &no_names};
    struct record_builder s;
    pfr_error err = {.text = ""};
    begin_records(&s, TIMED);
    set_number(&s.b, s.b.bytes + 104 + 8 + 24, SAMPLE_BITS | PFR_SAMPLE_CGROUP, 8);
    add_cgroup(&s, 1, "/a", 5);
    add_cgroup(&s, 2, "/b", 5);
    add_cgroup_sample(&s, 6, 10, 2);
    add_cgroup_sample(&s, 7, 20, 2);
    add_cgroup_sample(&s, 8, 30, 3); /* has no path */
    add_cgroup(&s, 1, "/new", 40);
    add_cgroup_sample(&s, 6, 50, 1);
    end_file(&s.b);
    pfr_reader *reader = open_built(&s.b, NULL);
    pfr_model *m = pfr_model_open(reader, &o, &err);
    if (!m)
        fail_msg("%s", err.text);
    for (uint32_t id = 1; id <= 3; id++) {
        const char *const path = pfr_model_thread_cgroup(m, id);
        const char *const of = wanted[pfr_model_get_thread(m, id)->tid - 6];
        assert_true(path && of ? strcmp(path, of) == 0 : path == of);
    }
    assert_null(pfr_model_thread_cgroup(m, 0));
    assert_null(pfr_model_thread_cgroup(m, 9));
    pfr_model_close(m);
    pfr_close(reader);
    free(s.b.bytes);
}
