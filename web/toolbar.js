// SPDX-License-Identifier: Apache-2.0
// Tabs, chips of the selection, and search.
import {el, fill} from './dom.js';
import {countOf, formatRange, formatShare, formatTime, shortName} from './format.js';
import {PANELS} from './state.js';
import {commandThreads} from './thread_rows.js';
import {STEPS} from './transforms.js';

export class Toolbar {
    constructor(app) {
        this.app = app;
        this.tabs = PANELS.map(({name, title}) => el('button', {role: 'tab', class: 'tab', 'data-panel': name, text: title, onclick: () => app.showPanel(name, {stays: true})}));
        this.tablist = el('div', {role: 'tablist', class: 'tabs', 'aria-label': 'Views', onkeydown: (event) => this.tabKey(event)}, ...this.tabs);
        this.chips = el('div', {class: 'chips', role: 'group', 'aria-label': 'Selection'});
        this.field = el('input', {type: 'search', class: 'search', placeholder: 'Search  /', 'aria-label': 'Search functions', 'aria-describedby': 'found',
                                  oninput: () => app.change({query: this.field.value}, {replace: true}), onkeydown: (event) => this.searchKey(event)});
        this.found = el('output', {id: 'found', class: 'found', 'aria-live': 'polite'});
        this.options = el('div', {class: 'options', role: 'group', 'aria-label': 'Options'});
        this.element = el('nav', {class: 'toolbar', 'aria-label': 'Tools'}, this.tablist, el('div', {class: 'searching', role: 'search'}, this.field, this.found), this.chips, this.options);
    }
    tabKey(event) {
        const at = this.tabs.indexOf(document.activeElement), by = {ArrowRight: 1, ArrowLeft: -1}[event.key];
        if (!by || at < 0) return;
        const next = this.tabs[(at + by + this.tabs.length) % this.tabs.length];
        next.focus();
        this.app.showPanel(next.dataset.panel, {stays: true});
        event.preventDefault();
        event.stopPropagation();
    }
    render() {
        const {state} = this.app;
        for (const tab of this.tabs) {
            tab.hidden = !this.app.offers(tab.dataset.panel);
            const chosen = tab.dataset.panel === state.panel;
            tab.setAttribute('aria-selected', String(chosen));
            tab.setAttribute('tabindex', chosen ? '0' : '-1');
            if (chosen) this.tablist.scrollLeft = tab.offsetLeft - this.tablist.offsetLeft - this.tablist.clientWidth / 2; // tabs may not fit
        }
        const chips = this.selectionOf(state).map(([text, change]) => this.chip(text, change));
        const button = this.commandButton(state);
        fill(this.chips, ...(chips.length ? chips : [el('span', {class: 'dim', text: 'the whole recording'})]), button);
        this.chips.classList.toggle('none', !chips.length && !button);
        this.chips.scrollLeft = this.chips.scrollWidth; // the newest one is last
        fill(this.options, ...this.optionsOf(state));
        if (this.field.value !== state.query) this.field.value = state.query;
        this.renderFound();
    }
    // A recording of the whole machine is mostly of other threads than those of the recorded command.
    commandButton({threads}) {
        const own = threads ? null : commandThreads(this.app.data);
        return own && own.size ? el('button', {class: 'option', text: 'only the recorded command', onclick: () => this.app.change({threads: own})}) : null;
    }
    threadsText(threads) {
        const own = commandThreads(this.app.data);
        if (threads.size === 1) return this.app.threadName([...threads][0]);
        return threads.size === own.size && [...threads].every((t) => own.has(t)) ? `recorded command: ${threads.size} threads` : `${threads.size} threads`;
    }
    chip(text, change) {
        return el('span', {class: 'chip', title: text}, el('span', {text}), el('button', {'aria-label': `Remove ${text}`, text: '✕', onclick: () => this.app.change(change)}));
    }
    // The parts of the selection: [text, the change of the state that removes it].
    selectionOf(state) {
        const parts = [], {begin} = this.app.extent;
        if (state.time) parts.push([formatRange(state.time[0] - begin, state.time[1] - begin), {time: null, visible: null}]);
        if (state.threads) parts.push([this.threadsText(state.threads), {threads: null}]);
        if (state.calls) parts.push([this.callsText(state), {calls: null}]);
        state.steps.forEach((step, i) => parts.push([this.stepText(step), {steps: state.steps.filter((_, at) => at !== i), zoom: null, node: null}]));
        return parts;
    }
    callsText({calls}) {
        const {count} = this.app.view().calls, high = calls.high === Infinity ? '' : ` to ${formatTime(calls.high)}`;
        return `${shortName(this.app.functions.nameOf(calls.func), 24)}: ${countOf(count, 'call')} ${high ? '' : '≥ '}${formatTime(calls.low)}${high}`;
    }
    stepText(step) {
        const {name, needs} = STEPS[step.key];
        if (needs === 'text') return `${name}: ${step.text}`;
        if (needs === 'func') return `${name}: ${shortName(this.app.functions.nameOf(step.id), 24)}`;
        return needs === 'object' ? `${name}: ${this.app.functions.objectName(step.id)}` : name;
    }
    option(text, title, change) {
        return el('button', {class: 'option', text, title, onclick: () => this.app.change(change)});
    }
    optionsOf(state) {
        const events = this.app.data.meta.events.filter((event) => !event.baseline), options = [], isShown = (event, i) => this.app.offersEvent(event) || i === state.event;
        if (events.filter(isShown).length > 1) options.push(el('select', {'aria-label': 'Event', onchange: (event) => this.app.change({event: Number(event.target.value), zoom: null})},
            ...events.map((event, i) => isShown(event, i) ? el('option', {value: i, selected: i === state.event, text: event.name}) : null)));
        options.push(this.option(state.measure === 'count' ? 'counts' : 'weights', 'count samples or add up their weights (u)', {measure: state.measure === 'count' ? 'weight' : 'count'}));
        if (state.panel === 'flame') {
            options.push(this.option(state.inverted ? 'bottom-up' : 'top-down', 'callers on top, or functions and their callers (v)', {inverted: !state.inverted, zoom: null}));
            options.push(this.option(`by ${state.order}`, 'order of siblings: weight, name or time (l)', {order: this.app.nextOrder()}));
        }
        options.push(this.option(`colour: ${state.colour}`, 'colour by kind, object or name (o)', {colour: this.app.nextColour()}));
        options.push(el('button', {class: 'option', text: 'export', title: `save what this view shows as ${state.panel === 'flame' ? 'SVG' : 'TSV'} (x)`, onclick: () => this.app.exportView()}));
        return options;
    }
    renderFound() {
        const search = this.app.search(), view = this.app.view();
        this.field.classList.toggle('wrong', Boolean(search && search.error));
        this.found.textContent = !search ? '' : search.error || `${countOf(search.functions, 'function')} · ${countOf(search.nodes.length, 'frame')} · ${formatShare(search.weight, view.total[0])}`;
        this.found.title = this.found.textContent;
    }
    searchKey(event) {
        const text = this.field.value;
        if (event.key === 'Enter' && (event.ctrlKey || event.altKey) && text) this.app.addStep({key: event.ctrlKey ? '+' : '-', text});
        else if (event.key === 'Enter') this.app.nextMatch(event.shiftKey ? -1 : 1);
        else if (event.key === 'Escape') {
            if (text) this.app.change({query: ''}, {replace: true}); // as typing
            this.app.focusView();
        } else return;
        event.preventDefault();
        event.stopPropagation();
    }
    focusSearch() {
        this.field.focus();
        this.field.select();
    }
}
