/* SPDX-License-Identifier: Apache-2.0 */
#include "view/diff/diff_view.h"

#include "base/text/escape.h"

#include <math.h>

static void put_value(const pfr_diff_value *v, struct output *to) {
    const double numbers[] = {v->base, v->changed, v->delta, v->low, v->high, v->q};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        out_char(to, ',');
        if (!isinf(numbers[i])) /* an unknown end of an interval is an empty field */
            out_fixed(to, numbers[i], 6, 0);
    }
    out_char(to, ',');
    out_text(to, pfr_diff_verdict_name(v->verdict));
    out_char(to, '\n');
}

pfr_status diff_print_csv(const struct diff_print *print, pfr_error *err) {
    struct output *to = print->to;
    (void)err;
    out_text(to, "symbol,object,base,new,delta,low,high,q,verdict\n");
    for (uint32_t i = 0; i < print->d->nr_rows; i++) {
        const pfr_diff_row *row = &print->d->rows[i];
        out_csv_field(to, row->symbol, strlen(row->symbol));
        out_char(to, ',');
        out_csv_field(to, row->object, strlen(row->object));
        put_value(print->o.children ? &row->total : &row->self, to);
    }
    return PFR_OK;
}
