// SPDX-License-Identifier: Apache-2.0
// Compares two recordings: A is the baseline, B the newer one. Both have the same tree; each node has a weight in both.

export const WIDTHS = ['both', 'new', 'baseline'];
const CHANGE_STEPS = [0.05, 0.5, 2]; // percentage points of B's total at which the colour of a change gets stronger

export const stepsOfChange = CHANGE_STEPS;

// The event of the baseline that corresponds to an event of B: the event with the same name, else the first event.
export function baselineEvent(events, event) {
    const found = events.findIndex((other) => other.baseline && other.name === events[event].name);
    return found >= 0 ? found : events.findIndex((other) => other.baseline);
}

// {k, a, b, countsA, countsB, totalA, totalB}: weights of A are multiplied by k. Shares are compared unless `absolute`.
export function compareTotals(a, b, countsA, countsB, absolute) {
    return {a, b, countsA, countsB, totalA: a[0], totalB: b[0], k: absolute || !a[0] ? 1 : b[0] / a[0]};
}

// The width of each node; the sum over children never exceeds the parent.
export function widthsOf({a, b, k}, mode) {
    const widths = new Float64Array(a.length);
    for (let i = 0; i < widths.length; i++) widths[i] = mode === 'new' ? b[i] : mode === 'baseline' ? a[i] : k * a[i] + b[i];
    return widths;
}

// {points, known, isNoise, isNew, isGone, step} for a pair of weights. `known` is the result of perfray diff for the
// function. It is null for a part of the recordings, and for a frame created by a step. `step` is from -3 to 3; it is 0
// for noise.
export function changeOf(a, b, of, known) {
    const points = of.totalB > 0 ? 100 * (b - of.k * a) / of.totalB : 0, isNoise = known !== null && known.verdict === 'noise';
    const size = CHANGE_STEPS.filter((least) => Math.abs(points) >= least).length;
    return {points, known, isNoise, isNew: a === 0 && b > 0, isGone: b === 0 && a > 0, step: isNoise ? 0 : Math.sign(points) * size};
}

// Orders changes as perfray diff does: those with a verdict by size, then noise.
export function byChange(x, y) {
    return x.change.isNoise - y.change.isNoise || Math.abs(y.change.points) - Math.abs(x.change.points) || x.func - y.func;
}

const pointsText = (points) => `${points >= 0 ? '+' : '−'}${Math.abs(points).toFixed(2)}`;

// "[+1.02, +1.46]"; '' if the interval is unknown.
export function intervalText(known) {
    return known && known.known ? `[${pointsText(known.low)}, ${pointsText(known.high)}]` : '';
}

// From -3 to 3: how far the ratio of two weights is from the ratio of the whole.
export function stepOfRatio(ratio, all) {
    const doublings = ratio > 0 && all > 0 ? Math.log2(ratio / all) : 0;
    return Math.sign(doublings) * [0.1, 0.5, 1].filter((least) => Math.abs(doublings) >= least).length;
}

// "▲ +1.24 pp": a glyph and a sign, so that no information depends on colour.
export function changeText({points, isNew, isGone}) {
    const number = `${points >= 0 ? '▲ +' : '▼ −'}${Math.abs(points).toFixed(2)} pp`;
    return isNew ? `new ${number}` : isGone ? `gone ${number}` : number;
}
