// SPDX-License-Identifier: Apache-2.0
// The costs of a function's lines and instructions in two recordings. Lines of the baseline are
// paired with newer lines when the page is written, as in perfray annotate --diff. Instructions are
// paired only if both sides are the same build of an object file.
import {baselineEvent} from './diff.js';
import {formatShare} from './format.js';
import {initialState} from './state.js';

const NEWER = 0, BASELINE = 1;
const HOW = {build: 'both sides are the same build', text: 'lines are paired by their text', number: 'lines are paired by number, because only one version of some source files was found'};

export class CodeSums {
    constructor(app, listing) {
        const {data, state} = app, base = baselineEvent(data.meta.events, state.event);
        this.code = data.code;
        this.listing = listing;
        this.isCount = state.measure === 'count';
        this.events = [state.event, base];
        // In the order of the columns: baseline, new.
        this.totals = [base, state.event].map((event) => app.derivations.of({...initialState(), event, measure: state.measure}).total[0]);
        this.places = [new Map(), new Map()];
        this.addresses = [new Map(), new Map()];
        this.sums = [0, 0];
        this.hasLines = [false, false]; // by side
        for (const other of this.code.funcs) if (other.func === listing.func) this.add(other);
        this.isPaired = [NEWER, BASELINE].every((side) => this.code.funcs.some((other) => other.func === listing.func && other.side === side));
    }
    add(listing) {
        const {hits, insns} = this.code, places = this.places[listing.side], addresses = this.addresses[listing.side];
        for (let row = listing.from; row < listing.end; row++) this.hasLines[listing.side] ||= insns.file[row] > 0;
        const put = (map, key, count) => map.set(key, (map.get(key) || 0) + count);
        for (let i = this.code.firstHit(listing.from); i < hits.row.length && hits.row[i] < listing.end; i++) {
            if (hits.event[i] !== this.events[listing.side]) continue;
            const row = hits.row[i], count = this.isCount ? hits.samples[i] : hits.weight[i], place = `${insns.file[row]}:${insns.line[row]}`;
            put(places, listing.side === BASELINE ? this.code.newerPlace(listing.func, place) ?? `gone ${place}` : place, count);
            put(addresses, this.code.addressOf(row), count);
            this.sums[listing.side] += count;
        }
    }
    // [baseline, new] of a line of the shown listing; null: the line is not in that version, or the side's lines are not
    // known.
    ofPlace(place) {
        const {func, side} = this.listing, newer = side === BASELINE ? this.code.newerPlace(func, place) : place;
        const of = (at, key) => this.hasLines[at] ? this.places[at].get(key) || 0 : null;
        return newer === null ? [of(BASELINE, `gone ${place}`), null] : [of(BASELINE, newer), of(NEWER, newer)];
    }
    // [baseline, new] of an instruction; null: unknown, because instructions of the other side
    // cannot be paired.
    ofInsn(insn, count) {
        const {side, sameAddresses} = this.listing, other = sameAddresses ? this.addresses[1 - side].get(this.code.addressOf(insn)) || 0 : null;
        return side === NEWER ? [other, count] : [count, other];
    }
    explain({matched, sameAddresses, side}) {
        const shares = [BASELINE, NEWER].filter((at) => this.isPaired || at === side).map((at) => `${at === BASELINE ? 'baseline' : 'new'} ${formatShare(this.sums[at], this.totals[at === BASELINE ? 0 : 1])}`).join(', ');
        const other = side === NEWER ? 'baseline' : 'new recording';
        const pairing = !this.isPaired ? `the page has no code of this function in the ${other}: it has no samples there under this name, or did not fit.` : !this.hasLines[1 - side] && this.hasLines[side] ? `the lines of the ${other} are not known, because its code or its debugging information was not found.`
            : `${HOW[matched] || 'Lines are not known'}${sameAddresses ? '' : '; instructions are those of the shown side, because instructions of different builds cannot be compared'}.`;
        return `Shares of all samples of each recording: ${shares}. At a line, all its instructions in the function count. ${pairing[0].toUpperCase()}${pairing.slice(1)}`;
    }
    facts() {
        return {totals: this.totals, sums: [this.sums[BASELINE], this.sums[NEWER]], places: this.places.map((map) => map.size), matched: this.listing.matched, sameAddresses: this.listing.sameAddresses};
    }
}
