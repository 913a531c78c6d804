/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The list of the members of perf_event_attr, and the functions that traverse it. Where perf's label is a union, such
 * as `{ bp_addr, config1 }`, JSON uses the plain name of the member. Flags are members like the others, one bit each.
 */
#include "view/info/info_attr.h"

#include "wire/layout.h"
#include "wire/names.h"

const struct attr_style attr_style_list = {": ", ", ", ": "};
const struct attr_style attr_style_header = {", ", ", ", " = "};

enum attr_form { FORM_DEC, FORM_HEX, FORM_SIGNED, FORM_SAMPLE_TYPE, FORM_READ_FORMAT, FORM_BRANCHES };

struct attr_member {
    const char *label; /* perf's label; NULL: same as the key */
    const char *key;
    size_t at, width;
    enum attr_form form;
};

#define PLACE(member) offsetof(struct pfr_rec_attr, member), sizeof(((struct pfr_rec_attr *)0)->member)
#define MEMBER(name, form)                                                                                             \
    { NULL, #name, PLACE(name), form }
#define LABELED(label, name, form)                                                                                     \
    { label, #name, PLACE(name), form }
#define FLAG(name)                                                                                                     \
    { NULL, #name, PLACE(flags.name), FORM_DEC }

static const struct attr_member attr_members[] = {
    MEMBER(type, FORM_DEC),
    MEMBER(size, FORM_DEC),
    MEMBER(config, FORM_HEX),
    LABELED("{ sample_period, sample_freq }", sample_period, FORM_DEC),
    MEMBER(sample_type, FORM_SAMPLE_TYPE),
    MEMBER(read_format, FORM_READ_FORMAT),
    FLAG(disabled),
    FLAG(inherit),
    FLAG(pinned),
    FLAG(exclusive),
    FLAG(exclude_user),
    FLAG(exclude_kernel),
    FLAG(exclude_hv),
    FLAG(exclude_idle),
    FLAG(mmap),
    FLAG(comm),
    FLAG(freq),
    FLAG(inherit_stat),
    FLAG(enable_on_exec),
    FLAG(task),
    FLAG(watermark),
    FLAG(precise_ip),
    FLAG(mmap_data),
    FLAG(sample_id_all),
    FLAG(exclude_host),
    FLAG(exclude_guest),
    FLAG(exclude_callchain_kernel),
    FLAG(exclude_callchain_user),
    FLAG(mmap2),
    FLAG(comm_exec),
    FLAG(use_clockid),
    FLAG(context_switch),
    FLAG(write_backward),
    FLAG(namespaces),
    FLAG(ksymbol),
    FLAG(bpf_event),
    FLAG(aux_output),
    FLAG(cgroup),
    FLAG(text_poke),
    FLAG(build_id),
    FLAG(inherit_thread),
    FLAG(remove_on_exec),
    FLAG(sigtrap),
    FLAG(defer_callchain),
    FLAG(defer_output),
    LABELED("{ wakeup_events, wakeup_watermark }", wakeup_events, FORM_DEC),
    MEMBER(bp_type, FORM_DEC),
    LABELED("{ bp_addr, config1 }", config1, FORM_HEX),
    LABELED("{ bp_len, config2 }", config2, FORM_HEX),
    MEMBER(branch_sample_type, FORM_BRANCHES),
    MEMBER(sample_regs_user, FORM_HEX),
    MEMBER(sample_stack_user, FORM_DEC),
    MEMBER(clockid, FORM_SIGNED),
    MEMBER(sample_regs_intr, FORM_HEX),
    MEMBER(aux_watermark, FORM_DEC),
    MEMBER(sample_max_stack, FORM_DEC),
    MEMBER(aux_sample_size, FORM_DEC),
    MEMBER(sig_data, FORM_DEC),
    MEMBER(config3, FORM_HEX),
    MEMBER(config4, FORM_HEX),
};

#define ATTR_MEMBERS (sizeof attr_members / sizeof *attr_members)

/* perf prints the names of sample_type bits in a different order, and has no name for TRANSACTION (bit 17). */
static const uint8_t sample_type_order[] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11,
                                            12, 13, 16, 18, 15, 14, 19, 20, 21, 22, 23, 24};
static const uint8_t read_format_order[] = {0, 1, 2, 3, 4};
static const uint8_t branch_order[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17};

struct bit_names {
    unsigned set;
    const uint8_t *order;
    size_t count;
};

static const struct bit_names bit_names_by_form[] = {
    [FORM_SAMPLE_TYPE] = {SHOW_SAMPLE_TYPE, sample_type_order, sizeof sample_type_order},
    [FORM_READ_FORMAT] = {SHOW_READ_FORMAT, read_format_order, sizeof read_format_order},
    [FORM_BRANCHES] = {SHOW_BRANCH_SAMPLE, branch_order, sizeof branch_order},
};

static uint64_t member_value(const struct pfr_rec_attr *attr, const struct attr_member *member) {
    const char *at = (const char *)attr + member->at;
    uint64_t wide;
    uint32_t half;
    uint16_t quarter;
    if (member->width == sizeof wide)
        return memcpy(&wide, at, sizeof wide), wide;
    if (member->width == sizeof half)
        return memcpy(&half, at, sizeof half), half;
    return memcpy(&quarter, at, sizeof quarter), quarter;
}

static void say_bits(pfr_output *to, const struct bit_names *names, uint64_t bits) {
    const char *between = "";
    for (size_t i = 0; i < names->count; i++) {
        if (!(bits >> names->order[i] & 1))
            continue;
        say(to, "%s%s", between, name_of(names->set, names->order[i]));
        between = "|";
    }
}

static void say_value(pfr_output *to, enum attr_form form, uint64_t value) {
    if (form == FORM_DEC)
        say(to, "%" PRIu64, value);
    else if (form == FORM_HEX)
        say(to, "%#" PRIx64, value);
    else if (form == FORM_SIGNED)
        say(to, "%" PRId32, (int32_t)value);
    else
        say_bits(to, &bit_names_by_form[form], value);
}

void say_attr(pfr_output *to, const struct pfr_rec_attr *attr, const struct attr_style *style) {
    const char *before = style->first;
    for (const struct attr_member *member = attr_members; member < attr_members + ATTR_MEMBERS; member++) {
        const uint64_t value = member_value(attr, member);
        if (value == 0)
            continue;
        say(to, "%s%s%s", before, member->label ? member->label : member->key, style->equals);
        say_value(to, member->form, value);
        before = style->between;
    }
}

static void json_bits(struct json *json, const struct name_set *set, uint64_t bits) {
    json_begin_array(json);
    for (const struct name *name = set->names; name->text; name++)
        if (bits >> name->value & 1)
            json_text(json, name->text);
    json_end_array(json);
}

static void json_value(struct json *json, enum attr_form form, uint64_t value) {
    if (form == FORM_DEC)
        json_u64(json, value);
    else if (form == FORM_HEX)
        json_hex(json, value);
    else if (form == FORM_SIGNED)
        json_i64(json, (int32_t)value);
    else
        json_bits(json, name_set_of(bit_names_by_form[form].set), value);
}

void json_attr(struct json *json, const struct pfr_rec_attr *attr) {
    for (const struct attr_member *member = attr_members; member < attr_members + ATTR_MEMBERS; member++) {
        const uint64_t value = member_value(attr, member);
        if (value == 0)
            continue;
        json_key(json, member->key);
        json_value(json, member->form, value);
    }
}
