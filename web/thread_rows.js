// SPDX-License-Identifier: Apache-2.0
// The rows of the timeline: threads, below headings of their cgroups and processes. Threads of the
// recorded command come first. The idle task comes last, because its samples are of no interest.
import {visibleText} from './format.js';
import {isOfBaseline} from './weights.js';

export const isOfCommand = ({threads}, t) => Boolean(threads.command && threads.command[t]);

// All threads of the recorded command; empty: the page has no others.
export const commandThreads = (data) => new Set(Array.from({length: data.threads.count}, (_, t) => t).filter((t) => isOfCommand(data, t)));

// 0 for threads of the recorded command, 1 for others, 2 for the idle task.
export const rankOf = (data, t) => isOfCommand(data, t) ? 0 : data.threads.pid[t] || data.threads.tid[t] ? 1 : 2;

// In a comparison, the recordings are headings. The recorded command is a heading if there are
// other threads, cgroups if several are known, and processes if there are several and one of them
// has several threads.
function headingLevels(data, all) {
    const {threads, strings} = data;
    const several = (of) => new Set(all.map(of)).size > 1;
    const cgroup = {kind: 'cgroup', of: (t) => threads.cgroup[t], label: (t) => ({kind: 'cgroup', name: visibleText(strings.get(threads.cgroup[t])) || 'unknown cgroup'})};
    const side = {kind: 'recording', of: (t) => Number(isOfBaseline({threads}, t)), label: (t) => ({kind: 'recording', name: isOfBaseline({threads}, t) ? 'baseline' : 'new'})};
    const command = {kind: 'command', of: (t) => Number(!isOfCommand(data, t)), label: (t) => ({kind: 'command', name: isOfCommand(data, t) ? 'recorded command' : 'other threads', short: isOfCommand(data, t) ? 'command' : 'others'})};
    const process = {kind: 'process', of: (t) => threads.pid[t], label: (t) => ({kind: 'process', pid: threads.pid[t], name: visibleText(strings.get(threads.process[t])) || 'process'})};
    const groupsProcesses = several(process.of) && new Set(all.map(process.of)).size < threads.count;
    const known = new Set(all.map(cgroup.of).filter((text) => text !== 0)); // text 0 is empty
    return [...(several(side.of) ? [side] : []), ...(several(command.of) ? [command] : []), ...(known.size > 1 ? [cgroup] : []), ...(groupsProcesses ? [process] : [])];
}

// The group of each thread at a level. A process with threads in several cgroups has a group in
// each of them.
function groupsAt(data, levels, depth, all, weightOf) {
    const keys = all.map((t) => levels.slice(0, depth + 1).map((level) => level.of(t)).join('/')), groups = new Map();
    all.forEach((t, i) => {
        const group = groups.get(keys[i]) || {level: levels[depth], key: levels[depth].of(t), weight: 0, rank: Infinity, members: new Set()};
        groups.set(keys[i], group);
        group.weight += weightOf(t);
        group.rank = Math.min(group.rank, rankOf(data, t));
        group.members.add(t);
    });
    return keys.map((key) => groups.get(key));
}

// A process with one thread needs no heading, and neither does the unknown cgroup if all threads of
// the group above are in it.
function hasHeading(group, above) {
    if (group.level.kind === 'process') return group.members.size > 1;
    return group.level.kind !== 'cgroup' || group.key !== 0 || !above || above.members.size > group.members.size;
}

// {rows, threads, hidden}: rows are {thread, depth}, or {thread: null, depth, kind, name, pid, members} above the threads
// of a group; `depth` is the number of headings that a row is below. The baseline of a comparison comes after the new
// recording, other threads after those of the recorded command; groups and threads are ordered by weight. Only the first
// `most` threads have rows.
export function threadRows(data, most) {
    const all = Array.from({length: data.threads.count}, (_, t) => t), levels = headingLevels(data, all), {samples, calls} = data;
    const weightOf = (t) => samples.ranges[t + 1] - samples.ranges[t] + calls.ranges[t + 1] - calls.ranges[t];
    const groups = levels.map((_, depth) => groupsAt(data, levels, depth, all, weightOf));
    const hasOrder = (group) => ['recording', 'command'].includes(group.level.kind); // groups of these kinds are ordered by key
    const byGroup = (of, a, b) => of[a] === of[b] ? 0 : (hasOrder(of[a]) ? 0 : of[a].rank - of[b].rank || of[b].weight - of[a].weight) || of[a].key - of[b].key;
    const sorted = all.slice().sort((a, b) => groups.reduce((order, of) => order || byGroup(of, a, b), 0) || rankOf(data, a) - rankOf(data, b) || weightOf(b) - weightOf(a) || a - b);
    const threads = sorted.slice(0, most);
    const groupsOf = (thread) => groups.map((of) => of[thread]).filter((group, depth) => hasHeading(group, depth && groups[depth - 1][thread]));
    const rowsOf = (thread, before) => {
        const own = groupsOf(thread), shown = before === undefined ? [] : groupsOf(before);
        const headings = own.map((group, depth) => ({thread: null, depth, ...group.level.label(thread), members: group.members})).filter((_, depth) => own[depth] !== shown[depth]);
        return [...headings, {thread, depth: own.length}];
    };
    return {threads, hidden: all.length - threads.length, rows: threads.flatMap((thread, i) => rowsOf(thread, threads[i - 1]))};
}
