/* SPDX-License-Identifier: Apache-2.0 */
/* Parses the value of -g by perf's rules: words come in any order, and each may be abbreviated. The first number is the
   minimum percentage, the second the maximum number of entries per level. */
#include "view/report/report_call_graph_option.h"

#include "base/memory/fail.h"
#include "base/text/text.h"

#include <stdlib.h>
#include <string.h>

enum chain_word { WORD_MODE, WORD_ORDER, WORD_ADDRESS, WORD_VALUE };

static const struct {
    const char *text;
    enum chain_word what;
    unsigned value;
} words[] = {
    {"graph", WORD_MODE, CHAIN_GRAPH},      {"flat", WORD_MODE, CHAIN_FLAT},      {"fractal", WORD_MODE, CHAIN_FRACTAL},
    {"folded", WORD_MODE, CHAIN_FOLDED},    {"none", WORD_MODE, CHAIN_NONE},      {"caller", WORD_ORDER, true},
    {"callee", WORD_ORDER, false},          {"function", WORD_ADDRESS, false},    {"address", WORD_ADDRESS, true},
    {"percent", WORD_VALUE, CHAIN_PERCENT}, {"period", WORD_VALUE, CHAIN_PERIOD}, {"count", WORD_VALUE, CHAIN_COUNT},
};

static bool take_word(const char *text, size_t length, struct chain_how *how) {
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strncmp(words[i].text, text, length) != 0)
            continue;
        if (words[i].what == WORD_MODE)
            how->mode = (enum chain_mode)words[i].value;
        else if (words[i].what == WORD_ADDRESS)
            how->by_address = words[i].value;
        else if (words[i].what == WORD_VALUE)
            how->value = (enum chain_value)words[i].value;
        if (words[i].what == WORD_ORDER) {
            how->caller = words[i].value;
            how->caller_said = true;
        }
        return true;
    }
    return false;
}

/* The first number is a percentage, the next one a count. */
static bool take_number(const char *text, size_t length, bool *had_share, struct chain_how *how) {
    char *end;
    uint64_t most;
    if (*had_share) {
        if (!parse_u64_part(text, length, &most) || most > UINT32_MAX)
            return false;
        how->most = (uint32_t)most;
        return true;
    }
    const double least = strtod(text, &end);
    if (end == text || (size_t)(end - text) != length || !(least >= 0 && least <= 100))
        return false;
    how->least = least;
    return *had_share = true;
}

bool pfr_report_is_call_graph(const char *text) {
    struct chain_how how = {0};
    return report_chain_read(text, &how, NULL) == PFR_OK;
}

pfr_status report_chain_read(const char *text, struct chain_how *how, pfr_error *err) {
    bool had_share = false;
    for (const char *at = text; *at; at += *at == ',') {
        const size_t length = strcspn(at, ",");
        if (length && !take_word(at, length, how) && !take_number(at, length, &had_share, how))
            return pfr_fail(
                err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "call-graph",
                "-g: unknown word '%.*s'; words: graph, fractal, flat, folded or none, caller or callee, function or "
                "address, percent, period or count, and a share",
                length < 30 ? (int)length : 30, at);
        at += length;
    }
    return PFR_OK;
}
