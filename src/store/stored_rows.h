/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_STORE_STORED_ROWS_H
#define PFR_STORE_STORED_ROWS_H
/*
 * The rows that an expression selected, in memory, with numbers instead of hashes, and the dictionaries to which the
 * rows refer. Number 0 means absent.
 */
#include "base/memory/arena.h"
#include "file/read/stored.h"
#include "store/store_parts.h"
#include "store/store_where.h"

/* pfr_error.where if a view needs data that sums do not have. The command then selects
   all rows instead. */
#define STORED_SUMS "store.sums"

/* Maps hashes to numbers, from 1 in order of first appearance. */
struct id_list {
    struct u64_map of;
    uint64_t *at; /* hashes by number; [0] is 0 */
    size_t room;
    uint32_t count; /* the last number */
    uint32_t last;  /* number of last_id, the last id that was put; 0: the list is empty */
    uint64_t last_id;
};

struct stored_row {
    uint64_t time, n, weight;
    uint32_t event, comm, stack, frame; /* `frame` is set for sums by function, whose stack is not known; otherwise 0 */
};

struct stored_cost {
    uint64_t n, sum, low, high, backward, deduced, open, lone;
    int64_t self;
    const uint64_t *values, *counts; /* in the arena */
    uint32_t nr_values, function, caller, number, caller_number, upload;
};

struct stored_event {
    const char *name, *unit;
    uint64_t frequency;
    bool traced, chains, there;
};

struct stored_object {
    struct store_text path, name;
    const char *build_id;
    uint32_t pid;
    uint8_t kind;
    bool listed, there;
};

struct stored_frame {
    struct store_text name;
    uint64_t address, ip, size;
    uint32_t object;
    uint8_t mode;
    bool named, inlined, there;
};

struct stored_stack {
    const uint32_t *frames; /* innermost first, in the arena */
    uint32_t count;
    bool apart, there;
};

struct stored {
    struct stored_source source; /* must be the first member */
    struct memory memory;
    struct arena arena;
    struct store_uploads uploads; /* the selected uploads */
    struct u64_map upload_of;     /* id -> index in `uploads` */
    struct stored_row *rows;
    size_t nr_rows, rows_room;
    uint64_t nr_read; /* number of rows of the store from which `rows` were made */
    struct stored_cost *costs;
    size_t nr_costs, costs_room;
    struct id_list event_ids, comm_ids, stack_ids, frame_ids, object_ids;
    struct stored_event *events; /* each dictionary is indexed by number */
    struct store_text *comms;
    struct stored_object *objects;
    struct stored_frame *frames;
    struct stored_stack *stacks;
    size_t nr_events, nr_comms, nr_objects, nr_frames, nr_stacks; /* allocated elements of the dictionaries */
    uint64_t frequency;                                           /* of the times of traces, in Hz; 1e9 if `mixed` */
    bool no_costs;  /* the expression selects by thread or event, but latencies are not stored by thread or event */
    bool timeless;  /* rows are sums over all times */
    bool functions; /* rows may be sums by day and function; then also `timeless` */
    bool mixed;     /* frequencies differ: weights are converted one by one */
};

/* --- stored_names.c */
pfr_status id_list_open(struct id_list *l, struct memory *memory, pfr_error *err);
void id_list_close(struct id_list *l, struct memory *memory);
pfr_status id_list_put(struct id_list *l, struct memory *memory, uint64_t id, uint32_t *number, pfr_error *err);
/* Loads the dictionary rows of all ids in the lists. FORMAT: the store lacks a row to which others refer. */
pfr_status stored_load_names(struct stored *s, struct pfr_store *store, pfr_error *err);
/* Loads all events and comms, for expressions that name them. */
pfr_status stored_load_words(struct stored *s, struct pfr_store *store, pfr_error *err);

/* --- stored_profile.c, stored_model.c, stored_costs.c */
pfr_status stored_profile(const struct stored_source *source, struct profile *p, pfr_error *err);
pfr_model *stored_model(const struct stored_source *source, pfr_reader *reader, const pfr_model_options *options,
                        pfr_error *err);
pfr_status stored_costs(const struct stored_source *source, struct call_costs *costs, struct function_names *names,
                        pfr_error *err);
/* A weight in the unit of s->frequency. */
uint64_t stored_amount(const struct stored *s, const struct stored_row *row);

/* --- stored_reader.c: makes a reader that owns `s`. Takes `s` over even if it fails. */
pfr_reader *stored_reader_open(struct stored *s, const pfr_limits *limits, pfr_error *err);
void stored_close(struct stored_source *source);
/* Sums over all rows of a reader of pfr_store_select, modulo 2^64. */
struct stored_sums {
    uint64_t rows, n, weight;
};
struct stored_sums stored_sum(const pfr_reader *reader);

#endif
