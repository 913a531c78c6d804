/* SPDX-License-Identifier: Apache-2.0 */
/* Demangling of C++ and Rust, including names that would use too much memory or time. */
#include "symbol/demangle/demangle.h"

#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#include "scratch_file.h"
#include "base/failing_alloc.h"

static void assert_shown(const char *mangled, unsigned flags, const char *expected) {
    struct memory memory;
    struct demangler demangler;
    memory_init(&memory, NULL, 0);
    demangler_init(&demangler, &memory);
    const char *shown = demangle(&demangler, mangled, flags);
    if (!shown || !expected)
        assert_ptr_equal(shown, expected);
    else
        assert_string_equal(shown, expected);
    demangler_free(&demangler);
    assert_int_equal(memory.used, 0);
}

TEST(demangle_cplusplus) {
    assert_shown("_ZN3foo3barEi", 0, "foo::bar");
    assert_shown("_ZN3foo3barEi", DEMANGLE_PARAMETERS, "foo::bar(int)");
    assert_shown("_ZN3fooC1Ev", DEMANGLE_PARAMETERS, "foo::foo()");
}

TEST(demangle_rust) {
    assert_shown("_ZN4core3fmt5write17h0123456789abcdefE", 0, "core::fmt::write");
    assert_shown("_ZN4core3fmt5write17h0123456789abcdefE", DEMANGLE_HASH, "core::fmt::write::h0123456789abcdef");
    assert_shown("_RNvC6_123foo3bar", 0, "123foo::bar");
}

TEST(demangle_leaves_other_names_alone) {
    static const char *const names[] = {"", "main", "_Z", "_ZN", "_R", "_GLOBAL_OFFSET_TABLE_", "_Zebra", "__Z3foov"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_shown(names[i], 0, NULL);
}

/* f<p<a, a>, p<X, X>, p<Y, Y>...>, each argument a pair of the previous one: the text doubles with each. */
static void grow_cplusplus(char *name, int pairs) {
    static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    strcpy(name, "_Z1fI1pI1aS1_E");
    for (int i = 0; i < pairs; i++) {
        char part[16];
        snprintf(part, sizeof part, "S0_IS%c_S%c_E", digits[i + 2], digits[i + 2]);
        strcat(name, part);
    }
    strcat(name, "Evv");
}

/* The same in Rust: a tuple of two references to the previous tuple; references are offsets after "_R" in base 62. */
static void grow_rust(char *name, int pairs) {
    static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    size_t previous = strlen("INvC1a1f");
    strcpy(name, "_RINvC1a1fTuuE");
    for (int i = 0; i < pairs; i++) {
        char back[8], part[32];
        const size_t place = previous - 1; /* "B_" is 0, "B0_" is 1 */
        if (place >= 62)
            snprintf(back, sizeof back, "B%c%c_", digits[place / 62], digits[place % 62]);
        else
            snprintf(back, sizeof back, "B%c_", digits[place]);
        snprintf(part, sizeof part, "T%s%sE", back, back);
        previous = strlen(name) - 2;
        strcat(name, part);
    }
    strcat(name, "E");
}

TEST(demangle_stops_at_names_that_grow_without_end) {
    char name[1024];
    grow_cplusplus(name, 1);
    assert_shown(name, 0, "f<p<a, a>, p<p<a, a>, p<a, a> > >");
    grow_cplusplus(name, 33);
    assert_shown(name, 0, NULL);
    grow_rust(name, 2);
    assert_shown(name, 0, "a::f::<((), ()), (((), ()), ((), ())), ((((), ()), ((), ())), (((), ()), ((), ())))>");
    grow_rust(name, 40);
    assert_shown(name, 0, NULL);
}

TEST(demangle_survives_known_bombs) {
    assert_shown("_Zcv1BIRT_EIS1_E", DEMANGLE_PARAMETERS, NULL);
    char *deep = malloc(1 << 20);
    assert_non_null(deep);
    memset(deep, 'P', (1 << 20) - 1);
    memcpy(deep, "_Z1f", 4);
    for (size_t length = (1 << 20) - 1; length > 16; length /= 3) {
        deep[length] = '\0';
        struct memory memory;
        struct demangler demangler;
        memory_init(&memory, NULL, 0);
        demangler_init(&demangler, &memory);
        demangle(&demangler, deep, DEMANGLE_PARAMETERS);
        demangler_free(&demangler);
    }
    free(deep);
}

TEST(demangle_every_allocation_fails_once) {
    struct failing_alloc failing;
    for (long n = 1;; n++) {
        struct memory memory;
        struct demangler demangler;
        failing_alloc_begin(&failing, n);
        memory_init(&memory, &failing.alloc, 0);
        demangler_init(&demangler, &memory);
        const char *shown = demangle(&demangler, "_ZN3foo3barIiEEvv", 0);
        const bool has_failed = failing.has_failed;
        demangler_free(&demangler);
        assert_int_equal(failing.blocks, 0);
        if (!has_failed) {
            assert_non_null(shown);
            break;
        }
    }
}

static unsigned children(void) {
    char path[64], text[256] = "";
    unsigned count = 0;
    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)gettid());
    FILE *file = fopen(path, "r");
    if (!file)
        return 0;
    if (!fgets(text, sizeof text, file))
        text[0] = '\0';
    fclose(file);
    for (const char *at = text; *at; at++)
        count += *at == ' ';
    return count;
}

/* Process id of the newest child; 0: unknown. */
static pid_t last_child(void) {
    char path[64], text[256] = "";
    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)gettid());
    FILE *file = fopen(path, "r");
    if (!file)
        return 0;
    const char *at = fgets(text, sizeof text, file) ? text : "";
    fclose(file);
    pid_t last = 0;
    for (char *end; *at; at = end + 1) {
        last = (pid_t)strtol(at, &end, 10);
        if (end == at || !*end)
            break;
    }
    return last;
}

TEST(demangle_counts_names_without_an_answer) {
    struct memory memory;
    struct demangler one;
    memory_init(&memory, NULL, 0);
    demangler_init(&one, &memory);
    assert_string_equal(demangle(&one, "_Z1fi", DEMANGLE_PARAMETERS), "f(int)");
    const pid_t process = last_child();
    if (process) {
        kill(process, SIGKILL);
        assert_null(demangle(&one, "_Z1fi", DEMANGLE_PARAMETERS));
        assert_int_equal(one.unanswered, 1);
    }
    assert_string_equal(demangle(&one, "_Z1fi", DEMANGLE_PARAMETERS), "f(int)");
    assert_null(demangle(&one, "_Zmangled", DEMANGLE_PARAMETERS));
    assert_int_equal(one.unanswered, process ? 1 : 0);
    demangler_free(&one);
    assert_int_equal(memory.used, 0);
}

static void *wake(void *process) {
    usleep(800000);
    kill(*(const pid_t *)process, SIGCONT);
    return NULL;
}

/* The demangler takes longer than the time limit for a name, but its process gets no CPU time meanwhile. */
TEST(demangle_waits_for_a_process_that_waits_itself) {
    struct memory memory;
    struct demangler one;
    pthread_t waking;
    memory_init(&memory, NULL, 0);
    demangler_init(&one, &memory);
    assert_string_equal(demangle(&one, "_Z1fi", DEMANGLE_PARAMETERS), "f(int)");
    pid_t process = last_child();
    if (process) {
        kill(process, SIGSTOP);
        assert_int_equal(pthread_create(&waking, NULL, wake, &process), 0);
        assert_string_equal(demangle(&one, "_Z1gi", DEMANGLE_PARAMETERS), "g(int)");
        pthread_join(waking, NULL);
    }
    assert_int_equal(one.unanswered, 0);
    demangler_free(&one);
}

/* Simple names are demangled without a process. */
TEST(demangle_plain_names_here) {
    struct memory memory;
    struct demangler one;
    memory_init(&memory, NULL, 0);
    demangler_init(&one, &memory);
    const unsigned before = children();
    assert_string_equal(demangle(&one, "_ZN3foo3barEi", 0), "foo::bar");
    assert_int_equal(children(), before);
    assert_string_equal(demangle(&one, "_ZN3foo3barEi", DEMANGLE_PARAMETERS), "foo::bar(int)");
    demangler_free(&one);
    assert_int_equal(memory.used, 0);
}

/* All demanglers share one process; it is started again if it dies, and ends with the last demangler. */
TEST(demangle_in_a_process_that_dies) {
    struct memory memory;
    struct demangler one, other;
    memory_init(&memory, NULL, 0);
    demangler_init(&one, &memory);
    demangler_init(&other, &memory);
    const unsigned before = children();
    for (unsigned i = 0; i < DEMANGLERS_MOST; i++) {
        pid_t pid = 0;
        char path[64];
        assert_string_equal(demangle(&one, "_ZN3foo3barIiEEvv", 0), "foo::bar<int>");
        assert_string_equal(demangle(&other, "_ZN3foo3bazIiEEvv", 0), "foo::baz<int>");
        snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)gettid());
        FILE *file = fopen(path, "r");
        while (file && fscanf(file, "%d", &pid) == 1) {
        }
        if (!file || pid <= 0)
            break; /* this kernel does not list children */
        fclose(file);
        assert_int_equal(children(), before + 1);
        assert_int_equal(kill(pid, SIGKILL), 0);
        assert_null(demangle(&one, "_ZN3foo3barIiEEvv", 0)); /* fails once after the process died */
    }
    demangler_free(&one);
    demangler_free(&other);
    assert_int_equal(children(), before);
    assert_int_equal(memory.used, 0);
    demangler_init(&one, &memory);
    assert_string_equal(demangle(&one, "_ZN3foo3barIiEEvv", 0), "foo::bar<int>");
    demangler_free(&one);
}

/* A forked process does not use the process of its parent. */
TEST(demangle_in_a_forked_process) {
    struct memory memory;
    struct demangler one;
    int status;
    memory_init(&memory, NULL, 0);
    demangler_init(&one, &memory);
    assert_string_equal(demangle(&one, "_ZN3foo3barIiEEvv", 0), "foo::bar<int>");
    const pid_t pid = fork();
    if (pid == 0) {
        const char *shown = demangle(&one, "_ZN3foo3bazIiEEvv", 0);
        const bool right = shown && strcmp(shown, "foo::baz<int>") == 0;
        demangler_free(&one);
        _exit(right ? 0 : 1);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    assert_string_equal(demangle(&one, "_ZN3foo3barIiEEvv", 0), "foo::bar<int>");
    demangler_free(&one);
}
