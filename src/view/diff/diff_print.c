/* SPDX-License-Identifier: Apache-2.0 */
/* Selects the output form. */
#include "view/diff/diff_view.h"

static diff_form *const forms[] = {
    [PFR_DIFF_TEXT] = diff_print_text,         [PFR_DIFF_CSV] = diff_print_csv,   [PFR_DIFF_JSON] = diff_print_json,
    [PFR_DIFF_MARKDOWN] = diff_print_markdown, [PFR_DIFF_PERF] = diff_print_perf, [PFR_DIFF_FOLDED] = diff_print_folded,
};

pfr_status pfr_diff_print(const pfr_diff *d, const pfr_diff_print_options *options, pfr_output *out, pfr_error *error) {
    pfr_error own, *err = error ? error : &own;
    struct diff_print print = {.d = d, .o = {.size = sizeof print.o}, .to = &out->out, .memory = &out->memory};
    if (options)
        memcpy(&print.o, options, options->size < sizeof print.o ? options->size : sizeof print.o);
    if ((unsigned)print.o.format >= sizeof forms / sizeof *forms)
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "format", "there is no such format");
    print.columns = print.o.format == PFR_DIFF_TEXT ? out->columns : 0;
    return forms[print.o.format](&print, err);
}
