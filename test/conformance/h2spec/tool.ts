import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const MODULE = 'github.com/summerwind/h2spec/cmd/h2spec@latest'

/** @returns the path of h2spec; it is built first where it is missing. Throws with what is needed for that. */
export function findTool(): string {
  if (spawnSync('h2spec', ['--version']).error === undefined) return 'h2spec'
  const folder = join(tmpdir(), 'gatewright-h2spec')
  const built = join(folder, 'bin', 'h2spec')
  if (existsSync(built)) return built
  if (spawnSync('go', ['version']).error !== undefined) {
    throw new Error('h2spec is not here, and neither is Go, which builds it: install one of them (Debian: golang-go)')
  }
  mkdirSync(folder, { recursive: true })
  console.error(`building ${MODULE} in ${folder}`)
  const environment = { ...process.env, GOPATH: folder, GOBIN: join(folder, 'bin'), GOFLAGS: '-modcacherw' }
  const { status } = spawnSync('go', ['install', MODULE], { env: environment, stdio: ['ignore', 'inherit', 'inherit'] })
  if (status !== 0) throw new Error('h2spec could not be built; Go needs a module proxy for it')
  return built
}
