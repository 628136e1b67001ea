import { bundle } from './bundle.mjs'

// `npm ci` runs this. Without the development dependencies there is no bundler, and the gateway runs from its source.
try {
  await bundle(
    {
      main: 'src/main.ts',
      'proxy-worker': 'src/workers/proxy-worker.ts',
      'password-thread': 'src/workers/passwords/password-thread.ts',
      'counting-thread': 'src/workers/token-counts/counting-thread.ts',
    },
    'dist',
  )
} catch (error) {
  if (!(error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND')) throw error
  console.log(
    'gatewright: not bundled, because the development dependencies are missing; it starts more slowly from its source',
  )
}
