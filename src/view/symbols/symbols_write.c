/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the rows as a table with the problems below each row, and as JSON (docs/json/symbols.schema.json). */
#include "view/symbols/symbols_write.h"
#include "view/symbols/symbols_mend.h"

#include "base/memory/fail.h"
#include "base/text/json.h"
#include "view/symbols/symbols_path.h"

#include <string.h>

#define NUMBER_WIDTH 10u
#define SHARE_WIDTH 7u
#define MARGIN 12u /* indentation of the lines below a row */

/* --- Text. */

/* Never rounds up to 100.0 if something is missing. */
static double share(uint64_t part, uint64_t whole) {
    const double exact = whole ? 100.0 * (double)part / (double)whole : 0;
    return part < whole && exact > 99.9 ? 99.9 : exact;
}

static void write_share(pfr_output *to, uint64_t part, uint64_t whole) {
    out_f64(&to->out, share(part, whole), 1);
    out_text(&to->out, " %");
}

static void write_cell(pfr_output *to, uint64_t part, uint64_t whole) {
    const double shown = share(part, whole);
    out_pad(&to->out, shown >= 100 ? SHARE_WIDTH - 6 : shown >= 10 ? SHARE_WIDTH - 5 : SHARE_WIDTH - 4);
    out_f64(&to->out, shown, 1);
    out_char(&to->out, '%');
}

static void write_heading(const struct symbols *s, pfr_output *to) {
    char sentence[CHAIN_SENTENCE_MOST];
    const struct profile *p = s->profile;
    out_text(&to->out, "# ");
    out_u64(&to->out, s->all.samples);
    out_text(&to->out, s->all.samples == 1 ? " sample; of " : " samples; of ");
    out_u64(&to->out, s->all.addresses);
    out_text(&to->out, " addresses in them and their call chains ");
    write_share(to, s->all.named, s->all.addresses);
    out_text(&to->out, " have names, ");
    write_share(to, s->all.lined, s->all.addresses);
    out_text(&to->out, " lines\n");
    for (uint32_t i = 0; i < p->nr_events; i++) {
        if (!chain_counts_describe(&p->unwound[i], sentence))
            continue;
        const char *name = profile_event(p->reader, i)->name;
        out_text(&to->out, "# ");
        print_name(to, name, strlen(name));
        out_text(&to->out, ": ");
        out_text(&to->out, sentence);
        out_char(&to->out, '\n');
    }
    if (p->names.caches_damaged) {
        out_text(&to->out, "# damaged files in the cache of source lines, not used: ");
        out_u64(&to->out, p->names.caches_damaged);
        out_char(&to->out, '\n');
    }
    out_text(&to->out, "#\n#  Samples  Addresses   Named   Lines  Object\n");
}

static void write_under(pfr_output *to, const char *title, const char *text) {
    if (!*text)
        return;
    out_pad(&to->out, MARGIN);
    out_text(&to->out, title);
    out_text(&to->out, text);
    out_char(&to->out, '\n');
}

static void write_fault(pfr_output *to, const char *title, const struct symbols_fault *f) {
    if (!f->any)
        return;
    out_pad(&to->out, MARGIN);
    out_text(&to->out, title);
    print_name(to, f->why, strlen(f->why)); /* may contain file names from the object */
    out_char(&to->out, '\n');
    write_under(to, "$ ", f->command);
    write_under(to, *f->command ? "or: " : "", f->advice);
}

static void write_faults(pfr_output *to, const struct symbols_faults *faults) {
    const struct symbols_fault *names = &faults->names, *lines = &faults->lines;
    const bool are_one = names->any && lines->any && names->fault == lines->fault;
    write_fault(to, are_one ? "names and lines: " : "names: ", names);
    if (!are_one)
        write_fault(to, "lines: ", lines);
    write_fault(to, "inlined functions: ", &faults->inlined);
}

static void write_row(const struct symbols *s, const struct symbols_row *row, pfr_output *to) {
    const struct symbols_sums *sums = &row->sums;
    const struct intern_text path = symbols_path(s, row);
    out_u64_wide(&to->out, sums->samples, NUMBER_WIDTH);
    out_u64_wide(&to->out, sums->addresses, NUMBER_WIDTH + 1);
    out_char(&to->out, ' ');
    write_cell(to, sums->named, sums->addresses);
    out_char(&to->out, ' ');
    write_cell(to, sums->lined, sums->addresses);
    out_text(&to->out, "  ");
    print_name(to, path.bytes, path.length);
    out_char(&to->out, '\n');
}

pfr_status symbols_write_text(struct symbols *s, pfr_output *to, pfr_error *err) {
    struct symbols_faults faults;
    write_heading(s, to);
    for (size_t i = 0; i < s->nr_rows && s->rows[i].sums.addresses; i++) {
        PFR_TRY(symbols_find_faults(s, &s->rows[i], &faults, err));
        write_row(s, &s->rows[i], to);
        write_faults(to, &faults);
    }
    return PFR_OK;
}

/* --- JSON. */

static void number(struct json *j, const char *key, uint64_t value) {
    json_key(j, key);
    json_u64(j, value);
}

static void text_or_null(struct json *j, const char *key, const char *text) {
    json_key(j, key);
    if (*text)
        json_text(j, text);
    else
        json_null(j);
}

static void json_sums(const struct symbols_sums *sums, struct json *j) {
    number(j, "samples", sums->samples);
    number(j, "addresses", sums->addresses);
    number(j, "named", sums->named);
    number(j, "with_lines", sums->lined);
}

static void json_fault(struct json *j, const char *key, const struct symbols_fault *f) {
    json_key(j, key);
    if (!f->any) {
        json_null(j);
        return;
    }
    json_begin_object(j);
    json_key(j, "cause");
    json_text(j, object_fault_name(f->fault));
    json_key(j, "why");
    json_text(j, f->why);
    text_or_null(j, "command", f->command);
    text_or_null(j, "advice", f->advice);
    json_end_object(j);
}

static pfr_status json_row(struct symbols *s, const struct symbols_row *row, struct json *j, pfr_error *err) {
    const struct intern_text path = symbols_path(s, row);
    struct symbols_faults faults;
    PFR_TRY(symbols_find_faults(s, row, &faults, err));
    json_begin_object(j);
    json_key(j, "path");
    json_string(j, path.bytes, path.length);
    json_key(j, "build_id");
    if (faults.id.size)
        json_hex_bytes(j, faults.id.bytes, faults.id.size);
    else
        json_null(j);
    json_sums(&row->sums, j);
    json_fault(j, "names", &faults.names);
    json_fault(j, "lines", &faults.lines);
    json_fault(j, "inlined", &faults.inlined);
    json_end_object(j);
    return PFR_OK;
}

static void json_cache(const struct symbols *s, struct json *j) {
    json_key(j, "cache");
    json_begin_object(j);
    number(j, "read", s->profile->names.caches_read);
    number(j, "damaged", s->profile->names.caches_damaged);
    json_end_object(j);
}

static void json_stacks(const struct symbols *s, struct json *j) {
    const struct profile *p = s->profile;
    json_key(j, "stacks");
    json_begin_array(j);
    for (uint32_t i = 0; i < p->nr_events; i++) {
        const struct chain_counts *counts = &p->unwound[i];
        const uint64_t *ends = counts->ends;
        if (ends[UNWOUND_COMPLETE] + ends[UNWOUND_TRUNCATED] + ends[UNWOUND_BROKEN] + ends[UNWOUND_NOTHING] == 0)
            continue;
        const char *name = profile_event(p->reader, i)->name;
        json_begin_object(j);
        json_key(j, "event");
        json_text(j, name);
        number(j, "complete", ends[UNWOUND_COMPLETE]);
        number(j, "truncated", ends[UNWOUND_TRUNCATED]);
        number(j, "broken", ends[UNWOUND_BROKEN]);
        number(j, "nothing", ends[UNWOUND_NOTHING]);
        number(j, "limited", chain_counts_limited(counts));
        number(j, "guessed", counts->guessed);
        number(j, "missing", counts->missing);
        json_end_object(j);
    }
    json_end_array(j);
}

pfr_status symbols_write_json(struct symbols *s, pfr_output *to, pfr_error *err) {
    struct json j = json_on(&to->out, JSON_PRETTY);
    json_begin_object(&j);
    number(&j, "version", 1);
    json_sums(&s->all, &j);
    json_cache(s, &j);
    json_stacks(s, &j);
    json_key(&j, "objects");
    json_begin_array(&j);
    for (size_t i = 0; i < s->nr_rows && s->rows[i].sums.addresses; i++)
        PFR_TRY(json_row(s, &s->rows[i], &j, err));
    json_end_array(&j);
    json_end_object(&j);
    json_end_line(&j);
    return PFR_OK;
}
