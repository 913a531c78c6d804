/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of memory accesses and of branches. Data addresses are distinguished by address, regardless of their
 * symbols. */
#include "view/report/fields/report_common.h"
#include "view/report/fields/report_cells.h"
#include "view/words/sample_text.h"

/* bits of data_src for the memory level: lvl, lvl_num, remote, hops */
#define LEVEL_BITS (0x3fffull << 5 | 0x1full << 33 | 7ull << 43)

static uint64_t value_of(struct report *r, const struct cell_key *spot, enum profile_key key) {
    return profile_value(r->profile, spot->group, key);
}

uint64_t identity_of_weight(struct report *r, const struct cell_key *spot) {
    return value_of(r, spot, PROFILE_WEIGHT);
}

uint64_t identity_of_ins_lat(struct report *r, const struct cell_key *spot) {
    return value_of(r, spot, PROFILE_INS_LAT);
}

uint64_t identity_of_stage_cycles(struct report *r, const struct cell_key *spot) {
    return value_of(r, spot, PROFILE_STAGE_CYCLES);
}

void cell_left_number(const struct report *r, uint64_t id, const struct row *row, pfr_output *to) {
    (void)r, (void)row;
    out_u64(&to->out, id);
}

/* Total weight of the row's samples, which all have the same weight. */
void cell_weight_of_all(const struct report *r, uint64_t id, const struct row *row, pfr_output *to) {
    (void)r;
    out_u64(&to->out, id * row->self.samples);
}

uint64_t identity_of_transaction(struct report *r, const struct cell_key *spot) {
    return value_of(r, spot, PROFILE_TRANSACTION);
}

#define SYNC_OR_ASYNC 12u
#define ABORT_SHIFT 32u

void cell_transaction(const struct report *r, uint64_t id, const struct row *row, pfr_output *to) {
    static const char *const flags[] = {"EL ", "TX ", "SYNC ", "ASYNC ", "RETRY ", "CON ", "CAP-WRITE ", "CAP-READ "};
    (void)r, (void)row;
    for (unsigned bit = 0; bit < sizeof flags / sizeof *flags; bit++)
        if (id >> bit & 1)
            out_text(&to->out, flags[bit]);
    if (id && !(id & SYNC_OR_ASYNC))
        out_text(&to->out, "NEITHER ");
    if (id >> ABORT_SHIFT) {
        out_char(&to->out, ':');
        out_hex(&to->out, id >> ABORT_SHIFT, 1);
    }
}

uint64_t identity_of_code_page_size(struct report *r, const struct cell_key *spot) {
    return value_of(r, spot, PROFILE_CODE_PAGE_SIZE);
}

uint64_t identity_of_data_page_size(struct report *r, const struct cell_key *spot) {
    return value_of(r, spot, PROFILE_DATA_PAGE_SIZE);
}

void cell_page_size(const struct report *r, uint64_t id, const struct row *row, pfr_output *to) {
    unsigned unit = 0;
    (void)r, (void)row;
    if (id == 0) {
        out_text(&to->out, "N/A");
        return;
    }
    for (; id / 1024 > 1 && unit < 3; unit++)
        id /= 1024;
    out_u64(&to->out, id);
    out_char(&to->out, "BKMG"[unit]);
}

uint64_t identity_of_phys_address(struct report *r, const struct cell_key *spot) {
    return value_of(r, spot, PROFILE_PHYS_ADDR);
}

/* Printed with the level (kernel or user) of the sampled instruction. */
void cell_phys_address(const struct report *r, uint64_t id, const struct row *row, pfr_output *to) {
    (void)r;
    write_level(&to->out, row->level);
    write_address_cell(id, &to->out);
}

/* --- data_src: rows are grouped by those bits that the column shows --- */

uint64_t identity_of_level(struct report *r, const struct cell_key *spot) {
    return value_of(r, spot, PROFILE_DATA_SRC) & LEVEL_BITS;
}

void cell_level_words(const struct report *r, uint64_t id, const struct row *row, pfr_output *to) {
    (void)r, (void)row;
    words_memory(to, id, WORDS_LEVEL);
}

#define SNOOP_BITS (0x1full << 19 | 3ull << 38)
#define TLB_BITS (0x7full << 26)
#define LOCK_BITS (3ull << 24)
#define BLOCK_BITS (7ull << 40)

uint64_t identity_of_snoop(struct report *r, const struct cell_key *spot) {
    return value_of(r, spot, PROFILE_DATA_SRC) & SNOOP_BITS;
}

void cell_snoop(const struct report *r, uint64_t id, const struct row *row, pfr_output *to) {
    (void)r, (void)row;
    words_memory(to, id, WORDS_SNOOP);
}

uint64_t identity_of_tlb(struct report *r, const struct cell_key *spot) {
    return value_of(r, spot, PROFILE_DATA_SRC) & TLB_BITS;
}

void cell_tlb(const struct report *r, uint64_t id, const struct row *row, pfr_output *to) {
    (void)r, (void)row;
    words_memory(to, id, WORDS_TLB);
}

uint64_t identity_of_lock(struct report *r, const struct cell_key *spot) {
    return value_of(r, spot, PROFILE_DATA_SRC) & LOCK_BITS;
}

void cell_lock(const struct report *r, uint64_t id, const struct row *row, pfr_output *to) {
    (void)r, (void)row;
    words_memory(to, id, WORDS_LOCK);
}

uint64_t identity_of_block(struct report *r, const struct cell_key *spot) {
    return value_of(r, spot, PROFILE_DATA_SRC) & BLOCK_BITS;
}

void cell_block(const struct report *r, uint64_t id, const struct row *row, pfr_output *to) {
    (void)r, (void)row;
    words_memory(to, id, WORDS_BLOCK);
}

/* --- places --- */

static struct profile_place place_of(const struct report *r, uint64_t id) {
    return r->profile->places[id];
}

uint64_t identity_of_data_symbol(struct report *r, const struct cell_key *spot) {
    return value_of(r, spot, PROFILE_ADDR);
}

int collate_places(const struct report *r, uint64_t a, uint64_t b) {
    return collate_addresses(place_of(r, a).address, place_of(r, b).address);
}

void cell_data_symbol(const struct report *r, uint64_t id, const struct row *row, pfr_output *to) {
    const struct profile_place place = place_of(r, id);
    const struct profile_frame *f = report_frame(r, place.frame);
    write_level(&to->out, row->level);
    if (f && f->text != NO_TEXT)
        write_text_cell(r, f->text, to, "");
    else
        write_address_cell(place.address, &to->out);
}

/* The executed address: with NEEDS_ADDRESSES, every address has a frame of its own. */
uint64_t identity_of_code(struct report *r, const struct cell_key *spot) {
    (void)r;
    return spot->frame & ~NODE_APART;
}

int collate_code(const struct report *r, uint64_t a, uint64_t b) {
    const struct profile_frame *f = report_frame(r, (uint32_t)a), *g = report_frame(r, (uint32_t)b);
    const int addresses = f && g ? collate_addresses(f->ip, g->ip) : (f != NULL) - (g != NULL);
    return addresses ? addresses : collate_symbols(r, a, b);
}

void cell_code_symbol(const struct report *r, uint64_t id, const struct row *row, pfr_output *to) {
    const struct profile_frame *f = report_frame(r, (uint32_t)id);
    write_level(&to->out, row->level);
    if (f && f->text != NO_TEXT)
        write_text_cell(r, f->text, to, "");
    else
        write_address_cell(f ? f->ip : 0, &to->out);
}

uint64_t identity_of_data_object(struct report *r, const struct cell_key *spot) {
    return object_name_of(r, place_of(r, value_of(r, spot, PROFILE_ADDR)).frame);
}

uint64_t identity_of_from_object(struct report *r, const struct cell_key *spot) {
    return object_name_of(r, place_of(r, value_of(r, spot, PROFILE_FROM)).frame);
}

uint64_t identity_of_to_object(struct report *r, const struct cell_key *spot) {
    return object_name_of(r, place_of(r, value_of(r, spot, PROFILE_TO)).frame);
}

uint64_t identity_of_from_symbol(struct report *r, const struct cell_key *spot) {
    return symbol_number(r, place_of(r, value_of(r, spot, PROFILE_FROM)).frame | NODE_APART);
}

uint64_t identity_of_to_symbol(struct report *r, const struct cell_key *spot) {
    return symbol_number(r, place_of(r, value_of(r, spot, PROFILE_TO)).frame | NODE_APART);
}

/* Symbol plus offset. */
void cell_place(const struct report *r, uint64_t id, const struct row *row, pfr_output *to) {
    const struct profile_frame *f = report_frame(r, (uint32_t)id);
    cell_symbol(r, id, row, to);
    if (!f || f->text == NO_TEXT)
        return;
    out_text(&to->out, "+0x");
    out_hex(&to->out, f->address - f->start, 1);
}

/* --- flags of a branch --- */

uint64_t identity_of_mispredict(struct report *r, const struct cell_key *spot) {
    return value_of(r, spot, PROFILE_BRANCH_FLAGS) & (PROFILE_MISPREDICTED | PROFILE_PREDICTED);
}

void cell_mispredict(const struct report *r, uint64_t id, const struct row *row, pfr_output *to) {
    (void)r, (void)row;
    out_text(&to->out, id & PROFILE_PREDICTED ? "N" : id & PROFILE_MISPREDICTED ? "Y" : "N/A");
}

uint64_t identity_of_abort(struct report *r, const struct cell_key *spot) {
    return value_of(r, spot, PROFILE_BRANCH_FLAGS) & PROFILE_ABORT;
}

void cell_abort(const struct report *r, uint64_t id, const struct row *row, pfr_output *to) {
    (void)r, (void)row;
    out_char(&to->out, id ? 'A' : '.');
}

uint64_t identity_of_in_tx(struct report *r, const struct cell_key *spot) {
    return value_of(r, spot, PROFILE_BRANCH_FLAGS) & PROFILE_IN_TX;
}

void cell_in_tx(const struct report *r, uint64_t id, const struct row *row, pfr_output *to) {
    (void)r, (void)row;
    out_char(&to->out, id ? 'T' : '.');
}

uint64_t identity_of_cycles(struct report *r, const struct cell_key *spot) {
    return value_of(r, spot, PROFILE_BRANCH_FLAGS) >> PROFILE_CYCLES_SHIFT;
}

void cell_cycles(const struct report *r, uint64_t id, const struct row *row, pfr_output *to) {
    (void)r, (void)row;
    if (id == 0)
        out_char(&to->out, '-');
    else
        out_u64(&to->out, id);
}
