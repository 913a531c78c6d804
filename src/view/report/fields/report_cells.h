/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_REPORT_CELLS_H
#define PFR_VIEW_REPORT_CELLS_H
/* The functions that the table of fields consists of; struct report_field describes each kind. */
#include "view/report/fields/report_parts.h"

typedef uint64_t report_identity(struct report *r, const struct cell_key *spot);
typedef uint64_t report_coarse(const struct report *r, uint64_t id);
typedef int report_collate(const struct report *r, uint64_t a, uint64_t b);
typedef void report_cell(const struct report *r, uint64_t id, const struct row *row, pfr_output *to);
typedef void report_number(const struct report *r, const struct row *row, pfr_output *to);
typedef uint64_t report_rank(const struct report *r, const struct row *row);

report_identity identity_of_comm, identity_of_tid, identity_of_cpu, identity_of_socket, identity_of_event;
report_identity identity_of_line, identity_of_source_file;
report_identity identity_of_dso, identity_of_symbol, identity_of_symbol_size, identity_of_dso_size, identity_of_address,
    identity_of_parent;
report_identity identity_of_cgroup, identity_of_cgroup_id, identity_of_trace, identity_of_time, identity_of_parallelism;
report_identity identity_of_weight, identity_of_ins_lat, identity_of_stage_cycles, identity_of_transaction;
report_identity identity_of_code_page_size, identity_of_data_page_size, identity_of_phys_address;
report_identity identity_of_level, identity_of_snoop, identity_of_tlb, identity_of_lock, identity_of_block;
report_identity identity_of_data_symbol, identity_of_data_object, identity_of_cache_line, identity_of_code;
report_identity identity_of_from_object, identity_of_to_object, identity_of_from_symbol, identity_of_to_symbol;
report_identity identity_of_mispredict, identity_of_abort, identity_of_in_tx, identity_of_cycles;

report_collate collate_texts, collate_signed, collate_objects, collate_symbols, order_symbols, strict_symbols,
    collate_places;
report_coarse order_symbols_coarsely, strict_symbols_coarsely;
report_collate collate_objects_back, collate_largest, collate_as_addresses, collate_cache_lines, collate_code;

report_cell cell_comm, cell_thread, cell_signed, cell_three, cell_event, cell_object, cell_symbol, cell_sampled_symbol,
    cell_size;
report_cell cell_line, cell_address, cell_parent, cell_text_or_none, cell_number, cell_time;
report_cell cell_left_number, cell_weight_of_all, cell_transaction, cell_page_size, cell_phys_address;
report_cell cell_level_words, cell_snoop, cell_tlb, cell_lock, cell_block, cell_data_symbol, cell_code_symbol,
    cell_cache_line, cell_place;
report_cell cell_mispredict, cell_abort, cell_in_tx, cell_cycles;

report_number number_latency, number_latency_children, number_overhead, number_children, number_system, number_user,
    number_samples, number_period;
report_rank rank_self, rank_total, rank_overhead, rank_children, rank_system, rank_user, rank_samples;

/* Functions shared by several files of fields. */
int collate_addresses(uint64_t a, uint64_t b);
void write_text_cell(const struct report *r, uint64_t id, pfr_output *to, const char *none);
/* Writes the name of a frame; the frame must have a name. */
void report_write_function(const struct report *r, const struct profile_frame *f, size_t before, pfr_output *to);
void write_level(struct output *out, char level);
void write_address_cell(uint64_t address, struct output *out);
uint64_t object_name_of(const struct report *r, uint32_t frame);
/* These functions also work on frames that are not in the report yet. frame_symbol_words writes the words that identify
   a symbol and returns their number, at most 3. */
uint64_t frame_object_name(const struct profile *p, uint32_t frame);
uint64_t frame_symbol_size(const struct profile *p, uint32_t frame);
/* Returns NODE_APART if the bit is set in `frame` and affects the frame's identity (struct cell_key): the frame has no
   name, and its address and ip differ. Otherwise returns 0. */
static inline uint32_t frame_form(const struct profile *p, uint32_t frame) {
    const struct profile_frame *f = &p->frames[frame & ~NODE_APART];
    return f->text == NO_TEXT && f->address != f->ip ? frame & NODE_APART : 0;
}

unsigned frame_symbol_words(const struct profile *p, uint32_t frame, uint64_t *words);
uint64_t symbol_number(struct report *r, uint32_t frame);
char level_of(const struct report *r, const struct profile_frame *f);

#endif
