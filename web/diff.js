// SPDX-License-Identifier: Apache-2.0
// Two recordings side by side: A is the baseline, B the newer one. Both are in one tree; a node has a weight in each.

export const WIDTHS = ['both', 'new', 'baseline'];
const CHANGE_STEPS = [0.05, 0.5, 2]; // points of the total of B: where the colours of a change begin
const NOISE = 3; // standard deviations below which a change is not told from chance

export const stepsOfChange = CHANGE_STEPS;

// The event of the baseline that is the same as an event of B: by name, else the first.
export function baselineEvent(events, event) {
    const found = events.findIndex((other) => other.baseline && other.name === events[event].name);
    return found >= 0 ? found : events.findIndex((other) => other.baseline);
}

// {k, a, b, countsA, countsB, totalA, totalB}: weights of A are multiplied by k. Shares are compared unless `absolute`.
export function compareTotals(a, b, countsA, countsB, absolute) {
    const scale = (x, y) => absolute || !x ? 1 : y / x;
    return {a, b, countsA, countsB, totalA: a[0], totalB: b[0], k: scale(a[0], b[0]), kCounts: scale(countsA[0], countsB[0])};
}

// What each node is as wide as; sums of children never exceed their parent.
export function widthsOf({a, b, k}, mode) {
    const widths = new Float64Array(a.length);
    for (let i = 0; i < widths.length; i++) widths[i] = mode === 'new' ? b[i] : mode === 'baseline' ? a[i] : k * a[i] + b[i];
    return widths;
}

// {points, z, isNoise, isNew, isGone, step} of one pair of weights and numbers of samples. `step` is -3 to 3.
export function changeOf(a, b, countA, countB, of) {
    const points = of.totalB > 0 ? 100 * (b - of.k * a) / of.totalB : 0, {kCounts} = of;
    const spread = Math.sqrt(countB + kCounts * kCounts * countA), z = spread > 0 ? (countB - kCounts * countA) / spread : 0;
    const isNoise = Math.abs(z) < NOISE, size = CHANGE_STEPS.filter((least) => Math.abs(points) >= least).length;
    return {points, z, isNoise, isNew: a === 0 && b > 0, isGone: b === 0 && a > 0, step: isNoise ? 0 : Math.sign(points) * size};
}

// -3 to 3: how far the ratio of two weights is from the ratio of all.
export function stepOfRatio(ratio, all) {
    const doublings = ratio > 0 && all > 0 ? Math.log2(ratio / all) : 0;
    return Math.sign(doublings) * [0.1, 0.5, 1].filter((least) => Math.abs(doublings) >= least).length;
}

// "▲ +1.24 pp": a sign and a glyph, so that nothing depends on colour.
export function changeText({points, isNew, isGone}) {
    const number = `${points >= 0 ? '▲ +' : '▼ −'}${Math.abs(points).toFixed(2)} pp`;
    return isNew ? `new ${number}` : isGone ? `gone ${number}` : number;
}
