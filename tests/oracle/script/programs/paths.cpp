// SPDX-License-Identifier: Apache-2.0
// Makes nested calls along known paths. Before each path, prints its functions in this file on standard output,
// innermost first: `spin_plain plain_b plain_a main`. usage: paths MILLISECONDS LIBRARY...
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#define CALLED extern "C" __attribute__((noinline, noclone))
static int milliseconds = 20;
volatile int calls;

static void path(const char *text) {
    puts(text);
    fflush(stdout);
}

// Inlined everywhere, so the time is spent in the caller.
static inline __attribute__((always_inline)) void spin() {
    timespec from, now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
    do {
        for (int i = 0; i < 100000; i++)
            calls = calls + 1;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    } while ((now.tv_sec - from.tv_sec) * 1000 + (now.tv_nsec - from.tv_nsec) / 1000000 < milliseconds);
}

#define SPINNER(name)                                                                                                  \
    CALLED void name() {                                                                                               \
        spin();                                                                                                        \
        calls = calls + 1;                                                                                             \
    }
SPINNER(spin_plain)
SPINNER(spin_caught)
SPINNER(spin_left)
SPINNER(spin_handler)
SPINNER(spin_tail)
SPINNER(spin_back)
SPINNER(spin_child)
SPINNER(spin_executed)
SPINNER(spin_deep)

CALLED void plain_b() { spin_plain(); calls = calls + 1; }
CALLED void plain_a() { plain_b(); calls = calls + 1; }

struct Leaves {
    ~Leaves() { leave(); }
    __attribute__((noinline)) void leave();
};
CALLED void leaver() { spin_left(); calls = calls + 1; }
void Leaves::leave() { leaver(); calls = calls + 1; }
CALLED void thrower(int what) {
    Leaves leaves;
    if (what)
        throw what;
    calls = calls + 1;
}
CALLED void catcher(int what) {
    try {
        thrower(what);
    } catch (int) {
        spin_caught();
    }
    calls = calls + 1;
}

CALLED void handler(int) { spin_handler(); calls = calls + 1; }
CALLED void raiser() { raise(SIGUSR1); calls = calls + 1; }

CALLED void tail_target() { spin_tail(); calls = calls + 1; }
CALLED void tail_caller() { calls = calls + 1; return tail_target(); }

CALLED void back() { spin_back(); calls = calls + 1; }
typedef void call_back(void (*)());

CALLED void loader(const char *name) {
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    call_back *call = library ? (call_back *)dlsym(library, "call_back") : nullptr;
    if (call)
        call(back);
    if (library)
        dlclose(library);
    calls = calls + 1;
}

CALLED int deeper(int left) {
    if (left == 0)
        spin_deep();
    else
        deeper(left - 1);
    calls = calls + 1;
    return calls;
}

CALLED void forked() { spin_child(); calls = calls + 1; }
CALLED void executed() { spin_executed(); calls = calls + 1; }

int main(int count, char **words) {
    if (count > 1)
        milliseconds = atoi(words[1]);
    if (count > 2 && strcmp(words[2], "again") == 0) {
        path("spin_executed executed main");
        executed();
        return calls == 0;
    }
    path("spin_plain plain_b plain_a main");
    plain_a();
    path("spin_left leaver thrower catcher main");
    path("spin_caught catcher main");
    catcher(count);
    struct sigaction action = {};
    action.sa_handler = handler;
    sigaction(SIGUSR1, &action, nullptr);
    path("spin_handler handler raiser main");
    raiser();
    path("spin_tail tail_target main");
    tail_caller();
    path("spin_deep deeper deeper deeper deeper deeper deeper deeper deeper deeper deeper deeper main");
    deeper(10);
    path("spin_back back loader main");
    for (int i = 2; i < count; i++)
        loader(words[i]);
    path("spin_child forked main");
    const pid_t child = fork();
    if (child == 0) {
        forked();
        _exit(0);
    }
    waitpid(child, nullptr, 0);
    execl(words[0], words[0], words[1], "again", nullptr);
    return 1;
}
