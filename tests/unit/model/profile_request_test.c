/* SPDX-License-Identifier: Apache-2.0 */
/* Tests which options of a request can be combined; profile_load rejects the other combinations. */
#include "../file/recording_builder.h"
#include "model/profile/result/profile.h"

static unsigned likeness(void *context, const struct profile *p, uint32_t frame, uint64_t *words) {
    (void)context, (void)p, (void)frame;
    *words = 0;
    return 1;
}

TEST(requests_that_consumers_make) {
    static const struct profile_request good[] = {
        {0},
        {.shape = PROFILE_LEAVES},
        {.shape = PROFILE_TREE, .unit = PROFILE_ADDRESSES, .lines = PROFILE_INLINED, .unnamed = PROFILE_UNNAMED_APART},
        {.shape = PROFILE_TREE, .unnamed = PROFILE_UNNAMED_TOGETHER},
        {.shape = PROFILE_STACKS, .unit = PROFILE_NAMED_LAST, .mangled_names = true},
        {.shape = PROFILE_SUMS, .likeness = likeness, .unnamed = PROFILE_UNNAMED_APART},
        {.shape = PROFILE_LEAVES, .unit = PROFILE_ADDRESSES_APART, .keys = PROFILE_BIT(PROFILE_ADDR)},
        {.counted = PROFILE_BRANCHES, .unit = PROFILE_ADDRESSES, .keys = PROFILE_BIT(PROFILE_TO)},
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_int_equal(profile_request_check(&good[i], NULL), PFR_OK);
}

TEST(requests_that_contradict_themselves) {
    static const struct {
        struct profile_request request;
        const char *why;
    } bad[] = {
        {{.keys = PROFILE_BIT(PROFILE_KEYS)}, "no such key"},
        {{.counted = PROFILE_BRANCHES, .shape = PROFILE_LEAVES}, "branches have no frames"},
        {{.keys = PROFILE_BIT(PROFILE_FROM)}, "need PROFILE_BRANCHES"},
        {{.shape = PROFILE_SUMS}, "need each other"},
        {{.shape = PROFILE_TREE, .likeness = likeness}, "need each other"},
        {{.shape = PROFILE_TREE, .lines = PROFILE_LINES}, "lines are"},
        {{.shape = PROFILE_STACKS, .unit = PROFILE_ADDRESSES, .lines = PROFILE_INLINED}, "nodes of a tree"},
        {{.shape = PROFILE_SUMS, .likeness = likeness, .unit = PROFILE_ADDRESSES, .lines = PROFILE_LINES},
         "before lines"},
        {{.shape = PROFILE_TREE, .unit = PROFILE_ADDRESSES, .unnamed = PROFILE_UNNAMED_TOGETHER}, "of their own"},
        {{.shape = PROFILE_TREE, .unit = PROFILE_NAMED_LAST, .unnamed = PROFILE_UNNAMED_APART}, "named last"},
        {{.shape = PROFILE_TREE, .unit = PROFILE_NAMED_LAST, .keys = PROFILE_BIT(PROFILE_ADDR)}, "named last"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        pfr_error err = {0};
        assert_int_equal(profile_request_check(&bad[i].request, &err), PFR_ERR_USAGE);
        if (!strstr(err.text, bad[i].why))
            fail_msg("\"%s\" does not say \"%s\"", err.text, bad[i].why);
    }
}

TEST(profile_load_refuses_contradictions) {
    const struct profile_request request = {.shape = PROFILE_SUMS};
    struct builder b = {0};
    struct profile *p;
    begin_file(&b, &(struct plan){.header_size = 104, .events = 1});
    end_file(&b);
    pfr_reader *reader = open_built(&b, NULL);
    assert_int_equal(profile_load(&p, reader, &request, NULL), PFR_ERR_USAGE);
    assert_null(p);
    assert_int_equal(pfr_next(reader, &(pfr_record){0}, NULL), PFR_END);
    pfr_close(reader);
    free(b.bytes);
}
