/* SPDX-License-Identifier: Apache-2.0 */
/* pfr_verify as programs call it: rules, findings in order, no findings for valid recordings. */
#include "../file/recorded_files.h"
#include "../file/xray_files.h"
#include "made_file.h"

#include <perfray/verify.h>
#include <string.h>

struct heard {
    uint64_t count, size;
    char rules[400];
};

static void hear(void *context, const pfr_finding *f) {
    struct heard *h = context;
    const size_t used = strlen(h->rules);
    h->count++;
    assert_true(f->text[0] && !strchr(f->text, '\n'));
    assert_true(f->inside || f->offset <= h->size);
    snprintf(h->rules + used, sizeof h->rules - used, "%s ", f->rule->name);
}

static pfr_status verify(pfr_reader *r, struct heard *h, bool notes) {
    const pfr_verify_options how = {.size = sizeof how, .notes = notes, .found = hear, .context = h};
    pfr_error err = {.text = ""};
    const pfr_status s = pfr_verify(r, &how, &err);
    assert_true(s == (h->count ? PFR_HOLE : PFR_OK));
    return s;
}

TEST(rules_have_names_of_their_own) {
    uint32_t count = 0;
    for (; pfr_get_rule(count); count++) {
        assert_true(pfr_get_rule(count)->about[0]);
        assert_non_null(pfr_severity_name(pfr_get_rule(count)->severity));
        for (uint32_t i = 0; i < count; i++)
            assert_string_not_equal(pfr_get_rule(i)->name, pfr_get_rule(count)->name);
    }
    assert_true(count > 50);
    assert_null(pfr_get_rule(count + 1));
}

static void expect_sound(const char *path, void *context) {
    unsigned *count = context;
    pfr_error err = {.text = ""};
    struct heard h = {.size = UINT64_MAX};
    pfr_reader *r = pfr_open(path, NULL, &err);
    if (!r)
        fail_msg("%s: %s", path, err.text);
    verify(r, &h, false);
    if (h.count && !strstr(path, "killed")) /* the recorder was killed */
        fail_msg("%s: %s", path, h.rules);
    pfr_close(r);
    ++*count;
}

TEST(sound_recordings_have_no_finding) {
    unsigned count = 0;
    each_recorded(expect_sound, &count);
    assert_true(count >= 38);
    assert_int_equal(each_trace(expect_sound, &count), 23);
}

/* A recording truncated at any byte always gives a finding. */
TEST(a_truncation_anywhere_is_found) {
    char path[RECORDED_PATH];
    size_t length;
    uint8_t *bytes = load_whole(recorded_path(path, "cpu-clock.data"), &length);
    for (size_t end = 105; end < length; end += 37) {
        struct heard h = {.size = end};
        pfr_error err = {.text = ""};
        pfr_reader *r = pfr_open_bytes(bytes, end, NULL, &err);
        if (r && verify(r, &h, false) == PFR_OK)
            fail_msg("cut at %zu of %zu: nothing is found", end, length);
        assert_true(r || err.text[0]);
        pfr_close(r);
    }
    free(bytes);
}

TEST(findings_are_reported_in_file_order) {
    struct builder b = {0};
    struct heard h = {0};
    begin_file(&b, &(struct plan){.header_size = 104, .events = 1});
    put_sample(&b, 1, 0);
    set_number(&b, b.bytes + b.length - 32 + 4, 0x10, 2);
    put_head(&b, 1, 2, 8);
    put_sample(&b, 1, 0);
    end_file(&b);
    h.size = b.length;
    pfr_reader *r = open_built(&b, NULL);
    verify(r, &h, false);
    assert_string_equal(h.rules, "record-misc record-body ");
    pfr_close(r);
    r = open_built(&b, NULL);
    assert_int_equal(pfr_verify(r, NULL, NULL), PFR_HOLE); /* no callback */
    pfr_close(r);
    free(b.bytes);
}
