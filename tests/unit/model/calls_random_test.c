/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random stories of several threads, cut into buffers that lie in any order, beside a second implementation of the
 * rules that is slow and knows nothing of files, trees or batches.
 */
#include "calls_teller.h"

#define THREADS 4u
#define STEPS 3000u
#define STORIES 40u
#define LONG_STEPS 30000u /* of one thread alone: more than others have to be decoded ahead for it */
#define LONG_STORIES 4u
#define PATH_ROOM 220u

struct step {
    uint64_t tsc;
    uint32_t function;
    unsigned action; /* 0 to 3 */
};

struct told {
    char *text;
    size_t length, room;
};

static uint64_t next_random(uint64_t *seed) {
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return *seed >> 33;
}

__attribute__((format(printf, 2, 3))) static void say(struct told *to, const char *format, ...) {
    va_list values;
    if (to->room - to->length < 512) {
        to->room = to->room * 2 + 4096;
        to->text = realloc(to->text, to->room);
        assert_non_null(to->text);
    }
    va_start(values, format);
    to->length += (size_t)vsnprintf(to->text + to->length, to->room - to->length, format, values);
    va_end(values);
}

/* --- The second implementation: a list of open calls, searched from its end. */

struct slow_call {
    struct step enter;
    uint64_t callees;
};

struct slow_stack {
    struct slow_call at[LONG_STEPS];
    unsigned depth;
};

static const char *slow_path(const struct slow_stack *s, unsigned depth, char *to) {
    size_t used = 0;
    to[0] = '\0';
    for (unsigned i = 0; i < depth && used <= 150; i++)
        used += (size_t)snprintf(to + used, PATH_ROOM - used, "%s%u", used ? ";" : "", s->at[i].enter.function);
    return to;
}

static void slow_open(struct slow_stack *s, uint32_t tid, struct told *to) {
    char path[PATH_ROOM];
    say(to, "%u open %s\n", tid, slow_path(s, s->depth, path));
    const uint64_t callees = s->at[--s->depth].callees;
    if (s->depth)
        s->at[s->depth - 1].callees += callees;
}

static void slow_exit(struct slow_stack *s, uint32_t tid, const struct step *exit, struct told *opens,
                      struct told *calls) {
    char path[PATH_ROOM];
    unsigned at = s->depth;
    while (at > 0 && s->at[at - 1].enter.function != exit->function)
        at--;
    if (at == 0) {
        say(opens, "%u lone %u at %s\n", tid, exit->function, slow_path(s, s->depth, path));
        return;
    }
    while (s->depth > at)
        slow_open(s, tid, opens);
    const struct slow_call *call = &s->at[--s->depth];
    const uint64_t latency = exit->tsc - call->enter.tsc;
    say(calls, "%u call %s %" PRIu64 " %" PRIu64 "%s\n", tid, slow_path(s, at, path), latency, latency - call->callees,
        exit->action == 2 ? " tail" : "");
    if (s->depth)
        s->at[s->depth - 1].callees += latency;
}

/* What is open or alone, then the calls: batches keep no order between these. */
static void slow_thread(uint32_t tid, const struct step *steps, unsigned count, struct told *opens,
                        struct told *calls) {
    struct slow_stack *s = calloc(1, sizeof *s);
    assert_non_null(s);
    for (unsigned i = 0; i < count; i++)
        if (steps[i].action == 0 || steps[i].action == 3)
            s->at[s->depth++] = (struct slow_call){.enter = steps[i]};
        else
            slow_exit(s, tid, &steps[i], opens, calls);
    while (s->depth)
        slow_open(s, tid, opens);
    free(s);
}

/* --- Stories. */

/* Mostly a walk up and down, sometimes an exit that is wrong or missing, sometimes deep. */
static void make_thread(struct step *steps, unsigned count, uint64_t *seed) {
    static uint32_t open[LONG_STEPS];
    unsigned depth = 0;
    const unsigned kinds = 1 + (unsigned)next_random(seed) % 30, wrong = (unsigned)next_random(seed) % 20;
    const unsigned up = 40 + (unsigned)next_random(seed) % 30;
    uint64_t tsc = 1000000 + next_random(seed) % 1000;
    for (unsigned i = 0; i < count; i++) {
        const bool enters = depth == 0 || next_random(seed) % 100 < up, odd = next_random(seed) % 100 < wrong;
        tsc += next_random(seed) % 50;
        if (enters && !(odd && depth == 0)) {
            steps[i] = (struct step){tsc, 1 + (uint32_t)(next_random(seed) % kinds), next_random(seed) % 8 ? 0 : 3};
            open[depth++] = steps[i].function;
            continue;
        }
        if (odd && depth > 1)
            depth -= 1 + (unsigned)next_random(seed) % (depth - 1); /* as behind an exception */
        const uint32_t function = odd && next_random(seed) % 2 ? 1 + (uint32_t)(next_random(seed) % 60)
                                  : depth                      ? open[depth - 1]
                                                               : 61;
        steps[i] = (struct step){tsc, function, next_random(seed) % 8 ? 1 : 2};
        depth -= depth > 0;
    }
}

/* Of a buffer there. */
static uint64_t load_extents(const struct builder *b, size_t at) {
    uint64_t length = 0;
    for (unsigned i = 0; i < 8; i++)
        length |= (uint64_t)(uint8_t)b->bytes[at + 1 + i] << 8 * i;
    return length;
}

struct piece {
    uint32_t thread;
    unsigned begin, end;
};

static void put_piece(struct builder *b, const struct piece *p, const struct step *steps) {
    const size_t begin = b->length;
    uint64_t tsc = steps[p->begin].tsc;
    put_extents(b, 0);
    put_preamble(b, 10 + p->thread, tsc);
    for (unsigned i = p->begin; i < p->end; i++) {
        if (i % 97 == 0)
            put_metadata(b, 2, i % 8, 2, tsc); /* another cpu */
        put_call(b, steps[i].action, steps[i].function, (uint32_t)(steps[i].tsc - tsc));
        tsc = steps[i].tsc;
    }
    set_number(b, b->bytes + begin + 1, b->length - begin - 16, 8);
}

/* Each thread cut into pieces, which lie in any order. Pieces of one time would go by their place: none begins so. */
static void put_story(struct builder *b, struct step (*steps)[LONG_STEPS], uint32_t threads, unsigned length,
                      uint64_t *seed) {
    static struct piece pieces[LONG_STEPS];
    unsigned count = 0;
    for (uint32_t t = 0; t < threads; t++)
        for (unsigned at = 0, end; at < length; at = end) {
            end = at + 1 + (unsigned)next_random(seed) % 700;
            while (end < length && steps[t][end].tsc == steps[t][at].tsc)
                end++;
            end = end < length ? end : length;
            pieces[count++] = (struct piece){t, at, end};
        }
    put_xray_header(b, 5, 4096);
    while (count > 0) {
        const unsigned i = (unsigned)next_random(seed) % count;
        put_piece(b, &pieces[i], steps[pieces[i].thread]);
        pieces[i] = pieces[--count];
    }
}

/* The same as a recorder writes it: whoever begins a buffer first has it first. */
static void put_story_in_order(struct builder *b, struct step (*steps)[LONG_STEPS], uint32_t threads, unsigned length,
                               unsigned most, uint64_t *seed) {
    unsigned at[THREADS] = {0};
    put_xray_header(b, 5, 4096);
    for (;;) {
        uint32_t next = threads;
        for (uint32_t t = 0; t < threads; t++)
            if (at[t] < length && (next == threads || steps[t][at[t]].tsc < steps[next][at[next]].tsc))
                next = t;
        if (next == threads)
            return;
        const unsigned left = length - at[next], wanted = most - (unsigned)(next_random(seed) % 8);
        const struct piece piece = {next, at[next], at[next] + (wanted < left ? wanted : left)};
        put_piece(b, &piece, steps[next]);
        at[next] = piece.end;
    }
}

/* Lines of one kind, thread by thread. */
static void expect_lines(const struct teller *t, bool calls, const struct told *expected) {
    size_t at = 0;
    for (size_t i = 0; i < t->count; i++) {
        const char *text = t->lines[i].text;
        if ((strstr(text, " call ") != NULL) != calls)
            continue;
        const size_t length = strlen(text);
        if (at + length > expected->length || memcmp(expected->text + at, text, length) != 0)
            fail_msg("%snot\n%.300s", text, at < expected->length ? expected->text + at : "the end");
        at += length;
    }
    assert_int_equal(at, expected->length);
}

static void check_story(uint64_t seed, uint32_t threads, unsigned length) {
    static struct step steps[THREADS][LONG_STEPS];
    struct told opens = {0}, calls = {0};
    struct builder b = {0};
    for (uint32_t t = 0; t < threads; t++) {
        make_thread(steps[t], length, &seed);
        slow_thread(10 + t, steps[t], length, &opens, &calls);
    }
    put_story(&b, steps, threads, length, &seed);
    for (unsigned jobs = 1; jobs <= 3; jobs++) {
        pfr_error err = {.offset = 0};
        struct teller t = {.fail_at = 0};
        pfr_reader *reader = pfr_open_bytes(b.bytes, b.length, NULL, &err);
        assert_non_null(reader);
        ASSERT_OK(tell_all(&t, reader, jobs, &err), err);
        assert_int_equal(t.begins, 1);
        assert_int_equal(t.totals.threads, threads);
        expect_lines(&t, true, &calls);
        expect_lines(&t, false, &opens);
        teller_free(&t);
        pfr_close(reader);
    }
    free(b.bytes);
    free(opens.text);
    free(calls.text);
}

TEST(random_stories_are_paired_as_the_slow_way_pairs_them) {
    for (uint64_t seed = 1; seed <= SOME_OF(STORIES); seed++)
        check_story(seed, THREADS, STEPS);
}

TEST(a_thread_that_others_decode_for_is_paired_as_the_slow_way_pairs_it) {
    for (uint64_t seed = 1; seed <= SOME_OF(LONG_STORIES); seed++)
        check_story(seed, 1, LONG_STEPS);
}

/* --- Calls by path. */

struct total {
    char path[200];
    uint64_t count, latency, self;
    int32_t tid;
};

struct totals_of_lane {
    struct total *at;
    size_t count, room;
    int32_t tid;
};

struct totaller {
    struct totals_of_lane lanes[4];
    uint64_t singly, gathered; /* calls, as they came */
    uint64_t open, lone;
    unsigned nr_lanes;
};

static pfr_status total_begin(void *context, unsigned lanes, pfr_error *err) {
    struct totaller *all = context;
    (void)err;
    assert_true(lanes <= 4);
    for (unsigned i = 0; i < 4; i++)
        free(all->lanes[i].at);
    *all = (struct totaller){.nr_lanes = lanes};
    return PFR_OK;
}

static pfr_status total_thread(void *context, const struct calls_lane *lane, const struct calls_thread *thread,
                               pfr_error *err) {
    (void)err;
    ((struct totaller *)context)->lanes[lane->number].tid = thread->tid;
    return PFR_OK;
}

static struct total *new_total(struct totaller *all, const struct calls_lane *lane, uint32_t node) {
    struct totals_of_lane *of = &all->lanes[lane->number];
    if (of->count == of->room) {
        of->room = of->room ? of->room * 2 : 256;
        of->at = realloc(of->at, of->room * sizeof *of->at);
        assert_non_null(of->at);
    }
    struct total *t = &of->at[of->count++];
    memset(t, 0, sizeof *t);
    t->tid = of->tid;
    write_path(lane, node, t->path, sizeof t->path);
    return t;
}

static pfr_status total_calls(void *context, const struct calls_lane *lane, const struct call *calls, size_t count,
                              pfr_error *err) {
    struct totaller *all = context;
    (void)err;
    for (size_t i = 0; i < count; i++) {
        struct total *t = new_total(all, lane, calls[i].node);
        t->count = 1;
        t->latency = calls[i].latency;
        t->self = (uint64_t)calls[i].self;
    }
    __atomic_fetch_add(&all->singly, count, __ATOMIC_RELAXED);
    return PFR_OK;
}

static pfr_status total_sum(void *context, const struct calls_lane *lane, const struct call_sum *sum, pfr_error *err) {
    struct totaller *all = context;
    struct total *t = new_total(all, lane, sum->node);
    (void)err;
    t->count = sum->count;
    t->self = (uint64_t)sum->self;
    __atomic_fetch_add(&all->gathered, sum->count, __ATOMIC_RELAXED);
    return PFR_OK;
}

static pfr_status total_many(void *context, const struct calls_lane *lane, const struct call_many *many,
                             pfr_error *err) {
    struct totaller *all = context;
    struct total *t = new_total(all, lane, many->node);
    (void)err;
    for (uint32_t i = 0; i < many->count; i++)
        t->latency += many->latencies[i];
    assert_int_equal(t->latency, many->latency);
    t->count = many->count;
    t->self = (uint64_t)many->self;
    __atomic_fetch_add(&all->gathered, many->count, __ATOMIC_RELAXED);
    return PFR_OK;
}

static int by_path(const void *a, const void *b) {
    const struct total *x = a, *y = b;
    return x->tid != y->tid ? (x->tid < y->tid ? -1 : 1) : strcmp(x->path, y->path);
}

/* A line for each path of each thread. */
static char *totals_text(struct totaller *all, bool latencies) {
    struct totals_of_lane one = {.at = NULL};
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    for (unsigned i = 0; i < 4; i++) {
        one.at = realloc(one.at, (one.count + all->lanes[i].count + 1) * sizeof *one.at);
        assert_non_null(one.at);
        if (all->lanes[i].count)
            memcpy(one.at + one.count, all->lanes[i].at, all->lanes[i].count * sizeof *one.at);
        one.count += all->lanes[i].count;
        free(all->lanes[i].at);
    }
    qsort(one.at, one.count, sizeof *one.at, by_path);
    for (size_t i = 0; i < one.count; i++) {
        if (i + 1 < one.count && by_path(&one.at[i], &one.at[i + 1]) == 0) {
            one.at[i + 1].count += one.at[i].count;
            one.at[i + 1].latency += one.at[i].latency;
            one.at[i + 1].self += one.at[i].self;
            continue;
        }
        fprintf(out, "%d %s %" PRIu64 " %" PRIu64 " %" PRId64 "\n", one.at[i].tid, one.at[i].path, one.at[i].count,
                latencies ? one.at[i].latency : 0, (int64_t)one.at[i].self);
    }
    fclose(out);
    free(one.at);
    return text;
}

static char *totals_of(const struct builder *b, const struct calls_wish *how, bool latencies, struct totaller *all) {
    const struct calls_sink sink = {.begin = total_begin,
                                    .thread = how->mixed ? NULL : total_thread,
                                    .calls = total_calls,
                                    .sum = total_sum,
                                    .many = total_many};
    struct calls_wish wish = *how;
    struct calls_totals totals;
    pfr_error err = {.offset = 0};
    pfr_reader *reader = pfr_open_bytes(b->bytes, b->length, NULL, &err);
    assert_non_null(reader);
    *all = (struct totaller){.singly = 0};
    wish.sink = &sink;
    wish.context = all;
    ASSERT_OK(calls_read(reader, &wish, &totals, &err), err);
    assert_int_equal(totals.calls, all->singly + all->gathered);
    all->open = totals.open;
    all->lone = totals.lone;
    pfr_close(reader);
    return totals_text(all, latencies);
}

static void expect_gathered(const struct builder *b, struct calls_wish how) {
    struct totaller all;
    const bool latencies = how.gather == CALLS_MEASURED;
    char *gathered = totals_of(b, &how, latencies, &all);
    assert_true(all.gathered > 0);
    how.gather = CALLS_SINGLY;
    char *singly = totals_of(b, &how, latencies, &all);
    assert_int_equal(all.gathered, 0);
    assert_string_equal(gathered, singly);
    free(gathered);
    free(singly);
}

TEST(calls_that_are_gathered_are_those_that_come_singly) {
    static struct step steps[THREADS][LONG_STEPS];
    for (uint64_t story = 1; story <= SOME_OF(12u); story++) {
        struct builder b = {0};
        uint64_t seed = story;
        for (uint32_t t = 0; t < THREADS; t++)
            make_thread(steps[t], STEPS, &seed);
        put_story(&b, steps, THREADS, STEPS, &seed);
        for (unsigned reach = 0; reach <= 2; reach++)
            for (unsigned jobs = 1; jobs <= 3; jobs += 2) {
                const bool deduce = (story + reach) % 2;
                expect_gathered(
                    &b, (struct calls_wish){.gather = CALLS_SUMMED, .reach = reach, .jobs = jobs, .deduce = deduce});
                expect_gathered(
                    &b, (struct calls_wish){.gather = CALLS_MEASURED, .reach = reach, .jobs = jobs, .deduce = deduce});
            }
        free(b.bytes);
    }
}

/* As one lane has it that is given each thread by itself. */
static unsigned expect_mixed(const struct builder *b, unsigned jobs, bool deduce) {
    struct totaller one, all;
    struct calls_wish how = {.gather = CALLS_MEASURED, .reach = 1, .jobs = 1, .deduce = deduce};
    char *apart = totals_of(b, &how, true, &one);
    how.jobs = jobs;
    how.mixed = true;
    char *mixed = totals_of(b, &how, true, &all);
    how.gather = CALLS_SINGLY;
    how.jobs = 1;
    struct totaller single;
    char *singly = totals_of(b, &how, true, &single);
    assert_string_equal(mixed, singly);
    assert_int_equal(all.singly + all.gathered, one.singly + one.gathered);
    assert_int_equal(all.open, one.open);
    assert_int_equal(all.lone, one.lone);
    free(apart);
    free(mixed);
    free(singly);
    return all.nr_lanes;
}

/* Calls that were given one by one, by lanes that have whole threads where paths are whole. */
struct apart {
    char *singly;
    struct totaller all;
};

static struct apart tell_apart(const struct builder *b, unsigned reach, bool deduce) {
    const struct calls_wish how = {.reach = reach, .jobs = 2, .mixed = true, .deduce = deduce};
    struct apart apart;
    apart.singly = totals_of(b, &how, false, &apart.all);
    return apart;
}

/* Sums of paths of which no lane has all. */
static unsigned expect_summed(const struct builder *b, unsigned jobs, unsigned reach, bool deduce,
                              const struct apart *apart) {
    struct totaller all;
    const struct calls_wish how = {
        .gather = CALLS_SUMMED, .reach = reach, .jobs = jobs, .mixed = true, .deduce = deduce};
    char *summed = totals_of(b, &how, false, &all);
    assert_int_equal(all.singly, 0);
    assert_int_equal(all.gathered, apart->all.singly);
    assert_int_equal(all.open, apart->all.open);
    assert_int_equal(all.lone, apart->all.lone);
    assert_string_equal(summed, apart->singly);
    free(summed);
    return all.nr_lanes;
}

/* How often there were as many lanes as could be, and all of it was not read once more. */
static unsigned sum_in_stretches(const struct builder *b, unsigned reach, bool deduce) {
    const struct apart apart = tell_apart(b, reach, deduce);
    unsigned in_stretches = 0;
    for (unsigned jobs = 1; jobs <= 4; jobs *= 2)
        in_stretches += expect_summed(b, jobs, reach, deduce, &apart) == jobs;
    free(apart.singly);
    return in_stretches;
}

/* Stretches of it begin anywhere: with calls open, in the midst of what never ends, or has never begun. */
TEST(a_trace_that_lies_in_order_is_read_in_stretches) {
    static struct step steps[THREADS][LONG_STEPS];
    unsigned in_stretches = 0, summed = 0;
    for (uint64_t story = 1; story <= SOME_OF(8u); story++) {
        struct builder b = {0};
        uint64_t seed = story * 77;
        const uint32_t threads = story % 2 ? 1 : 3;
        const unsigned length = LONG_STEPS / (story % 2 ? 1 : 2);
        for (uint32_t t = 0; t < threads; t++)
            make_thread(steps[t], length, &seed);
        put_story_in_order(&b, steps, threads, length, story % 3 ? 500 : 40, &seed);
        for (unsigned jobs = 1; jobs <= 4; jobs++)
            in_stretches += expect_mixed(&b, jobs, story % 4 < 2) == 3 && threads == 1;
        for (unsigned reach = 0; reach <= 1 && story <= 4; reach++) /* there are four kinds */
            summed += sum_in_stretches(&b, reach, story % 4 < 2);
        free(b.bytes);
    }
    assert_true(in_stretches > 0 && summed > 2 * 4);
}

/* A ring that went round, and one buffer that comes late. */
TEST(a_trace_that_does_not_lie_in_order_is_read_with_an_index) {
    static struct step steps[1][LONG_STEPS];
    for (unsigned story = 0; story < 2; story++) {
        struct builder b = {0}, turned = {0};
        uint64_t seed = 5;
        make_thread(steps[0], LONG_STEPS, &seed);
        put_story_in_order(&b, steps, 1, LONG_STEPS, 200, &seed);
        const size_t header = 32, first = header + 16 + (size_t)load_extents(&b, header);
        const size_t part = story ? first : header + (b.length - header) / 2;
        size_t cut = header;
        while (cut < part)
            cut += 16 + (size_t)load_extents(&b, cut);
        put_bytes(&turned, b.bytes, header);
        put_bytes(&turned, b.bytes + cut, b.length - cut);
        put_bytes(&turned, b.bytes + header, cut - header);
        assert_int_equal(expect_mixed(&turned, 1, false), 1);
        assert_int_equal(expect_mixed(&turned, 4, false), 1);
        assert_int_equal(sum_in_stretches(&turned, 0, false), 1); /* one lane is one lane */
        free(b.bytes);
        free(turned.bytes);
    }
}

/* A latency of 2^32 ticks, a clock that stepped back, more functions than have a place. */
TEST(calls_that_cannot_be_gathered_come_singly) {
    struct builder b = {0};
    struct totaller all;
    const struct calls_wish measured = {.gather = CALLS_MEASURED, .reach = 1, .jobs = 1};
    const size_t extents = 32;
    put_xray_header(&b, 5, 4096);
    put_extents(&b, 0);
    put_preamble(&b, 7, 1000);
    put_call(&b, 0, 1, 10);
    put_call(&b, 0, 2, UINT32_MAX);
    put_call(&b, 1, 2, UINT32_MAX);
    put_call(&b, 1, 1, 10);
    put_call(&b, 0, 3, 10);
    put_metadata(&b, 2, 0, 2, 500); /* the clock of another cpu */
    put_call(&b, 1, 3, 10);
    for (uint32_t f = 1; f <= 20000; f++) {
        put_call(&b, 0, f, 10);
        put_call(&b, 1, f, 10);
    }
    set_number(&b, b.bytes + extents + 1, b.length - extents - 16, 8);
    free(totals_of(&b, &measured, true, &all));
    /* Two paths stand for none and for too many. What is swapped comes in arrays, one of which goes singly as a whole.
     */
    assert_true(all.singly >= 2 + 20000 - (16384 - 2) && all.singly < 2 + 20000 - (16384 - 2) + 512);
    assert_int_equal(all.singly + all.gathered, 3 + 20000);
    expect_gathered(&b, measured);
    free(b.bytes);
}
