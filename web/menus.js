// SPDX-License-Identifier: Apache-2.0
// The context menu of a function, and the list of all keys.
import {el, fill} from './dom.js';
import {PANELS} from './state.js';
import {STEPS} from './transforms.js';

export const KEYS = [
    [PANELS.map((panel, i) => i + 1).join(' '), PANELS.map(({title}) => title.toLowerCase()).join(', ')], ['h H', 'in the code: next, previous hot instruction'], ['b', 'in the code of a diff: the other recording'], ['arrows', 'move the selection'], ['Enter', 'zoom to the selected frame, open a function'],
    ['+ − 0', 'zoom in, out, reset; 0 also shows the whole recording in the timeline'], ['w s a d', 'in the timeline: zoom in, out, move left, right; Enter selects what is in view'], ['m M', 'in the timeline: next, previous event or loss'],
    ['/ or Ctrl+F', 'search: text, /regular expression/, obj:, file:'], ['n N', 'next, previous match'], ['Ctrl+Enter, Alt+Enter', 'in search: keep, hide stacks that match'],
    ['v', 'invert: callers below'], ['w', 'in the diff: width by both, new, baseline'], ['l', 'order of siblings: weight, name, time'], ['o', 'colour by kind, object, name, ratio of two events'], ['u', 'weights or counts'], ['e', 'next event'],
    ['[ ]', 'previous, next thread'], ['Enter, Ctrl+Enter', 'in the list of threads: choose one, add or remove one'], ['Backspace, Ctrl+Z', 'undo'], ['Ctrl+Shift+Z', 'redo'], ['.', 'menu of the selected function'], ['x', 'export the view as SVG or TSV'],
    ['y Y', 'copy the name, the stack'], ['t', 'theme: system, light, dark'], ['\\', 'details on and off'], ['Esc', 'close, clear the search, zoom out, clear the selection'], ['?', 'this list'],
    ...Object.entries(STEPS).filter(([key]) => /[a-zA-Z]/.test(key)).map(([key, step]) => [key, step.name.toLowerCase()]),
];

export class Menus {
    constructor(app) {
        this.app = app;
        this.menu = el('div', {class: 'menu', role: 'menu', 'aria-label': 'Change stacks', hidden: true});
        this.help = el('dialog', {class: 'help', 'aria-label': 'Keys'});
        this.loss = el('dialog', {class: 'help', 'aria-label': 'Quality of the recording'});
        document.body.append(this.menu, this.help, this.loss);
        document.addEventListener('pointerdown', (event) => { if (!this.menu.contains(event.target)) this.close(); });
        this.menu.addEventListener('keydown', (event) => this.key(event));
        this.help.addEventListener('close', () => this.app.focusView());
    }
    item(key, step) {
        return el('button', {role: 'menuitem', tabindex: '-1', onclick: () => { this.close(); this.app.applyStep(key); }},
                  el('span', {text: step.name}), el('kbd', {text: key}));
    }
    open(x, y) {
        const offered = Object.entries(STEPS).filter(([key, step]) => /[a-zA-Z]/.test(key) && this.app.canApply(key, step));
        fill(this.menu, ...offered.map(([key, step]) => this.item(key, step)));
        this.menu.hidden = false;
        this.menu.style.left = `${Math.max(0, Math.min(x, window.innerWidth - this.menu.offsetWidth - 4))}px`;
        this.menu.style.top = `${Math.max(0, Math.min(y, window.innerHeight - this.menu.offsetHeight - 4))}px`;
        if (this.menu.firstChild) this.menu.firstChild.focus();
    }
    close() {
        if (this.menu.hidden) return false;
        this.menu.hidden = true;
        this.app.focusView();
        return true;
    }
    key(event) {
        const items = [...this.menu.children], at = items.indexOf(document.activeElement);
        if (event.key === 'ArrowDown') items[(at + 1) % items.length].focus();
        else if (event.key === 'ArrowUp') items[(at + items.length - 1) % items.length].focus();
        else if (event.key === 'Escape') this.close();
        else if (STEPS[event.key] && this.app.canApply(event.key, STEPS[event.key])) {
            this.close();
            this.app.applyStep(event.key);
        } else return;
        event.preventDefault();
        event.stopPropagation();
    }
    showHelp() {
        const rows = el('dl', {class: 'keys'});
        const show = (text) => fill(rows, ...KEYS.filter(([key, what]) => `${key} ${what}`.toLowerCase().includes(text.toLowerCase()))
            .flatMap(([key, what]) => [el('dt', {}, el('kbd', {text: key})), el('dd', {text: what})]));
        show('');
        const field = el('input', {type: 'search', 'aria-label': 'Search keys', placeholder: 'search keys', oninput: (event) => show(event.target.value)});
        fill(this.help, el('h2', {text: 'Keys'}), field, rows, el('p', {class: 'dim', text: this.app.fileFacts()}), el('form', {method: 'dialog'}, el('button', {text: 'Close'})));
        this.help.showModal();
    }
    showLosses(lines) {
        fill(this.loss, el('h2', {text: 'Quality of the recording'}), el('ul', {}, ...lines.map((text) => el('li', {text}))),
             el('form', {method: 'dialog'}, el('button', {text: 'Close'})));
        this.loss.showModal();
    }
}
