/* SPDX-License-Identifier: Apache-2.0 */
/* SQL queries of a built model: recursion counts once in every form of query; names cannot become SQL. */
#include "test.h"

#include <perfray/perfray.h>
#include <string.h>

#define HOSTILE "x'); DROP TABLE sample; --\"\n"

/* f calls g, which calls f; samples of weight 1, 10 and 100 in f, f;g and f;g;f. */
static pfr_model *recursion(const char *f_name) {
    pfr_error err;
    pfr_build *b = pfr_model_build(NULL, NULL, &err);
    const uint32_t event = pfr_build_event(b, &(pfr_model_event){.name = "cycles"});
    const uint32_t process = pfr_build_process(b, &(pfr_model_process){.pid = 7});
    const uint32_t thread = pfr_build_thread(b, &(pfr_model_thread){.process = process, .tid = 8});
    const uint32_t object =
        pfr_build_object(b, &(pfr_model_object){.path = "/bin/p", .name = "p", .kind = PFR_OBJECT_FILE});
    const uint32_t f = pfr_build_symbol(b, &(pfr_model_symbol){.name = f_name, .object = object, .address = 16});
    const uint32_t g = pfr_build_symbol(b, &(pfr_model_symbol){.name = "g", .object = object, .address = 32});
    const uint32_t in_f = pfr_build_frame(b, &(pfr_model_frame){.symbol = f, .address = 18});
    const uint32_t in_g = pfr_build_frame(b, &(pfr_model_frame){.symbol = g, .address = 34});
    uint32_t stack = 0;
    uint64_t weight = 1;
    for (int i = 0; i < 3; i++, weight *= 10) {
        stack = pfr_build_stack(b, stack, i == 1 ? in_g : in_f);
        pfr_build_sample(b, &(pfr_sample){.time = (uint64_t)i + 1,
                                          .weight = weight,
                                          .thread = thread,
                                          .event = event,
                                          .stack = stack,
                                          .cpu = PFR_NO_CPU});
    }
    pfr_model *model = pfr_build_finish(b, &err);
    assert_non_null(model);
    return model;
}

struct answer {
    char text[500];
};

static bool add_row(void *context, unsigned count, const char *const *names, const char *const *values) {
    struct answer *a = context;
    (void)names;
    for (unsigned i = 0; i < count; i++) {
        strncat(a->text, values[i] ? values[i] : "NULL", sizeof a->text - strlen(a->text) - 1);
        strncat(a->text, i + 1 < count ? "," : ";", sizeof a->text - strlen(a->text) - 1);
    }
    return true;
}

static void answers(pfr_sql *sql, const char *query, const char *wanted) {
    struct answer a = {""};
    pfr_error err = {.text = ""};
    const pfr_status st = pfr_sql_each(sql, query, add_row, &a, &err);
    if (st != PFR_OK)
        fail_msg("%s: %s", query, err.text);
    assert_string_equal(a.text, wanted);
}

static pfr_sql *open_on(const pfr_model *model) {
    pfr_error err = {.text = ""};
    pfr_sql *sql = pfr_sql_open(NULL, &err);
    assert_non_null(sql);
    if (pfr_sql_attach_model(sql, model, "m", &err) != PFR_OK)
        fail_msg("%s", err.text);
    return sql;
}

TEST(sql_counts_recursion_once) {
    pfr_model *model = recursion("f");
    pfr_sql *sql = open_on(model);
    answers(sql, pfr_sql_get_recipe(0)->query, "f,/bin/p,101,2;g,/bin/p,10,1;");
    answers(sql, pfr_sql_get_recipe(1)->query, "f,111,101;g,110,10;");
    answers(sql, "SELECT name, self, total FROM function ORDER BY total DESC", "f,101,111;g,10,110;");
    answers(sql,
            "SELECT y.name, sum(s.weight) FROM sample s JOIN stack_symbol(s.stack_id) x "
            "JOIN symbol y ON y.id=x.symbol_id GROUP BY 1 ORDER BY 1",
            "f,111;g,110;");
    answers(sql, "SELECT id, parent_id, depth, is_outer, self, total FROM stack",
            "1,NULL,0,1,1,111;2,1,1,1,10,110;3,2,2,0,100,100;");
    answers(sql, "SELECT stack_text(3), stack_text(3, '/'), stack_text(4)", "f;g;f,f/g/f,NULL;");
    pfr_sql_close(sql);
    pfr_model_close(model);
}

TEST(sql_finds_stacks_by_id_symbol_and_parent) {
    pfr_model *model = recursion("f");
    pfr_sql *sql = open_on(model);
    answers(sql, "SELECT id FROM stack WHERE symbol_id=1", "1;3;");
    answers(sql, "SELECT id FROM stack WHERE parent_id=2", "3;");
    answers(sql, "SELECT id FROM stack WHERE id=2", "2;");
    answers(sql, "SELECT id FROM stack WHERE id=9", "");
    answers(sql, "SELECT id FROM stack WHERE symbol_id='x'", "");
    answers(sql, "SELECT id FROM stack ORDER BY id DESC", "3;2;1;");
    answers(sql, "SELECT id FROM sample WHERE ts>1 AND ts<=3 AND thread_id=1", "2;3;");
    answers(sql, "SELECT id FROM sample WHERE thread_id=2", "");
    answers(sql, "SELECT count(*) FROM record", "0;");
    pfr_sql_close(sql);
    pfr_model_close(model);
}

TEST(sql_takes_names_as_values_only) {
    pfr_model *model = recursion(HOSTILE);
    pfr_error err;
    pfr_sql *sql = open_on(model);
    assert_int_equal(pfr_sql_bind(sql, "f", HOSTILE, &err), PFR_OK);
    answers(sql, "SELECT total FROM function WHERE name=:f", "111;");
    assert_int_equal(pfr_sql_attach_model(sql, model, HOSTILE, &err), PFR_OK);
    assert_int_equal(pfr_sql_attach_model(sql, model, HOSTILE, &err), PFR_ERR_USAGE);
    answers(sql, "SELECT count(*) FROM \"x'); DROP TABLE sample; --\"\"\n\".sample", "3;");
    answers(sql, "SELECT count(*) FROM m.sample", "3;");
    pfr_sql_close(sql);
    pfr_model_close(model);
}

TEST(sql_percentile_is_a_value_that_was_met) {
    pfr_model *model = recursion("f");
    pfr_sql *sql = open_on(model);
    answers(sql,
            "SELECT percentile(column1, 50), percentile(column1, 0), percentile(column1, 100), "
            "percentile(column1, 51) FROM (VALUES (3),(1),(NULL),(2),(4))",
            "2,1,4,3;");
    answers(sql, "SELECT percentile(column1, 50) FROM (VALUES (9007199254740993),(9007199254740992))",
            "9007199254740992;");
    answers(sql, "SELECT percentile(id, 50) FROM call", "NULL;");
    answers(sql, "SELECT hex(255), hex(-1), hex(x'0aff')", "0xff,0xffffffffffffffff,0AFF;");
    pfr_sql_close(sql);
    pfr_model_close(model);
}
