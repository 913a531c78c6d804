// SPDX-License-Identifier: Apache-2.0
// The code of a function: its instructions with their samples, and above them the source lines that
// they were compiled from. The document contains only the rows in view. Counts are those of the
// whole recording, not of the selection, because the samples in the page have no addresses. If two
// recordings are compared, the listing is that of one side; lines have the shares of both sides,
// and instructions too if both sides are the same build of an object file.
import {CodeSums} from './code_sums.js';
import {el, fill, onceAFrame} from './dom.js';
import {formatShare, formatWeight, shortName, shortPath, visibleText} from './format.js';

const CODE_ROW = 20;
const CODE_SPARE = 12;
const INSN_JUMP = 1, INSN_CALL = 2, INSN_RETURN = 3;
const HEAT_STEPS = [0.001, 0.01, 0.05, 0.2];

const indentOf = (text) => text.replace(/\t/g, '    ');

export class CodeView {
    constructor(app) {
        this.app = app;
        this.choice = el('select', {'aria-label': 'Function', onchange: () => this.chooseFunc(Number(this.choice.value))});
        this.note = el('span', {class: 'dim'});
        this.next = el('button', {class: 'option', text: 'next hot ↓', title: 'go to the next of the hottest instructions (h)', onclick: () => this.goToHot(1)});
        this.sideButton = el('button', {class: 'option', title: 'show the code of the other recording (b)', onclick: () => this.showSide(1 - this.side)});
        this.side = 0;
        this.head = el('div', {class: 'codehead'}, this.choice, this.sideButton, this.next, this.note);
        this.body = el('tbody');
        this.table = el('table', {'aria-label': 'Instructions'}, this.body);
        this.lines = el('div', {class: 'codelines', tabindex: '0', role: 'group', 'aria-label': 'Code'}, this.table);
        this.element = el('div', {class: 'code', role: 'tabpanel', 'aria-label': 'Code'}, this.head, this.lines);
        this.fillRows = onceAFrame(() => this.showRows());
        this.lines.addEventListener('scroll', this.fillRows);
        this.lines.addEventListener('keydown', (event) => this.key(event));
    }
    // The listing of the selected function; if no function is selected, the last shown listing, or the hottest
    // function's.
    listingOf(func) {
        const {code} = this.app.data, find = (side) => code.funcs.findIndex((listing) => listing.func === func && listing.side === side);
        if (func !== null) return find(this.side) >= 0 ? find(this.side) : find(1 - this.side);
        return this.shown ?? Math.max(0, code.funcs.findIndex((listing) => listing.side === this.side));
    }
    showSide(side) {
        const {code} = this.app.data, func = this.shown === undefined ? this.app.state.func : code.funcs[this.shown].func;
        const at = code.funcs.findIndex((listing) => listing.func === func && listing.side === side);
        if (at >= 0) this.choose(at);
    }
    // Shows the code of a function, on the current side if the function has code there.
    chooseFunc(func) {
        this.choose(this.listingOf(func));
    }
    choose(at) {
        this.shown = at;
        this.app.select(this.app.data.code.funcs[at].func, null);
    }
    render() {
        const {func, event, measure} = this.app.state, {code} = this.app.data;
        let at = this.listingOf(func);
        if (at >= 0 && this.shown !== undefined && code.funcs[this.shown].func === code.funcs[at].func) at = this.shown; // keep the shown listing if the function has several
        if (at >= 0) this.side = code.funcs[at].side;
        const key = `${at} ${event} ${measure} ${func}`;
        this.renderChoice(at);
        this.renderSide(at);
        if (key !== this.key_) {
            this.key_ = key;
            this.shown = at >= 0 ? at : this.shown;
            this.rows = at >= 0 ? this.rowsOf(at) : [];
            this.renderNote(at);
            this.lines.scrollTop = 0;
            this.hot = -1;
            if (this.hottest && this.hottest.length) this.goToHot(1);
        }
        this.showRows();
    }
    renderChoice(at) {
        const {code} = this.app.data;
        if (!this.choice.options.length)
            fill(this.choice, ...[...new Set(code.funcs.map((listing) => listing.func))].map((func) => el('option', {value: func, text: shortName(this.app.functions.nameOf(func), 60)})));
        this.choice.value = at >= 0 ? String(code.funcs[at].func) : '';
    }
    renderSide(at) {
        const {code} = this.app.data, listing = code.funcs[at];
        this.sideButton.hidden = !listing || !this.app.hasBaseline();
        this.sideButton.textContent = this.side ? 'side: baseline' : 'side: new';
        this.sideButton.disabled = !listing || !code.funcs.some((other) => other.func === listing.func && other.side !== listing.side);
    }
    renderNote(at) {
        const {code} = this.app.data, listing = code.funcs[at];
        if (!listing) {
            this.note.textContent = this.app.state.func === null ? '' : `The page has no code of ${shortName(this.app.functions.nameOf(this.app.state.func), 60)}: it has no samples of its own, or did not fit.`;
            return;
        }
        const why = listing.why ? `Only addresses with samples: ${visibleText(this.app.data.strings.get(listing.why))}. ` : '';
        if (this.sums) {
            this.note.textContent = `${why}${this.sums.explain(listing)}${this.sourceNote(listing)}`;
            return;
        }
        this.note.textContent = `${why}${formatWeight(this.sum, this.app.unit())} in the whole recording, not only the selection.${this.sourceNote(listing)}`;
    }
    // A sentence about the origin of the source lines. The file at the recorded path may have
    // changed since the baseline was built, unless both sides are one build.
    sourceNote({side, matched, from, end}) {
        const {code} = this.app.data, {file, line} = code.insns;
        if (side && matched !== 'build')
            for (let i = from; i < end; i++)
                if (code.mayDiffer(side, `${file[i]}:${line[i]}`)) return ' Source lines are those now at the recorded path, which may not be the version of the baseline.';
        if (code.hasSources[side]) return '';
        return this.app.data.meta.sources ? ' No source file was found at its recorded path.' : ' Source lines: perfray view --sources.';
    }
    // Rows: headings of source lines, and instructions with their counts.
    rowsOf(at) {
        const {code} = this.app.data, listing = code.funcs[at], {event, measure} = this.app.state, rows = [], counts = new Map();
        let line = '';
        this.sums = this.app.hasBaseline() ? new CodeSums(this.app, listing) : null;
        this.sum = 0;
        for (let i = code.firstHit(listing.from); i < code.hits.row.length && code.hits.row[i] < listing.end; i++)
            if (code.hits.event[i] === (this.sums ? this.sums.events[listing.side] : event)) {
                const count = measure === 'count' ? code.hits.samples[i] : code.hits.weight[i];
                counts.set(code.hits.row[i], count);
                this.sum += count;
            }
        for (let i = listing.from; i < listing.end; i++) {
            const here = `${code.insns.file[i]}:${code.insns.line[i]}`;
            if (here !== line && code.insns.file[i]) rows.push({source: here, text: code.sourceOf(listing.side, here), file: code.fileName(code.insns.file[i]), line: code.insns.line[i], inlined: code.insns.kind[i] & 1});
            line = here;
            rows.push({insn: i, count: counts.get(i) || 0});
        }
        this.rowOfInsn = new Map(rows.map((row, r) => [row.insn, r]));
        this.loops = new Set();
        for (let i = listing.from; i < listing.end; i++)
            if (code.insns.target[i] && listing.from + code.insns.target[i] - 1 <= i) this.loops.add(listing.from + code.insns.target[i] - 1);
        this.from = listing.from;
        this.hottest = rows.map((row, r) => r).filter((r) => rows[r].count > 0).sort((a, b) => rows[b].count - rows[a].count || a - b).slice(0, 20);
        return rows;
    }
    showRows() {
        if (!this.rows) return;
        const room = Math.max(this.lines.clientHeight, 300), from = Math.max(0, Math.floor(this.lines.scrollTop / CODE_ROW) - CODE_SPARE);
        const to = Math.min(this.rows.length, from + Math.ceil(room / CODE_ROW) + 2 * CODE_SPARE);
        fill(this.body, this.sums ? this.headRow() : null, this.spacer(from), ...this.rows.slice(from, to).map((row, i) => row.insn === undefined ? this.sourceRow(row) : this.insnRow(row, from + i)), this.spacer(this.rows.length - to));
    }
    spacer(rows) {
        if (rows <= 0) return null;
        const spacer = el('tr', {class: 'spacer', 'aria-hidden': 'true'}, el('td', {colspan: 5}));
        spacer.style.height = `${rows * CODE_ROW}px`;
        return spacer;
    }
    headRow() {
        return el('tr', {class: 'sides'}, el('th', {scope: 'col', class: 'number', text: 'baseline'}), el('th', {scope: 'col', class: 'number', text: 'new'}), el('th', {colspan: 3}));
    }
    sourceRow(row) {
        const text = row.text === null ? `${shortPath(visibleText(row.file), 60)}:${row.line}` : visibleText(indentOf(row.text));
        return el('tr', {class: row.text === null ? 'source place' : 'source', title: `${visibleText(row.file)}:${row.line}${row.inlined ? ', inlined' : ''}`},
                  ...(this.sums ? this.shareCells(this.sums.ofPlace(row.source)) : [el('td', {class: 'number', text: ''}), el('td', {class: 'number', text: row.line})]),
                  el('td', {text: row.inlined ? '~' : ''}), ...(this.sums ? [el('td', {class: 'address number', text: row.line}), el('td', {text})] : [el('td', {colspan: 2, text})]));
    }
    // The shares of both sides. The cell of a side without a value is empty; both cells are empty if neither side has
    // samples.
    shareCells(pair) {
        const isEmpty = pair.every((count) => !count);
        return pair.map((count, i) => el('td', {class: 'number', 'data-count': count ?? '', title: count === null ? '' : formatWeight(count, this.app.unit()), text: count === null || isEmpty ? '' : formatShare(count, this.sums.totals[i])}));
    }
    insnRow(row, at) {
        const {code, strings} = this.app.data, i = row.insn, kind = code.insns.kind[i] >> 1, share = this.sum ? row.count / this.sum : 0, target = code.insns.target[i];
        const heat = HEAT_STEPS.filter((step) => share >= step).length, text = visibleText(strings.get(code.insns.text[i]));
        const name = el('td', {class: `insn ${['', 'jump', 'call', 'return', 'bad'][kind] || ''}`});
        if (target) name.append(el('button', {class: 'link', title: 'go to the target', text, onclick: () => this.goTo(this.from + target - 1)}));
        else name.append(text);
        return el('tr', {class: `heat${heat}${at === this.chosen ? ' chosen' : ''}`, 'data-row': at, 'data-count': row.count},
                  ...(this.sums ? this.shareCells(this.sums.ofInsn(i, row.count)) : [el('td', {class: 'number', text: row.count ? formatShare(row.count, this.sum) : ''}), el('td', {class: 'number share', text: row.count ? formatWeight(row.count, this.app.unit()) : ''})]),
                  el('td', {class: 'flow', text: this.flowOf(i, kind, target), title: this.loops.has(i) ? 'first instruction of a loop' : ''}), el('td', {class: 'address', text: code.addressOf(i)}), name);
    }
    flowOf(i, kind, target) {
        const mark = this.loops.has(i) ? '↻' : '';
        if (kind === INSN_JUMP && target) return mark + (this.from + target - 1 <= i ? '↑' : '↓');
        return mark + (kind === INSN_CALL ? '→' : kind === INSN_RETURN ? '←' : kind === INSN_JUMP ? '↗' : '');
    }
    goToRow(row) {
        this.chosen = row;
        this.showRows(); // gives the table its height, without which it cannot be scrolled
        this.lines.scrollTop = Math.max(0, row * CODE_ROW - this.lines.clientHeight / 3);
        this.showRows();
    }
    goTo(insn) {
        const row = this.rowOfInsn.get(insn);
        if (row !== undefined) this.goToRow(row);
    }
    goToHot(by) {
        if (!this.hottest || !this.hottest.length) return;
        this.hot = (this.hot + by + this.hottest.length) % this.hottest.length;
        this.goToRow(this.hottest[this.hot]);
    }
    key(event) {
        const room = Math.max(1, Math.floor(this.lines.clientHeight / CODE_ROW) - 1), moves = {ArrowDown: 1, ArrowUp: -1, PageDown: room, PageUp: -room};
        if (event.ctrlKey || event.metaKey || event.altKey) return;
        if (event.key in moves) this.lines.scrollTop += moves[event.key] * CODE_ROW;
        else if (event.key === 'Home') this.lines.scrollTop = 0;
        else if (event.key === 'End') this.lines.scrollTop = this.rows.length * CODE_ROW;
        else if (event.key === 'h' || event.key === 'H') this.goToHot(event.key === 'h' ? 1 : -1);
        else if (event.key === 'b' && this.sums) this.showSide(1 - this.side);
        else return;
        event.preventDefault();
        event.stopPropagation();
    }
    // The lines as tab-separated values.
    tsv() {
        const {code, strings} = this.app.data, clean = (text) => text.replace(/[\t\n]/g, ' ');
        if (this.sums)
            return ['baseline\tnew\taddress\ttext', ...this.rows.map((row) => row.insn === undefined ? [...this.sums.ofPlace(row.source), `${clean(row.file)}:${row.line}`, clean(row.text || '')]
                : [...this.sums.ofInsn(row.insn, row.count), code.addressOf(row.insn), clean(strings.get(code.insns.text[row.insn]))]).map((cells) => Array.isArray(cells) ? cells.map((cell) => cell ?? '').join('\t') : cells)].join('\n') + '\n';
        return ['count\taddress\ttext', ...this.rows.map((row) => row.insn === undefined ? `\t${clean(row.file)}:${row.line}\t${clean(row.text || '')}`
            : `${row.count}\t${code.addressOf(row.insn)}\t${clean(strings.get(code.insns.text[row.insn]))}`)].join('\n') + '\n';
    }
    facts() {
        return {functions: this.app.data.code.funcs.length, rows: this.rows ? this.rows.length : 0, sum: this.sum, hottest: this.hottest && this.hottest.length ? this.rows[this.hottest[0]].count : 0,
                side: this.side, lines: this.sums ? this.sums.facts() : null, sources: this.rows ? this.rows.filter((row) => row.source && row.text !== null).length : 0};
    }
}
