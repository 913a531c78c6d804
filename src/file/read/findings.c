/* SPDX-License-Identifier: Apache-2.0 */
/* Faults other than holes in the records, and the name of the part that an error is in. */
#include "file/read/findings.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Every pass handles the records again, so a fault may be found twice. */
static bool is_found(const pfr_reader *r, uint64_t offset, const char *where) {
    for (uint32_t i = 0; i < r->damage.nr_findings; i++)
        if (r->damage.findings[i].offset == offset && strcmp(r->damage.findings[i].where, where) == 0)
            return true;
    return false;
}

void found(pfr_reader *r, uint64_t offset, uint64_t length, const char *where, const char *text, ...) {
    va_list list;
    if (is_found(r, offset, where))
        return;
    count_hole(r, &r->damage.quality.bad_header, 0);
    if (r->damage.nr_findings == FINDINGS_MOST)
        return; /* counted, but without a text */
    pfr_error *finding = &r->damage.findings[r->damage.nr_findings++];
    va_start(list, text);
    *finding = (pfr_error){PFR_HOLE, offset, length, where, ""};
    vsnprintf(finding->text, sizeof finding->text, text, list);
    va_end(list);
}

void error_in_part(pfr_error *err, uint32_t part) {
    const size_t length = strlen(err->text);
    if (part > 0)
        snprintf(err->text + length, sizeof err->text - length, " (in data.%" PRIu32 ")", part - 1);
}
