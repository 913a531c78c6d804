/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_REPORT_CALL_GRAPH_OPTION_H
#define PFR_VIEW_REPORT_CALL_GRAPH_OPTION_H
/* Interface of report_call_graph_option.c; that file describes how it works. */
#include "view/report/fields/report_parts.h"

/* Parses "graph,0.5,caller,function,percent" in any order. USAGE: unknown word. */
pfr_status report_chain_read(const char *text, struct chain_how *how, pfr_error *err);

#endif
