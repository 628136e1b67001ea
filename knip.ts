import type { KnipConfig } from 'knip'

const config: KnipConfig = {
  entry: [
    'src/main.ts',
    'src/workers/proxy-worker.ts',
    'src/workers/passwords/password-thread.ts',
    'src/workers/token-counts/counting-thread.ts',
    'bin/gatewright',
    'bin/main.js',
    'examples/**/*.ts',
    'test/**/*.ts',
    'bench/**/*.ts',
    'fuzz/**/*.ts',
    'build/kubernetes-messages.ts',
  ],
  project: ['src/**/*.ts', 'build/**/*.{mjs,ts}', 'examples/**/*.ts', 'test/**/*.ts', 'bench/**/*.ts', 'fuzz/**/*.ts'],
  // Types are what functions take and give; that one of them has no reader yet is no fault.
  exclude: ['types'],
  // Tools of the machine: the benchmark pins processes, a test makes a pipe, another a terminal, h2spec is built with Go, a recorder of writes with a C compiler, and
  // an image has the libraries that a program is linked with, and a gateway tells systemd when it is ready.
  ignoreBinaries: ['setpriv', 'mkfifo', 'script', 'unshare', 'h2spec', 'go', 'cc', 'ldd', 'systemd-notify'],
}

export default config
