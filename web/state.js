// SPDX-License-Identifier: Apache-2.0
// The selection, its history, and its text form in the page's address (the part after #).

// In the order of tabs and number keys. App has a view for each, and knows whether the recording has its data. `wide`: without the
// details of the selected function at its side. `missing`: the message if the recording has no such data.
export const PANELS = [
    {name: 'flame', title: 'Flame graph'},
    {name: 'sandwich', title: 'Callers & callees'},
    {name: 'table', title: 'Table'},
    {name: 'latency', title: 'Latency', wide: true},
    {name: 'diff', title: 'Diff', missing: 'This page has no diff: write it with perfray view --diff BASE.'},
    {name: 'code', title: 'Code', missing: 'This page has no code: write it with perfray view --code.'},
    {name: 'waits', title: 'Waits', wide: true, missing: 'This recording does not say when threads waited: record with perfray record --off-cpu.'},
];
export const ORDERS = ['weight', 'name', 'time'];
const HASH_VERSION = '1';
const HASH_MOST = 4096;

// Everything that determines what the page shows. Views are functions of this state. `visible` is the range of time in the
// timeline (null: the whole recording); it is not part of the address.
export function initialState() {
    return {panel: 'flame', event: 0, measure: 'weight', time: null, visible: null, threads: null, calls: null, steps: [], func: null,
            node: null, zoom: null, query: '', colour: 'kind', order: 'weight', inverted: false, width: 'both'};
}

// The threads to select when one is chosen: only this one; with `adds`, it is added or removed. Choosing the only selected thread
// again selects all (null).
export function threadsAfter(before, thread, adds) {
    const threads = new Set(adds ? before || [] : []);
    if (adds && threads.has(thread)) threads.delete(thread);
    else if (adds || !(before && before.size === 1 && before.has(thread))) threads.add(thread);
    return threads.size ? threads : null;
}

// Four hex digits that tell whether the function at an index still has the same name.
export function nameCheck(name) {
    let hash = 0x811c;
    for (let i = 0; i < name.length; i++) hash = Math.imul(hash ^ name.charCodeAt(i), 0x0193) & 0xffff;
    return hash.toString(16).padStart(4, '0');
}

const seconds = (ns) => (ns / 1e9).toFixed(9);

function stepText(step, nameOf) {
    if (step.text !== undefined) return step.key + encodeURIComponent(step.text);
    if (step.id === undefined) return step.key;
    return step.key + step.id + (nameOf && 'fSmdcrR'.includes(step.key) ? '.' + nameCheck(nameOf(step.id)) : '');
}

// The hash contains only the members that differ from the initial state.
export function hashOfState(state, nameOf) {
    const items = [HASH_VERSION], put = (key, value) => items.push(`${key}=${value}`);
    if (state.panel !== 'flame') put('p', state.panel);
    if (state.event) put('ev', state.event);
    if (state.measure !== 'weight') put('m', state.measure);
    if (state.time) put('t', `${seconds(state.time[0])}-${seconds(state.time[1])}`);
    if (state.threads) put('th', [...state.threads].sort((a, b) => a - b).join(','));
    if (state.calls) put('c', `${state.calls.func}.${nameCheck(nameOf(state.calls.func))}:${state.calls.low}-${state.calls.high}`);
    if (state.steps.length) put('x', state.steps.map((step) => stepText(step, nameOf)).join(','));
    if (state.func !== null) put('f', `${state.func}.${nameCheck(nameOf(state.func))}`);
    if (state.zoom !== null) put('z', state.zoom);
    if (state.query) put('q', encodeURIComponent(state.query));
    if (state.colour !== 'kind') put('o', state.colour);
    if (state.order !== 'weight') put('s', state.order);
    if (state.inverted) put('v', 1);
    if (state.width !== 'both') put('w', state.width);
    return '#' + items.join('&');
}

// Finds a function by its index and the check of its name; undefined if the index now has another name.
function checkedFunction(text, facts) {
    const [id, check] = text.split('.');
    const func = Number(id);
    if (!Number.isInteger(func) || func < 0 || func >= facts.funcCount) return undefined;
    return check === undefined || nameCheck(facts.nameOf(func)) === check ? func : undefined;
}

function parseStep(text, facts) {
    const key = text[0], rest = text.slice(1);
    if (key === '+' || key === '-') return {key, text: decodeURIComponent(rest)};
    if (key === 'k' || key === 'i') return {key};
    if ('fSmdcrR'.includes(key)) {
        const func = checkedFunction(rest, facts);
        return func === undefined ? null : {key, id: func};
    }
    return 'FMC'.includes(key) && /^\d+$/.test(rest) ? {key, id: Number(rest)} : null;
}

function parseTime(text) {
    const [from, to] = text.split('-').map((part) => Math.round(Number(part) * 1e9));
    return from < to ? [from, to] : null;
}

function parseCalls(text, facts) {
    const match = /^([\d.a-f]+):([\d.]+)-([\d.]+|Infinity)$/.exec(text);
    const func = match ? checkedFunction(match[1], facts) : undefined;
    return func === undefined ? null : {func, low: Number(match[2]), high: Number(match[3])};
}

// How each item of a hash changes a state; false: the item has no meaning for this recording.
const ITEMS = {
    p: (state, value) => PANELS.some(({name}) => name === value) && Boolean(state.panel = value),
    ev: (state, value, facts) => Number(value) < facts.eventCount && (state.event = Number(value)) >= 0,
    m: (state, value) => value === 'count' && Boolean(state.measure = value),
    t: (state, value) => Boolean(state.time = parseTime(value)),
    th: (state, value, facts) => {
        const ids = value.split(',').filter((id) => /^\d+$/.test(id)).map(Number).filter((id) => id < facts.threadCount);
        return ids.length > 0 && Boolean(state.threads = new Set(ids));
    },
    c: (state, value, facts) => Boolean(state.calls = parseCalls(value, facts)),
    x: (state, value, facts) => {
        const steps = value.split(',').map((text) => parseStep(text, facts));
        state.steps = steps.filter((step) => step !== null);
        return state.steps.length === steps.length;
    },
    f: (state, value, facts) => {
        const func = checkedFunction(value, facts);
        state.func = func === undefined ? null : func;
        return func !== undefined;
    },
    z: (state, value) => /^\d+$/.test(value) && (state.zoom = Number(value)) >= 0,
    q: (state, value) => Boolean(state.query = decodeURIComponent(value)),
    o: (state, value) => ['object', 'name', 'ratio'].includes(value) && Boolean(state.colour = value),
    s: (state, value) => ORDERS.includes(value) && Boolean(state.order = value),
    v: (state) => (state.inverted = true),
    w: (state, value) => ['new', 'baseline'].includes(value) && Boolean(state.width = value),
};

// {state, ignored}: items without a meaning for this recording are ignored and listed.
export function stateOfHash(hash, facts) {
    const state = initialState(), ignored = [];
    const items = hash.slice(1, HASH_MOST).split('&');
    if (items[0] !== HASH_VERSION) return {state, ignored: items[0] ? [hash.slice(1, 40)] : []};
    for (const item of items.slice(1)) {
        const [key, value] = [item.slice(0, item.indexOf('=')), item.slice(item.indexOf('=') + 1)];
        let understood = false;
        try {
            understood = Boolean(ITEMS[key] && ITEMS[key](state, value, facts));
        } catch (error) {
            understood = false; // a percent sign without a valid byte after it
        }
        if (!understood) ignored.push(item);
    }
    return {state, ignored};
}

// Past states, and undone states.
export class History {
    constructor(state) {
        this.past = [];
        this.present = state;
        this.future = [];
    }
    push(state) {
        this.past.push(this.present);
        this.present = state;
        this.future = [];
    }
    undo() {
        if (!this.past.length) return false;
        this.future.push(this.present);
        this.present = this.past.pop();
        return true;
    }
    redo() {
        if (!this.future.length) return false;
        this.past.push(this.present);
        this.present = this.future.pop();
        return true;
    }
}
