/* SPDX-License-Identifier: Apache-2.0 */
/* Creates and counts findings, and passes them to the caller. */
#include "edit/verify/verify_parts.h"
#include <stdarg.h>
#include <stdio.h>

/* --- Reporting. */

static void report_finding(struct verify *v, const struct rule *rule, const char *text, const pfr_record *rec,
                           uint64_t offset, uint64_t length) {
    const pfr_finding finding = {.rule = &rule->public,
                                 .offset = offset,
                                 .length = length,
                                 .inside = rec && rec->inside,
                                 .inner = rec && rec->inside ? rec->inner : 0,
                                 .part = rec ? rec->part : 0,
                                 .text = text};
    if (rule->public.severity == PFR_NOTE && !v->options->notes)
        return;
    v->found++;
    if (v->options->found)
        v->options->found(v->options->context, &finding);
}

void verify_report(struct verify *v, const struct rule *rule, uint64_t offset, uint64_t length, const char *format,
                   ...) {
    char text[256];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    report_finding(v, rule, text, NULL, offset, length);
}

void verify_report_record(struct verify *v, const struct rule *rule, const char *format, ...) {
    char text[256];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    report_finding(v, rule, text, v->rec, v->rec->offset, v->rec->inside ? 0 : v->rec->size);
}

/* The text of the reader's error is already escaped. */
pfr_status report_hole(struct verify *v, const struct rule *rule, pfr_error *err) {
    (void)err;
    pfr_record at = {.part = v->point || !v->reader->nr_parts ? 0 : v->reader->parts[v->reader->cursor.part].number};
    const uint64_t offset = v->hole->offset == PFR_NO_OFFSET ? 0 : v->hole->offset; /* a hole that concerns the whole
                                                                                       directory is reported at 0 */
    report_finding(v, rule, v->hole->text, &at, offset, v->hole->length);
    return PFR_OK;
}

pfr_status report_check(struct verify *v, const struct rule *rule, pfr_error *err) {
    const struct check_finding *f = v->odd;
    char text[256];
    (void)err;
    if (f->error)
        snprintf(text, sizeof text, "%s: %s", v->odd_of, f->error->text);
    else
        snprintf(text, sizeof text, "%s%s%s: %s", v->odd_of, f->field ? "." : "", f->field ? f->field->name : "",
                 rule->public.about);
    const pfr_record *rec = v->rec;
    if (rec && rec->inside)
        report_finding(v, rule, text, rec, rec->offset, 0);
    else if (f->error && v->feature) /* the wrong number may be anywhere before the place where the error was found */
        report_finding(v, rule, text, rec, v->feature->offset, v->feature->bytes.length);
    else
        report_finding(v, rule, text, rec, f->offset, f->length);
    return PFR_OK;
}

pfr_status verify_ask(struct verify *v, enum verify_stage stage, uint32_t which, pfr_error *err) {
    for (const struct rule *const *rule = v->by_stage[stage]; *rule; rule++)
        if ((*rule)->which == which || (*rule)->which == ANY_TYPE)
            PFR_TRY((*rule)->check(v, *rule, err));
    return PFR_OK;
}

pfr_status verify_ask_only(struct verify *v, enum verify_stage stage, uint32_t which, pfr_error *err) {
    for (const struct rule *const *rule = v->by_stage[stage]; *rule; rule++)
        if ((*rule)->which == which)
            PFR_TRY((*rule)->check(v, *rule, err));
    return PFR_OK;
}

static enum check_kind kind_of_check(const char *rule) {
    static const char *const names[] = {[CHECK_NUL] = "text-without-nul",
                                        [CHECK_BEHIND] = "bytes-after-end",
                                        [CHECK_ZEROS] = "zeros-after-end",
                                        [CHECK_RESERVED] = "reserved-not-zero",
                                        [CHECK_PADDING] = "padding-not-zero"};
    for (unsigned i = CHECK_NUL; i <= CHECK_PADDING; i++)
        if (strcmp(names[i], rule) == 0)
            return (enum check_kind)i;
    return CHECK_MISFIT;
}

static void on_check(void *context, const struct check_finding *finding) {
    struct verify *v = context;
    v->odd = finding;
    verify_ask(v, AT_CHECK, kind_of_check(finding->rule), NULL);
}

pfr_status verify_layout(struct verify *v, const struct layout *l, const struct pfr_context *c, pfr_bytes bytes,
                         uint64_t offset, const char *of, pfr_error *err) {
    (void)err;
    v->odd_of = of;
    layout_check(l, c, bytes.at, bytes.length, offset, on_check, v);
    return PFR_OK;
}

/* --- Events. */

uint64_t verify_event_place(const struct verify *v, uint32_t index, uint64_t *length) {
    const pfr_header *h = &v->reader->header;
    *length = v->reader->events.list[index].public.attr_bytes.length;
    if (h->container == PFR_PIPE)
        return index < v->nr_attr_places ? v->attr_places[index] + RECORD_HEADER : h->header_size;
    return v->reader->events.attrs_at + index * h->attr_size;
}
