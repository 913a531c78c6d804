/* SPDX-License-Identifier: Apache-2.0 */
/* Names of functions, as printed by all output forms. */
#include "view/annotate/annotate_parts.h"

const char *annotate_symbol_name(const pfr_model_symbol *symbol) {
    return symbol->name ? symbol->name : "[unknown]";
}
