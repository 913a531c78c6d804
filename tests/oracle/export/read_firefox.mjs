// SPDX-License-Identifier: Apache-2.0
// read_firefox.mjs NODE_MODULES FILE FOLDER - loads a profile into profiler-cli (the front end of the Firefox Profiler) and prints
// {error, samples, markers} as JSON. A first load may say that its daemon was not ready in time: it is tried again.
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { readFileSync } from 'node:fs';

const [modules, file, folder] = process.argv.slice(2);
const home = path.join(path.resolve(modules), '@firefox-devtools', 'profiler-cli');
const bin = JSON.parse(readFileSync(path.join(home, 'package.json'), 'utf8')).bin;
const tool = path.join(home, typeof bin === 'string' ? bin : Object.values(bin)[0]);
const env = { ...process.env, PROFILER_CLI_SESSION_DIR: path.join(folder, 'session') };
const run = (...words) => spawnSync(process.execPath, [tool, ...words], { env, encoding: 'utf8', timeout: 60000 });

let loaded;
for (let round = 0; round < 3; round++) {
  loaded = run('load', file);
  if (loaded.status === 0) break;
}
const said = loaded.status === 0 ? null : (loaded.stderr + loaded.stdout).slice(-300);
let samples = null;
if (!said) {
  const info = run('profile', 'info', '--json');
  samples = info.stdout;
}
run('stop', '--all');
let total = null;
try {
  const found = JSON.parse(samples);
  total = found;
} catch { /* the text is shown */ }
console.log(JSON.stringify({ error: said, samples: total ?? samples }));
