// SPDX-License-Identifier: Apache-2.0
// How long the calls of a function took: histogram, percentiles, the calls of a range of durations.
import {lowerBound, threadsOf} from './weights.js';

export const BUCKETS_PER_DOUBLING = 8;

// Bucket b holds durations from boundary(b) up to, not including, boundary(b + 1).
export const bucketBoundary = (bucket) => Math.pow(2, bucket / BUCKETS_PER_DOUBLING);

export function bucketOf(duration) {
    const bucket = Math.floor(Math.log2(Math.max(duration, 1)) * BUCKETS_PER_DOUBLING);
    if (duration >= bucketBoundary(bucket + 1)) return bucket + 1;
    return bucket > 0 && duration < bucketBoundary(bucket) ? bucket - 1 : bucket;
}

// Calls of `func` under the selection of time and threads.
export function callsOfFunction(data, selection, func) {
    const calls = data.calls, found = [];
    for (const t of threadsOf(data, selection)) {
        let from = calls.ranges[t], to = calls.ranges[t + 1];
        if (selection.time) {
            from = lowerBound(calls.start, from, to, selection.time[0]);
            to = lowerBound(calls.start, from, to, selection.time[1]);
        }
        for (let i = from; i < to; i++)
            if (calls.func[i] === func) found.push(i);
    }
    return found;
}

// The smallest value that at least the share p of all are not above; `sorted` ascends.
export function percentileOf(sorted, p) {
    if (!sorted.length) return NaN;
    return sorted[Math.max(0, Math.ceil(p * sorted.length) - 1)];
}

export const PERCENTILES = [['p50', 0.5], ['p90', 0.9], ['p95', 0.95], ['p99', 0.99], ['p99.9', 0.999], ['max', 1]];

// Counts by bucket from the first used one to the last, and what tables show.
export function distributionOf(data, found) {
    const durations = Float64Array.from(found, (i) => data.calls.duration[i]).sort();
    const self = found.reduce((sum, i) => sum + Math.max(data.calls.self[i], 0), 0);
    const first = durations.length ? bucketOf(durations[0]) : 0;
    const last = durations.length ? bucketOf(durations[durations.length - 1]) : -1;
    const counts = new Uint32Array(last - first + 1);
    for (const d of durations) counts[bucketOf(d) - first]++;
    return {count: found.length, first, counts, durations, self, sum: durations.reduce((sum, d) => sum + d, 0)};
}

// Marks calls of `func` that took at least `low` and less than `high` ns.
export function selectCalls(data, selection, {func, low, high}) {
    const selected = new Uint8Array(data.calls.depth.length);
    let count = 0;
    for (const i of callsOfFunction(data, selection, func)) {
        if (data.calls.duration[i] < low || data.calls.duration[i] >= high) continue;
        selected[i] = 1;
        count++;
    }
    return {selected, count};
}

// The slowest calls, longest first; equal ones by time.
export function slowestCalls(data, found, most) {
    const {duration, start} = data.calls;
    return found.slice().sort((a, b) => duration[b] - duration[a] || start[a] - start[b]).slice(0, most);
}

export const threadOfCall = (data, call) => {
    let thread = 0;
    while (data.calls.ranges[thread + 1] <= call) thread++;
    return thread;
};

// One row for each traced function: what `perfray latency` prints.
export function latencyRows(data, selection) {
    const byFunc = new Map();
    for (const t of threadsOf(data, selection))
        for (let i = data.calls.ranges[t]; i < data.calls.ranges[t + 1]; i++) {
            if (selection.time && (data.calls.start[i] < selection.time[0] || data.calls.start[i] >= selection.time[1])) continue;
            const list = byFunc.get(data.calls.func[i]);
            if (list) list.push(i);
            else byFunc.set(data.calls.func[i], [i]);
        }
    return [...byFunc].map(([func, found]) => ({func, ...distributionOf(data, found)})).sort((a, b) => b.sum - a.sum);
}
