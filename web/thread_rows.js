// SPDX-License-Identifier: Apache-2.0
// The rows of the timeline: threads, below headings of their cgroups and processes.
import {visibleText} from './format.js';
import {isOfBaseline} from './weights.js';

// In a comparison the recordings are headings. Cgroups are headings if several are known, processes if some have several threads.
function headingLevels({threads, strings}, all) {
    const several = (of) => new Set(all.map(of)).size > 1;
    const cgroup = {kind: 'cgroup', of: (t) => threads.cgroup[t], label: (t) => ({kind: 'cgroup', name: visibleText(strings.get(threads.cgroup[t])) || 'unknown cgroup'})};
    const side = {kind: 'recording', of: (t) => Number(isOfBaseline({threads}, t)), label: (t) => ({kind: 'recording', name: isOfBaseline({threads}, t) ? 'baseline' : 'new'})};
    const process = {kind: 'process', of: (t) => threads.pid[t], label: (t) => ({kind: 'process', pid: threads.pid[t], name: visibleText(strings.get(threads.process[t])) || 'process'})};
    const groupsProcesses = several(process.of) && new Set(all.map(process.of)).size < threads.count;
    const known = new Set(all.map(cgroup.of).filter((text) => text !== 0)); // text 0 is empty
    return [...(several(side.of) ? [side] : []), ...(known.size > 1 ? [cgroup] : []), ...(groupsProcesses ? [process] : [])];
}

// The group of each thread at a level: a process is another group in each of its cgroups.
function groupsAt(levels, depth, all, weightOf) {
    const keys = all.map((t) => levels.slice(0, depth + 1).map((level) => level.of(t)).join('/')), groups = new Map();
    all.forEach((t, i) => {
        const group = groups.get(keys[i]) || {level: levels[depth], key: levels[depth].of(t), weight: 0, members: new Set()};
        groups.set(keys[i], group);
        group.weight += weightOf(t);
        group.members.add(t);
    });
    return keys.map((key) => groups.get(key));
}

// A process of one thread needs no heading, and neither does a recording whose cgroups are all unknown.
function hasHeading(group, above) {
    if (group.level.kind === 'process') return group.members.size > 1;
    return group.level.kind !== 'cgroup' || group.key !== 0 || !above || above.members.size > group.members.size;
}

// {rows, threads, hidden}: rows are {thread, depth}, or {thread: null, depth, kind, name, pid, members} above the threads
// of a group; `depth` is the number of headings that a row is below. Groups and threads are ordered by weight, the
// baseline of a comparison after the new recording; only the first `most` threads have rows.
export function threadRows(data, most) {
    const all = Array.from({length: data.threads.count}, (_, t) => t), levels = headingLevels(data, all), {samples, calls} = data;
    const weightOf = (t) => samples.ranges[t + 1] - samples.ranges[t] + calls.ranges[t + 1] - calls.ranges[t];
    const groups = levels.map((_, depth) => groupsAt(levels, depth, all, weightOf));
    const byGroup = (of, a, b) => of[a] === of[b] ? 0 : (of[a].level.kind === 'recording' ? 0 : of[b].weight - of[a].weight) || of[a].key - of[b].key;
    const sorted = all.slice().sort((a, b) => groups.reduce((order, of) => order || byGroup(of, a, b), 0) || weightOf(b) - weightOf(a) || a - b);
    const threads = sorted.slice(0, most);
    const groupsOf = (thread) => groups.map((of) => of[thread]).filter((group, depth) => hasHeading(group, depth && groups[depth - 1][thread]));
    const rowsOf = (thread, before) => {
        const own = groupsOf(thread), shown = before === undefined ? [] : groupsOf(before);
        const headings = own.map((group, depth) => ({thread: null, depth, ...group.level.label(thread), members: group.members})).filter((_, depth) => own[depth] !== shown[depth]);
        return [...headings, {thread, depth: own.length}];
    };
    return {threads, hidden: all.length - threads.length, rows: threads.flatMap((thread, i) => rowsOf(thread, threads[i - 1]))};
}
