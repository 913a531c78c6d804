/* SPDX-License-Identifier: Apache-2.0 */
/* Parses --fields for XRay traces: names separated by commas; +NAME and -NAME change the current selection. */
#include "view/xray/xray_script.h"

#include "base/memory/fail.h"

#include <string.h>

static const struct {
    const char *name;
    unsigned bit;
} names[] = {{"pid", TRACE_FIELD_PID},   {"tid", TRACE_FIELD_TID},     {"cpu", TRACE_FIELD_CPU},
             {"time", TRACE_FIELD_TIME}, {"event", TRACE_FIELD_EVENT}, {"sym", TRACE_FIELD_SYM},
             {"dso", TRACE_FIELD_DSO},   {"trace", TRACE_FIELD_TRACE}};

static pfr_status find(const char *text, size_t length, unsigned *bit, pfr_error *err) {
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i].name) == length && memcmp(names[i].name, text, length) == 0)
            return *bit = names[i].bit, PFR_OK;
    return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "fields",
                    "calls and events of a trace have no field \"%.*s\"; fields: pid, tid, cpu, time, event, sym, "
                    "dso and trace",
                    (int)(length < 40 ? length : 40), text);
}

/* A list without signs replaces the current selection. */
static pfr_status read_list(const char *list, unsigned *fields, pfr_error *err) {
    bool is_new = true;
    for (const char *at = list;; at++) {
        const char sign = *at == '+' || *at == '-' ? *at++ : 0;
        const size_t length = strcspn(at, ",");
        unsigned bit = 0;
        PFR_TRY(find(at, length, &bit, err));
        if (!sign && is_new)
            *fields = 0;
        is_new = is_new && sign;
        *fields = sign == '-' ? *fields & ~bit : *fields | bit;
        at += length;
        if (*at == '\0')
            return PFR_OK;
    }
}

pfr_status xray_fields_read(const char *const *lists, unsigned *fields, pfr_error *err) {
    *fields = TRACE_FIELDS_USUAL;
    for (; lists && *lists; lists++)
        PFR_TRY(read_list(*lists, fields, err));
    return PFR_OK;
}
