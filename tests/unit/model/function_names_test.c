/* SPDX-License-Identifier: Apache-2.0 */
/* Names of function ids: numbers without a map, names from maps, several objects, ids that no map has; binaries of the
   corpus. */
#include "../symbol/scratch_file.h"
#include "model/names/function_names.h"

#include "../base/failing_alloc.h"
#include <dirent.h>

#define SLED(id, address, name)                                                                                        \
    "- { id: " id ", address: " address ", function: " address ", kind: function-enter, always-instrument: true, "     \
    "function-name: " name ", version: 2 }\n"

static const char first[] =
    "---\n" SLED("1", "0x100", "main") SLED("2", "0x200", "_ZNK5shape4areaEi") SLED("4", "0x400", "'a, b'") "...\n";
static const char second[] = SLED("1", "0x1100", "plug_in");

struct subject {
    struct scratch_file scratch[2];
    const char *maps[3];
    struct memory memory;
    struct function_names names;
    struct function_names_options options;
};

static void subject_make(struct subject *s, unsigned nr_maps) {
    const char *const texts[] = {first, second};
    *s = (struct subject){.options = {.naming = {.instr_maps = s->maps}}};
    for (unsigned i = 0; i < nr_maps; i++) {
        scratch_make(&s->scratch[i]);
        scratch_write(&s->scratch[i], texts[i], strlen(texts[i]));
        s->maps[i] = s->scratch[i].path;
    }
    memory_init(&s->memory, NULL, UINT64_MAX);
}

static void subject_end(struct subject *s) {
    function_names_close(&s->names);
    assert_int_equal(s->memory.used, 0);
    for (unsigned i = 0; i < 2; i++)
        if (s->maps[i])
            scratch_remove(&s->scratch[i]);
}

static void subject_open(struct subject *s) {
    assert_int_equal(function_names_open(&s->names, &s->memory, &s->options, NULL), PFR_OK);
}

static const struct function_name *find(struct subject *s, uint32_t id) {
    const struct function_name *name, *again;
    assert_int_equal(function_names_find(&s->names, id, &name, NULL), PFR_OK);
    assert_int_equal(function_names_find(&s->names, id, &again, NULL), PFR_OK);
    assert_ptr_equal(name, again);
    assert_int_equal(name->id, id);
    assert_int_equal(name->length, strlen(name->text));
    return name;
}

static void expect(struct subject *s, uint32_t id, const char *text) {
    assert_string_equal(find(s, id)->text, text);
}

static bool doubts(struct subject *s, const char *part) {
    char text[160] = "";
    const bool doubtful = function_names_doubt(&s->names, text, sizeof text);
    assert_true(doubtful == (text[0] != '\0'));
    return doubtful && strstr(text, part);
}

TEST(without_a_map_functions_are_numbers) {
    struct subject s;
    subject_make(&s, 0);
    assert_int_equal(function_names_open(&s.names, &s.memory, NULL, NULL), PFR_OK);
    expect(&s, 7, "#7");
    expect(&s, 0, "#0");
    expect(&s, 0xffffff, "#16777215");
    expect(&s, 3u << 24 | 5, "#3:5");
    expect(&s, UINT32_MAX, "#255:16777215");
    assert_false(find(&s, 7)->named || find(&s, 7)->mapped);
    assert_false(doubts(&s, ""));
    assert_null(find(&s, 7)->path);
    subject_end(&s);
}

TEST(names_come_from_the_map_of_the_object) {
    struct subject s;
    subject_make(&s, 2);
    subject_open(&s);
    expect(&s, 1, "main");
    expect(&s, 2, "shape::area");
    expect(&s, 4, "a, b");
    expect(&s, 1u << 24 | 1, "plug_in");
    assert_int_equal(find(&s, 2)->address, 0x200);
    assert_true(find(&s, 2)->named && find(&s, 2)->mapped);
    assert_int_equal(find(&s, 1u << 24 | 1)->object, 1);
    assert_int_equal(find(&s, 1u << 24 | 1)->function, 1);
    assert_string_equal(find(&s, 1u << 24 | 1)->path, s.maps[1]);
    assert_false(doubts(&s, ""));
    subject_end(&s);
}

TEST(names_are_written_as_asked) {
    struct subject s;
    subject_make(&s, 1);
    s.options.parameters = true;
    subject_open(&s);
    expect(&s, 2, "shape::area(int) const");
    function_names_close(&s.names);
    s.options.naming.mangled = true;
    subject_open(&s);
    expect(&s, 2, "_ZNK5shape4areaEi");
    function_names_close(&s.names);
    s.options.naming.no_symbols = true;
    subject_open(&s);
    expect(&s, 2, "#2");
    assert_false(doubts(&s, ""));
    subject_end(&s);
}

TEST(ids_that_the_maps_do_not_have_are_doubted) {
    struct subject s;
    subject_make(&s, 2);
    subject_open(&s);
    expect(&s, 3, "#3");
    assert_true(doubts(&s, "function ids that are not in the map: 1;"));
    expect(&s, 5u << 24 | 9, "#5:9");
    assert_true(doubts(&s, "object 5, for which no map was given"));
    expect(&s, 9, "#9");
    expect(&s, 8, "#8");
    assert_true(doubts(&s, "ids up to 9"));
    assert_true(doubts(&s, "has 4 functions"));
    assert_false(find(&s, 9)->mapped);
    subject_end(&s);
}

TEST(a_map_that_cannot_be_used_is_refused_with_its_name) {
    static const struct {
        const char *text, *said;
    } cases[] = {
        {"neither", "neither an object file nor the output"},
        {"---\n...\n", "-fxray-instrument"},
        {SLED("1", "0x100", "a") "- { id: 1\n", "it is damaged"},
        {NULL, "no such file"},
    };
    pfr_error err;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct subject s;
        subject_make(&s, 1);
        if (cases[i].text)
            scratch_write(&s.scratch[0], cases[i].text, strlen(cases[i].text));
        else
            unlink(s.scratch[0].path);
        assert_int_equal(function_names_open(&s.names, &s.memory, &s.options, &err), PFR_ERR_USAGE);
        assert_true(strstr(err.text, cases[i].said) && strstr(err.text, "/file: "));
        subject_end(&s);
    }
}

TEST(every_allocation_of_naming_fails_once) {
    for (long n = 1;; n++) {
        struct subject s;
        struct failing_alloc failing;
        const struct function_name *name;
        subject_make(&s, 2);
        failing_alloc_begin(&failing, n);
        memory_init(&s.memory, &failing.alloc, UINT64_MAX);
        pfr_status st = function_names_open(&s.names, &s.memory, &s.options, NULL);
        for (uint32_t id = 0; id < 40 && st == PFR_OK; id++)
            st = function_names_find(&s.names, id, &name, NULL);
        assert_int_equal(st, failing.has_failed ? PFR_ERR_MEMORY : PFR_OK);
        subject_end(&s);
        assert_int_equal(failing.blocks, 0);
        if (!failing.has_failed)
            return;
    }
}

static const struct function_line *line_of(struct subject *s, uint32_t id) {
    const struct function_line *line, *again;
    assert_int_equal(function_names_line(&s->names, id, &line, NULL), PFR_OK);
    assert_int_equal(function_names_line(&s->names, id, &again, NULL), PFR_OK);
    assert_ptr_equal(line, again);
    assert_true(line->asked && !line->file == !line->text);
    return line;
}

TEST(a_map_without_objects_has_no_lines) {
    struct subject s;
    subject_make(&s, 2);
    subject_open(&s);
    assert_null(line_of(&s, 1)->file);
    assert_null(line_of(&s, 1u << 24 | 1)->file);
    assert_null(line_of(&s, 77)->file);
    assert_int_equal(s.names.objectless, 3);
    assert_int_equal(s.names.lineless, 0);
    assert_int_equal(s.names.limits.lined.count, 0);
    subject_end(&s);
}

/* --- The corpus: the symbols of each binary compared with the names that llvm-xray extracted. */

/* llvm-xray closes templates with ">>", libiberty with "> >". */
static void close_up(const char *from, char *to, size_t room) {
    size_t length = 0;
    for (; *from && length + 1 < room; from++)
        if (!(*from == ' ' && from[1] == '>' && length > 0 && to[length - 1] == '>'))
            to[length++] = *from;
    to[length] = '\0';
}

static unsigned compare_names(const char *object, const char *yaml) {
    struct subject of_object, of_yaml;
    char text[1024];
    uint32_t id = 1;
    subject_make(&of_object, 0);
    subject_make(&of_yaml, 0);
    of_object.maps[0] = object;
    of_yaml.maps[0] = yaml;
    of_object.options.parameters = true;
    subject_open(&of_object);
    subject_open(&of_yaml);
    for (; id <= of_yaml.names.objects[0].map.count; id++) {
        close_up(find(&of_object, id)->text, text, sizeof text);
        if (!find(&of_yaml, id)->named || strcmp(text, find(&of_yaml, id)->text) != 0)
            fail_msg("%s: function %u is %s, not %s", object, id, text, find(&of_yaml, id)->text);
    }
    function_names_close(&of_object.names);
    function_names_close(&of_yaml.names);
    assert_int_equal(of_object.memory.used + of_yaml.memory.used, 0);
    return id - 1;
}

TEST(names_of_binaries_equal_what_llvm_xray_extracts) {
    const char *corpus = getenv("PERFRAY_CORPUS");
    char folder[512], object[1024], text[1024];
    unsigned binaries = 0;
    snprintf(folder, sizeof folder, "%.400s/xray/bin", corpus ? corpus : "");
    DIR *dir = corpus ? opendir(folder) : NULL;
    if (!dir)
        skip();
    for (const struct dirent *e; (e = readdir(dir));) {
        snprintf(object, sizeof object, "%s/%.200s", folder, e->d_name);
        snprintf(text, sizeof text, "%.400s/xray/out/%.200s.extract.yaml", corpus, e->d_name);
        if (e->d_name[0] != '.' && access(text, R_OK) == 0)
            binaries += compare_names(object, text) > 0;
    }
    closedir(dir);
    assert_int_equal(binaries, 17);
}

static bool corpus_binary(const char *name, char *path, size_t room) {
    const char *corpus = getenv("PERFRAY_CORPUS");
    snprintf(path, room, "%.400s/xray/bin/%s", corpus ? corpus : "", name);
    return corpus && access(path, R_OK) == 0;
}

/* As llvm-symbolizer 19 prints for the addresses of the functions. */
TEST(lines_are_those_of_the_debugging_information) {
    char path[512], all[1024];
    size_t length = 0;
    struct subject s;
    if (!corpus_binary("cxx.19", path, sizeof path))
        skip();
    subject_make(&s, 0);
    s.maps[0] = path;
    subject_open(&s);
    for (uint32_t id = 1; id <= s.names.objects[0].map.count; id++)
        length +=
            (size_t)snprintf(all + length, sizeof all - length, "%s %s\n", find(&s, id)->text, line_of(&s, id)->text);
    assert_string_equal(all, "main::$_0::operator() ./cxx.cpp:16\n"
                             "shapes::total<double> ./cxx.cpp:9\n" /* where begin() of a vector is inlined */
                             "shapes::total<int> ./cxx.cpp:9\n"
                             "shapes::Square::area ./cxx.cpp:7\n"
                             "shapes::Circle::area ./cxx.cpp:8\n");
    assert_int_equal(s.names.objectless + s.names.lineless, 0);
    s.maps[0] = NULL;
    subject_end(&s);
}

TEST(every_allocation_of_lines_fails_once) {
    char path[512];
    if (!corpus_binary("fib.19", path, sizeof path))
        skip();
    for (long n = 1;; n++) {
        struct subject s;
        struct failing_alloc failing;
        const struct function_line *line;
        subject_make(&s, 0);
        s.maps[0] = path;
        failing_alloc_begin(&failing, n);
        memory_init(&s.memory, &failing.alloc, UINT64_MAX);
        pfr_status st = function_names_open(&s.names, &s.memory, &s.options, NULL);
        for (uint32_t id = 1; id < 4 && st == PFR_OK; id++)
            st = function_names_line(&s.names, id, &line, NULL);
        assert_int_equal(st, failing.has_failed ? PFR_ERR_MEMORY : PFR_OK);
        s.maps[0] = NULL;
        subject_end(&s);
        assert_int_equal(failing.blocks, 0);
        if (!failing.has_failed)
            return;
    }
}

TEST(the_limit_loses_only_lines) {
    char path[512];
    unsigned limited = 0, whole = 0;
    if (!corpus_binary("fib.19", path, sizeof path))
        skip();
    for (uint64_t limit = 1 << 17; limit <= 1 << 22; limit += limit / 8) {
        struct subject s;
        const struct function_line *line;
        subject_make(&s, 0);
        s.maps[0] = path;
        memory_init(&s.memory, NULL, limit);
        subject_open(&s);
        assert_int_equal(function_names_line(&s.names, 1, &line, NULL), PFR_OK);
        assert_true(line->file || s.names.limits.lined.count || s.names.objectless);
        assert_int_equal(s.names.lineless, 0);
        limited += name_limits_any(&s.names.limits);
        whole += line->file != NULL;
        s.maps[0] = NULL;
        subject_end(&s);
    }
    assert_true(limited > 0 && whole > 0);
}
