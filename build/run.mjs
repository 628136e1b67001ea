import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { bundle } from './bundle.mjs'
import { billOfMaterials, thirdPartyNotices } from './third-party.mjs'

// `npm ci` and `npm pack` run this. The bundler is a development dependency.
try {
  const packages = await bundle(
    {
      main: 'src/main.ts',
      'proxy-worker': 'src/workers/proxy-worker.ts',
      'password-thread': 'src/workers/passwords/password-thread.ts',
      'counting-thread': 'src/workers/token-counts/counting-thread.ts',
      quickstart: 'examples/start.ts',
    },
    'dist',
  )
  const write = (/** @type {string} */ name, /** @type {string} */ text) =>
    writeFileSync(join(import.meta.dirname, '..', 'dist', name), text)
  write('third-party-notices.txt', thirdPartyNotices(packages))
  write('sbom.cdx.json', billOfMaterials(packages))
} catch (error) {
  if (!(error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND')) throw error
  console.error('gatewright: a checkout needs its development dependencies; run `npm ci` without --omit=dev')
  process.exitCode = 1
}
