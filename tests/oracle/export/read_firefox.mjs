// SPDX-License-Identifier: Apache-2.0
// read_firefox.mjs NODE_MODULES FILE FOLDER - loads a profile into profiler-cli (the front end of the Firefox Profiler) and prints
// {error, samples of the first thread, threads} as JSON. A load may say that its daemon is not ready yet: then it is asked again.
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { readFileSync } from 'node:fs';

const [modules, file, folder] = process.argv.slice(2);
const home = path.join(path.resolve(modules), '@firefox-devtools', 'profiler-cli');
const bin = JSON.parse(readFileSync(path.join(home, 'package.json'), 'utf8')).bin;
const tool = path.join(home, typeof bin === 'string' ? bin : Object.values(bin)[0]);
const env = { ...process.env, PROFILER_CLI_SESSION_DIR: path.join(folder, 'session') };
const run = (...words) => spawnSync(process.execPath, [tool, ...words], { env, encoding: 'utf8', timeout: 60000 });

const pause = (ms) => new Promise((done) => setTimeout(done, ms));

const loaded = run('load', file);
let found = null;
for (let round = 0; round < 20 && !found; round++) {
  const asked = run('thread', 'functions', '--json');
  if (asked.status === 0) found = JSON.parse(asked.stdout);
  else await pause(500);
}
const infoText = found ? run('profile', 'info', '--json').stdout : '';
const info = infoText ? JSON.parse(infoText) : null; // it says nothing of a profile without samples
run('stop', '--all');
console.log(JSON.stringify({
  error: found ? null : (loaded.stderr + loaded.stdout).slice(-300),
  samples: found ? found.functions.reduce((sum, row) => sum + row.selfSamples, 0) : null,
  threads: info?.threadCount ?? (found ? 1 : 0),
}));
