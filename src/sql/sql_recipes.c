/* SPDX-License-Identifier: Apache-2.0 */
/* Queries for common questions. docs/sql.md has the same text; tests/laws/run_sql.py compares both texts and runs each
 * query. */
#include <perfray/sql.h>

static const pfr_sql_recipe recipes[] = {
    {1, "hottest functions, without callees",
     "SELECT y.name, o.path, f.self, f.samples\n"
     "FROM (SELECT k.symbol_id, sum(s.weight) AS self, count(*) AS samples\n"
     "      FROM sample s JOIN stack k ON k.id=s.stack_id GROUP BY k.symbol_id) f\n"
     "JOIN symbol y ON y.id=f.symbol_id JOIN object o ON o.id=y.object_id\n"
     "ORDER BY f.self DESC, y.name LIMIT 10",
     NULL},
    {2, "hottest functions, with callees (recursion counts once)",
     "SELECT y.name, sum(k.total*k.is_outer) AS total, sum(k.self) AS self\n"
     "FROM symbol y JOIN stack k ON k.symbol_id=y.id\n"
     "GROUP BY y.id ORDER BY total DESC, y.name LIMIT 10",
     NULL},
    {3, "the same in percent of all",
     "WITH everything AS (SELECT sum(self) AS w FROM stack)\n"
     "SELECT name, round(100.0*self/w, 2) AS self_percent, round(100.0*total/w, 2) AS total_percent\n"
     "FROM function, everything ORDER BY total DESC, name LIMIT 10",
     NULL},
    {4, "callers of :function",
     "SELECT coalesce(py.name, '[outermost]') AS caller, sum(k.total) AS weight\n"
     "FROM symbol y JOIN stack k ON k.symbol_id=y.id AND k.is_outer\n"
     "LEFT JOIN stack p ON p.id=k.parent_id LEFT JOIN symbol py ON py.id=p.symbol_id\n"
     "WHERE y.name=:function GROUP BY p.symbol_id ORDER BY weight DESC, caller",
     "function"},
    {5, "callees of :function, and its own weight",
     "WITH x AS MATERIALIZED (SELECT k.id, k.self FROM symbol y JOIN stack k ON k.symbol_id=y.id\n"
     "                        WHERE y.name=:function),\n"
     "part AS (SELECT NULL AS symbol_id, self AS w FROM x\n"
     "         UNION ALL SELECT c.symbol_id, c.total FROM x JOIN stack c ON c.parent_id=x.id)\n"
     "SELECT coalesce(y.name, '[self]') AS callee, sum(w) AS weight\n"
     "FROM part LEFT JOIN symbol y ON y.id=part.symbol_id\n"
     "GROUP BY part.symbol_id ORDER BY weight DESC, callee",
     "function"},
    {6, "call tree below :function, six levels",
     "WITH RECURSIVE below(id, level) AS (\n"
     "    SELECT k.id, 0 FROM symbol y JOIN stack k ON k.symbol_id=y.id AND k.is_outer WHERE y.name=:function\n"
     "    UNION ALL SELECT c.id, level+1 FROM below JOIN stack c ON c.parent_id=below.id WHERE level<6)\n"
     "SELECT level, y.name, sum(k.total) AS weight\n"
     "FROM below JOIN stack k ON k.id=below.id JOIN symbol y ON y.id=k.symbol_id\n"
     "GROUP BY level, y.id HAVING weight>0 ORDER BY level, weight DESC, y.name",
     "function"},
    {7, "hottest stacks",
     "SELECT self, stack_text(id) AS stack FROM (SELECT id, self FROM stack ORDER BY self DESC, id LIMIT 5)\n"
     "ORDER BY self DESC, stack",
     NULL},
    {8, "by object",
     "SELECT o.path, sum(f.self) AS weight FROM function f JOIN symbol y ON y.id=f.symbol_id\n"
     "JOIN object o ON o.id=y.object_id GROUP BY o.id HAVING weight>0 ORDER BY weight DESC, o.path",
     NULL},
    {9, "by thread",
     "SELECT t.comm, t.tid, w.weight, w.samples\n"
     "FROM (SELECT thread_id, sum(weight) AS weight, count(*) AS samples FROM sample GROUP BY thread_id) w\n"
     "JOIN thread t ON t.id=w.thread_id ORDER BY w.weight DESC, t.tid",
     NULL},
    {10, "over time, in slices of 100 ms",
     "SELECT (ts-(SELECT min(ts) FROM sample))/100000000 AS slice, sum(weight) AS weight,\n"
     "       count(DISTINCT thread_id) AS threads\n"
     "FROM sample GROUP BY slice ORDER BY slice",
     NULL},
    {11, "hottest functions with callees, between :from and :to (ns)",
     "WITH leaf AS MATERIALIZED (SELECT stack_id, sum(weight) AS w FROM sample\n"
     "                           WHERE ts>=:from AND ts<=:to GROUP BY stack_id)\n"
     "SELECT y.name, sum(leaf.w) AS total FROM leaf JOIN stack_symbol(leaf.stack_id) f\n"
     "JOIN symbol y ON y.id=f.symbol_id GROUP BY f.symbol_id ORDER BY total DESC, y.name LIMIT 10",
     "from,to"},
    {12, "functions that got hotter in the second half",
     "WITH half AS (SELECT (min(ts)+max(ts))/2 AS middle FROM sample),\n"
     "w AS (SELECT k.symbol_id, sum(s.weight*(s.ts<middle)) AS before, sum(s.weight*(s.ts>=middle)) AS after\n"
     "      FROM half, sample s JOIN stack k ON k.id=s.stack_id GROUP BY k.symbol_id)\n"
     "SELECT y.name, w.before, w.after FROM w JOIN symbol y ON y.id=w.symbol_id\n"
     "ORDER BY w.after-w.before DESC, y.name LIMIT 10",
     NULL},
    {13, "weight without function names, by object",
     "SELECT o.path, sum(f.self*(f.name IS NULL)) AS unnamed, sum(f.self) AS weight\n"
     "FROM function f JOIN symbol y ON y.id=f.symbol_id JOIN object o ON o.id=y.object_id\n"
     "GROUP BY o.id HAVING weight>0 ORDER BY unnamed DESC, o.path",
     NULL},
    {14, "depth of stacks",
     "SELECT depth/8*8 AS depth, sum(self) AS weight FROM stack GROUP BY 1 HAVING weight>0 ORDER BY 1", NULL},
    {15, "calls by function: count, percentiles, sum",
     "SELECT y.name, count(*) AS calls, sum(c.dur) AS total, sum(c.self) AS self, percentile(c.dur, 50) AS p50,\n"
     "       percentile(c.dur, 99) AS p99, max(c.dur) AS max\n"
     "FROM call c JOIN symbol y ON y.id=c.symbol_id WHERE NOT c.open\n"
     "GROUP BY c.symbol_id ORDER BY total DESC, y.name",
     NULL},
    {16, "the slowest calls of :function, and their callers",
     "SELECT c.ts, c.dur, t.tid, py.name AS caller FROM call c JOIN symbol y ON y.id=c.symbol_id\n"
     "JOIN thread t ON t.id=c.thread_id LEFT JOIN call p ON p.id=c.parent_id LEFT JOIN symbol py ON py.id=p.symbol_id\n"
     "WHERE y.name=:function AND NOT c.open ORDER BY c.dur DESC, c.id LIMIT 10",
     "function"},
    {17, "what differs between the slowest 2 % of the calls of :function and the others",
     "WITH x AS MATERIALIZED (SELECT c.id, c.dur FROM call c JOIN symbol y ON y.id=c.symbol_id\n"
     "                        WHERE y.name=:function AND NOT c.open),\n"
     "q AS MATERIALIZED (SELECT percentile(dur, 98) AS slow FROM x),\n"
     "n AS MATERIALIZED (SELECT sum(dur*(dur>=slow)) AS slow_time, sum(dur*(dur<slow)) AS other_time FROM x, q)\n"
     "SELECT y.name, round(100.0*sum(s.weight*(x.dur>=q.slow))/slow_time, 1) AS in_slow,\n"
     "       round(100.0*sum(s.weight*(x.dur<q.slow))/other_time, 1) AS in_others\n"
     "FROM sample s JOIN x ON x.id=s.call_id JOIN q JOIN n JOIN stack k ON k.id=s.stack_id\n"
     "JOIN symbol y ON y.id=k.symbol_id GROUP BY y.id ORDER BY in_slow DESC, y.name",
     "function"},
    {18, "waiting inside the 100 slowest calls of :function",
     "WITH x AS MATERIALIZED (SELECT c.* FROM call c JOIN symbol y ON y.id=c.symbol_id\n"
     "                        WHERE y.name=:function AND NOT c.open ORDER BY c.dur DESC, c.id LIMIT 100)\n"
     "SELECT (SELECT count(*) FROM x) AS calls, (SELECT sum(dur) FROM x) AS in_all,\n"
     "       sum(w.dur*(NOT w.preempted)) AS waited, sum(w.dur*w.preempted) AS preempted\n"
     "FROM wait w JOIN x ON w.thread_id=x.thread_id AND w.ts>=x.ts AND w.ts<x.ts+x.dur",
     "function"},
    {19, "how many calls of :function ran at once, and for how long",
     "WITH x AS MATERIALIZED (SELECT c.ts, c.dur FROM call c JOIN symbol y ON y.id=c.symbol_id\n"
     "                        WHERE y.name=:function AND NOT c.open),\n"
     "edge AS (SELECT ts AS t, 1 AS step FROM x UNION ALL SELECT ts+dur, -1 FROM x),\n"
     "level AS (SELECT sum(step) OVER (ORDER BY t, step) AS calls, lead(t) OVER (ORDER BY t, step)-t AS length\n"
     "          FROM edge)\n"
     "SELECT calls, sum(length) AS time FROM level GROUP BY calls HAVING time>0 ORDER BY calls",
     "function"},
    {20, "comparison of traced and sampled times of the same functions",
     "SELECT y.name, sum(c.dur) AS traced, max(f.total) AS sampled\n"
     "FROM call c JOIN symbol y ON y.id=c.symbol_id LEFT JOIN function f ON f.symbol_id=y.id\n"
     "WHERE NOT c.open GROUP BY y.id ORDER BY traced DESC, y.name",
     NULL},
};

const pfr_sql_recipe *pfr_sql_get_recipe(unsigned index) {
    return index < sizeof recipes / sizeof *recipes ? &recipes[index] : NULL;
}
