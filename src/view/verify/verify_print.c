/* SPDX-License-Identifier: Apache-2.0 */
/* Prints findings and rules as text and JSON (docs/json/verify.schema.json). Each problem is printed as soon as it is
 * found. */
#include "base/text/json.h"
#include "base/text/public_output.h"

#include <perfray/verify.h>

#define RULES_MOST 96u

struct finding_printer {
    const pfr_verify_print_options *options;
    pfr_output *to;
    struct json json;
    uint64_t of_rule[RULES_MOST], of_severity[PFR_ERROR + 1];
};

static uint32_t number_of(const pfr_rule *rule) {
    uint32_t number = 0;
    while (pfr_get_rule(number) != rule)
        number++;
    return number;
}

/* --- Text. */

static void text_finding(struct finding_printer *p, const pfr_finding *f) {
    struct output *out = &p->to->out;
    if (f->part > 0) {
        out_text(out, "data.");
        out_u64(out, f->part - 1);
        out_text(out, " ");
    }
    out_text(out, "byte ");
    out_u64(out, f->offset);
    if (f->inside) {
        out_text(out, " (decompressed ");
        out_u64(out, f->inner);
        out_char(out, ')');
    }
    if (f->length > 0) {
        out_text(out, ", ");
        out_u64(out, f->length);
        out_text(out, f->length == 1 ? " byte" : " bytes");
    }
    out_text(out, ": ");
    out_text(out, pfr_severity_name(f->rule->severity));
    out_char(out, ' ');
    out_text(out, f->rule->name);
    out_text(out, ": ");
    print_name(p->to, f->text, strlen(f->text));
    out_char(out, '\n');
}

static void text_count(struct output *out, uint64_t count, const char *what) {
    out_u64(out, count);
    out_char(out, ' ');
    out_text(out, what);
    if (count != 1)
        out_char(out, 's');
}

static void text_left_out(struct finding_printer *p) {
    struct output *out = &p->to->out;
    for (uint32_t i = 0; p->options->most > 0 && pfr_get_rule(i); i++) {
        if (p->of_rule[i] <= p->options->most)
            continue;
        out_text(out, pfr_get_rule(i)->name);
        out_text(out, ": ");
        out_u64(out, p->of_rule[i] - p->options->most);
        out_text(out, " more\n");
    }
}

static void text_end(struct finding_printer *p, const pfr_quality *quality) {
    struct output *out = &p->to->out;
    text_left_out(p);
    text_count(out, quality->records, "record");
    out_text(out, ": ");
    text_count(out, p->of_severity[PFR_ERROR], "error");
    out_text(out, ", ");
    text_count(out, p->of_severity[PFR_WARNING], "warning");
    if (p->options->notes) {
        out_text(out, ", ");
        text_count(out, p->of_severity[PFR_NOTE], "note");
    }
    out_char(out, '\n');
}

/* --- JSON. */

static void json_number(struct json *j, const char *key, uint64_t value) {
    json_key(j, key);
    json_u64(j, value);
}

static void json_word(struct json *j, const char *key, const char *value) {
    json_key(j, key);
    json_text(j, value);
}

static void json_begin(struct finding_printer *p) {
    p->json = json_on(&p->to->out, JSON_PRETTY);
    json_begin_object(&p->json);
    json_number(&p->json, "version", 1);
    json_key(&p->json, "findings");
    json_begin_array(&p->json);
}

static void json_finding(struct finding_printer *p, const pfr_finding *f) {
    struct json *j = &p->json;
    json_begin_object(j);
    json_number(j, "offset", f->offset);
    json_number(j, "length", f->length);
    json_number(j, "part", f->part);
    if (f->inside)
        json_number(j, "inner", f->inner);
    json_word(j, "rule", f->rule->name);
    json_word(j, "severity", pfr_severity_name(f->rule->severity));
    json_word(j, "text", f->text);
    json_end_object(j);
}

static void json_end(struct finding_printer *p, const pfr_quality *quality) {
    struct json *j = &p->json;
    json_end_array(j);
    json_key(j, "rules");
    json_begin_object(j);
    for (uint32_t i = 0; pfr_get_rule(i); i++)
        if (p->of_rule[i] > 0)
            json_number(j, pfr_get_rule(i)->name, p->of_rule[i]);
    json_end_object(j);
    json_number(j, "records", quality->records);
    json_number(j, "errors", p->of_severity[PFR_ERROR]);
    json_number(j, "warnings", p->of_severity[PFR_WARNING]);
    if (p->options->notes)
        json_number(j, "notes", p->of_severity[PFR_NOTE]);
    json_end_object(j);
    json_end_line(j);
}

/* --- Text or JSON. */

static void on_found(void *context, const pfr_finding *f) {
    struct finding_printer *p = context;
    const uint32_t number = number_of(f->rule);
    p->of_severity[f->rule->severity]++;
    if (++p->of_rule[number] > p->options->most && p->options->most > 0)
        return;
    if (p->options->format == PFR_VERIFY_JSON)
        json_finding(p, f);
    else
        text_finding(p, f);
}

pfr_status pfr_verify_print(pfr_reader *reader, const pfr_verify_print_options *options, pfr_output *out,
                            pfr_error *err) {
    static const pfr_verify_print_options plain = {.size = sizeof plain};
    struct finding_printer p = {.options = options ? options : &plain, .to = out};
    const pfr_verify_options how = {.size = sizeof how, .notes = p.options->notes, .found = on_found, .context = &p};
    const bool is_json = p.options->format == PFR_VERIFY_JSON;
    if (is_json)
        json_begin(&p);
    const pfr_status s = pfr_verify(reader, &how, err);
    if (is_json)
        json_end(&p, pfr_get_quality(reader));
    else if (s >= 0)
        text_end(&p, pfr_get_quality(reader));
    return s;
}

static void text_rule(struct output *out, const pfr_rule *rule) {
    out_text(out, rule->name);
    out_pad(out, strlen(rule->name) < 20 ? 20 - strlen(rule->name) : 1);
    out_text(out, pfr_severity_name(rule->severity));
    out_pad(out, 9 - strlen(pfr_severity_name(rule->severity)));
    out_text(out, rule->about);
    out_char(out, '\n');
}

static void json_rule(struct json *j, const pfr_rule *rule) {
    json_begin_object(j);
    json_word(j, "rule", rule->name);
    json_word(j, "severity", pfr_severity_name(rule->severity));
    json_word(j, "about", rule->about);
    json_end_object(j);
}

void pfr_verify_print_rules(pfr_verify_format format, pfr_output *out) {
    const bool is_json = format == PFR_VERIFY_JSON;
    struct json json = json_on(&out->out, JSON_PRETTY);
    if (is_json)
        json_begin_array(&json);
    for (uint32_t i = 0; pfr_get_rule(i); i++)
        if (is_json)
            json_rule(&json, pfr_get_rule(i));
        else
            text_rule(&out->out, pfr_get_rule(i));
    if (is_json) {
        json_end_array(&json);
        json_end_line(&json);
    }
}
