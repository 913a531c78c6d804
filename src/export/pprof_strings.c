/* SPDX-License-Identifier: Apache-2.0 */
/* The string table of a profile. */
#include "export/pprof.h"
#include "base/text/escape.h"

pfr_status pprof_string(struct exporting *e, const void *bytes, size_t length, uint32_t *number, pfr_error *err) {
    struct pprof *p = e->state;
    const uint8_t *at = bytes;
    uint32_t code;
    struct output text;
    out_open_memory(&text, e->memory);
    if (!e->to->raw_names) {
        out_escaped(&text, bytes, length);
    } else {
        for (size_t i = 0, took; i < length; i += took) {
            took = utf8_take(at + i, length - i, &code);
            out_write(&text, took ? (const void *)(at + i) : "\xef\xbf\xbd", took ? took : 3);
            took += took == 0;
        }
    }
    size_t written;
    const char *escaped = out_bytes(&text, &written);
    pfr_status st = text.status < 0 ? mem_fail(e->memory, err, "names") : PFR_OK;
    if (st >= 0)
        st = intern_put(&p->strings, written ? escaped : "", written, number, err);
    out_close(&text, NULL);
    return st;
}
